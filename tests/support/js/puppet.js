// A port with no worker behind it: a test reads what was sent, and answers when and as it likes. What comes before
// what is then decided by the test and not by how fast a machine is.
import { packageJson } from './files.js';

const key = 'qkv/worker';

export class PuppetPort extends EventTarget {
  /** What was sent and is not answered yet, without the first word of each call: { id, method, args, ... }. */
  asked = [];
  /** All that was sent, in its order. */
  sent = [];
  /** What was to be moved along with each of those. */
  moved = [];

  postMessage(message, transfer = []) {
    this.sent.push(message);
    this.moved.push(transfer);
    if ('id' in message) this.asked.push(message);
  }

  /** A message as if from the worker. */
  say(data) {
    this.dispatchEvent(new MessageEvent('message', { data }));
  }

  /** Answers the call that was sent first, of those without an answer. */
  answer(result = { value: null }) {
    const { id, [key]: session } = this.asked.shift();
    this.say({ [key]: session, id, lengths: [], ...result });
  }

  /** Answers init(). */
  ready() {
    this.answer({ ready: { info: { version: packageJson.version }, lock: false } });
  }

  /** The methods that were called, in the order in which they were sent. */
  get methods() {
    return this.sent.map(({ method }) => method).filter(Boolean);
  }
}

/** A time limit for init(), after which a test that has failed ends: a puppet answers at once or never. */
export const soon = 10_000;

/** Resolves when all that follows from what has happened has happened. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** An engine in as many workers, none of which does anything by itself: { engine, ports }. */
export async function puppetEngine(init, count, options = {}) {
  const ports = Array.from({ length: count }, () => new PuppetPort());
  const loading = init({ worker: ports, timeout: soon, ...options });
  await settled();
  for (const port of ports) port.ready();
  return { engine: await loading, ports };
}
