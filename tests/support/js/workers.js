// Workers for tests of qkv/worker.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import { init as load } from 'qkv';
import { init, serve } from 'qkv/worker';
import { randomArray } from './arrays.js';
import { root } from './files.js';

const nodeWorkers = process.getBuiltinModule('node:worker_threads');

export const distUrl = (name) => pathToFileURL(join(root, 'dist', name));

/** The workers that `work` starts, which nobody else gets to see. */
export async function workersOf(work) {
  const made = [];
  nodeWorkers.Worker = class extends Worker {
    constructor(...args) {
      super(...args);
      made.push(this);
    }
  };
  try {
    return { made, value: await work() };
  } finally {
    nodeWorkers.Worker = Worker;
  }
}

/** A worker that runs this program, an ES module; dist/ is at `dist`. */
export function workerOf(program, options = {}) {
  const text = program.replaceAll(/from '(\w[\w-]*\.js)'/g, (_, name) => `from '${distUrl(name)}'`);
  const url = new URL(`data:text/javascript,${encodeURIComponent(text)}`);
  return new Worker(url, { execArgv: [], ...options });
}

/** A worker that serves engines and says so. */
export const servingWorker = () =>
  workerOf(`
    import { parentPort } from 'node:worker_threads';
    import { init } from 'index.js';
    import { serve } from 'worker.js';
    serve(parentPort, init);
  `);

/**
 * An engine behind a port of this very thread, where a test can look at what is sent. Resolves to { engine,
 * sent, close }; a message is { message, transfer }.
 */
export async function overPort(options = {}, loadHere = load) {
  const { port1, port2 } = new MessageChannel();
  const sent = [];
  const { postMessage } = port2;
  port2.postMessage = (message, transfer) => {
    sent.push({ message, transfer });
    postMessage.call(port2, message, transfer);
  };
  serve(port1, loadHere);
  const engine = await init({ worker: port2, ...options });
  sent.length = 0;
  const close = async () => {
    await engine.dispose();
    port1.close();
  };
  return { engine, sent, close, port1, port2 };
}

/** Arguments of an attention that takes about a tenth of a second or more. */
export function longProblem(tokens = 1500) {
  const [q, k, v] = [1, 2, 3].map((seed) => randomArray([1, 4, tokens, 64], seed));
  return { q, k, v };
}
