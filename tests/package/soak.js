// npm run test:soak [minutes]: engines, threads, workers, models (talked to, patched, fine-tuned) and trainers are made, used and
// given back, over and over, in Node and in Chromium side by side; a line a minute, and at the end whether anything grew.
import { readdirSync } from 'node:fs';
import { init } from 'qkv';
import { launch, page } from '../support/js/chromium.js';
import { collect } from '../support/js/collect.js';
import { serveBuilt } from '../support/js/pages.js';
import { pause } from '../support/js/patience.js';
import { cycle } from '../support/js/soak-cycle.js';
import { chatFiles } from './models/support/chat-model.js';

const minutes = Number(process.argv[2] ?? 30);
if (!(minutes > 0)) throw new Error(`minutes is ${process.argv[2]}, expected a number above 0`);
/** Between two lines; short runs have more of them. */
const interval = Math.min(60_000, (minutes * 60_000) / 6);

/** A model that can be talked to, for both hosts. */
const engine = await init();
const talker = chatFiles(engine);
engine.dispose();

async function nodeHost() {
  const packages = {
    init,
    chatFiles: talker,
    initTrain: (await import('qkv/train')).init,
    initWorkers: (await import('qkv/worker')).init,
    load: (await import('qkv/models')).load,
  };
  return {
    name: 'Node',
    // Node keeps 0.3 to 0.5 kB for every worker that has ended, empty ones too; a cycle ends 1.4 of them.
    heapPerCycle: 700,
    cycle: (i) => cycle(packages, i),
    async measure() {
      // Workers and what a collection frees are gone some time later.
      for (let i = 0; i < 3; ++i) {
        collect();
        await pause(100);
      }
      const { heapUsed, external, rss } = process.memoryUsage();
      return { heap: heapUsed, external, rss, workers: readdirSync('/proc/self/task').length };
    },
    close: () => undefined,
  };
}

const script = `
  import { init } from '/dist/index.js';
  import { load } from '/dist/models.js';
  import { init as initTrain } from '/dist/train.js';
  import { init as initWorkers } from '/dist/worker.js';
  import { cycle } from '/support/soak-cycle.js';
  const { weights, ...files } = await (await fetch('/talker.json')).json();
  const chatFiles = { ...files, weights: new Uint8Array(weights) };
  globalThis.cycle = (i) => cycle({ init, initTrain, initWorkers, load, chatFiles }, i);
`;

async function chromiumHost() {
  const body = JSON.stringify({ ...talker, weights: [...talker.weights] });
  const routes = {
    ...page('/soak', script, { isolated: true }),
    '/talker.json': { headers: { 'content-type': 'application/json' }, body },
  };
  const server = await serveBuilt(routes);
  const browser = await launch();
  const tab = await browser.newPage();
  await tab.goto(`${server.url}/soak`);
  await tab.waitForFunction(() => 'cycle' in globalThis);
  const devtools = await tab.context().newCDPSession(tab);
  return {
    name: `Chromium ${browser.version()}`,
    heapPerCycle: 0,
    cycle: (i) => tab.evaluate((of) => globalThis.cycle(of), i),
    async measure() {
      for (let i = 0; i < 3; ++i) {
        await devtools.send('HeapProfiler.collectGarbage');
        await pause(100);
      }
      const { usedSize, backingStorageSize = 0 } = await devtools.send('Runtime.getHeapUsage');
      return { heap: usedSize, external: backingStorageSize, workers: tab.workers().length };
    },
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

const megabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
const lineOf = ({ name, cycles, calls, wasm, heap, external, rss, workers }) =>
  `${name}: ${cycles} cycles, ${calls} calls, WebAssembly at most ${megabytes(wasm)}, JavaScript ${megabytes(heap)}, ` +
  `buffers ${megabytes(external)}, ${rss === undefined ? '' : `resident ${megabytes(rss)}, `}` +
  `${workers} threads or workers`;

/** What must not grow, and by how much it breathes. */
const limits = { heap: 2e6, external: 4e6, rss: 60e6, workers: 2, wasm: 0 };

/** From the line after which all code has run, and been optimised, to the last. */
function verdictOf(lines, { heapPerCycle }) {
  const [first, last] = [lines[Math.floor(lines.length / 3)], lines.at(-1)];
  return Object.entries(limits).flatMap(([name, breath]) => {
    const grown = (last[name] ?? 0) - (first[name] ?? 0);
    const allowed = breath + (name === 'heap' ? heapPerCycle * (last.cycles - first.cycles) : 0);
    return grown > allowed ? [`${last.name}: ${name} grew by ${grown} of ${allowed}`] : [];
  });
}

/** All lines of a host; what a cycle finds wrong is thrown. */
async function soak(host, until) {
  const lines = [];
  let [cycles, calls, wasm] = [0, 0, 0];
  let next = Date.now() + interval;
  while (Date.now() < until || lines.length < 2) {
    const did = await host.cycle(cycles);
    cycles += 1;
    calls += did.calls;
    wasm = Math.max(wasm, did.heapBytes);
    if (Date.now() < next) continue;
    next = Date.now() + interval;
    lines.push({ name: host.name, cycles, calls, wasm, ...(await host.measure()) });
    console.log(lineOf(lines.at(-1)));
  }
  return verdictOf(lines, host);
}

const until = Date.now() + minutes * 60_000;
const hosts = await Promise.all([nodeHost(), chromiumHost()]);
/** What is wrong with a host; what is thrown is printed at once, as the other host goes on. */
async function problemsOf(host) {
  try {
    return await soak(host, until);
  } catch (error) {
    const text = `${host.name}: ${String(error?.stack ?? error)}`;
    console.log(text);
    return [text];
  }
}

const problems = (await Promise.all(hosts.map(problemsOf))).flat();
for (const host of hosts) await host.close();
console.log(problems.length === 0 ? 'nothing grew' : problems.join('\n'));
process.exit(problems.length === 0 ? 0 : 1);
