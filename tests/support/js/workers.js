// Workers for tests of qkv/worker.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker } from 'node:worker_threads';
import { init as load } from 'qkv';
import { init, serve } from 'qkv/worker';
import { randomArray } from './arrays.js';
import { root } from './files.js';
import { newGate } from './gate.js';
import { PATIENCE } from './patience.js';

const nodeWorkers = process.getBuiltinModule('node:worker_threads');

export const distUrl = (name) => pathToFileURL(join(root, 'dist', name));

/** While `work` runs, `change(worker class)` is what the package makes workers with. */
async function withWorkers(change, work) {
  nodeWorkers.Worker = change(Worker);
  try {
    return await work();
  } finally {
    nodeWorkers.Worker = Worker;
  }
}

/** The workers that `work` starts, which nobody else gets to see. */
export async function workersOf(work) {
  const made = [];
  const noting = (Base) =>
    class extends Base {
      constructor(...args) {
        super(...args);
        made.push(this);
      }
    };
  return { made, value: await withWorkers(noting, work) };
}

/** Each its own engine: those with the same options share one. */
let times = 0;

/**
 * init(options) with workers that do what the package's own script does, but whose attention() waits at a gate:
 * { engine, made, gate }.
 */
export async function initBehindGate(options = {}) {
  const gate = newGate();
  const made = [];
  const gated = (Base) =>
    class extends Base {
      constructor() {
        super(programUrl(gatedProgram), { execArgv: [], workerData: gate.shared });
        made.push(this);
      }
    };
  const timeout = PATIENCE.wait + ++times;
  const engine = await withWorkers(gated, () => init({ timeout, ...options }));
  return { engine, made, gate };
}

const gatedProgram = `
  import { parentPort, workerData } from 'node:worker_threads';
  import { behindGate } from '${new URL('gate.js', import.meta.url)}';
  import { init } from 'index.js';
  import { serve } from 'worker.js';
  serve(parentPort, async (options) => behindGate(await init(options), workerData));
`;

/** A program, an ES module, as an address; what it imports from 'name.js' is from dist/. */
function programUrl(program) {
  const text = program.replaceAll(/from '(\w[\w-]*\.js)'/g, (_, name) => `from '${distUrl(name)}'`);
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

/** A worker that runs this program. */
export const workerOf = (program, options = {}) =>
  new Worker(programUrl(program), { execArgv: [], ...options });

/** A worker that serves engines. */
export const servingWorker = () =>
  workerOf(`
    import { parentPort } from 'node:worker_threads';
    import { init } from 'index.js';
    import { serve } from 'worker.js';
    serve(parentPort, init);
  `);

/** The same, whose attention() waits at a gate. */
export const gatedWorker = (gate) => workerOf(gatedProgram, { workerData: gate.shared });

/**
 * An engine behind a port of this very thread, where a test can look at what is sent. Resolves to { engine,
 * sent, close }; a message is { message, transfer }.
 */
export async function overPort(options = {}, loadHere = load, models = undefined) {
  const { port1, port2 } = new MessageChannel();
  const sent = [];
  const { postMessage } = port2;
  port2.postMessage = (message, transfer) => {
    sent.push({ message, transfer });
    postMessage.call(port2, message, transfer);
  };
  serve(port1, loadHere, models);
  const engine = await init({ worker: port2, ...options });
  sent.length = 0;
  const close = async () => {
    await engine.dispose();
    port1.close();
  };
  return { engine, sent, close, port1, port2 };
}

/** Arguments of an attention that takes a while, for calls that wait behind it. */
export function longProblem(tokens = 300) {
  const [q, k, v] = [1, 2, 3].map((seed) => randomArray([1, 4, tokens, 64], seed));
  return { q, k, v };
}
