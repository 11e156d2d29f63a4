// Ten thousand mixed calls in Node and in Chromium, and what the memory looks like every hundred of them.
import { init } from 'qkv';
import { launch, page } from './chromium.js';
import { collect } from './collect.js';
import { mixedCalls } from './mixed-calls.js';
import { serveBuilt } from './pages.js';

const calls = 10_000;
const every = 100;

/**
 * Makes the calls up to `to`, and says how things are before and after all that is held is given back.
 * Also runs in pages, as text: it uses nothing but its arguments.
 */
function advance({ engine, mix }, { from, to }) {
  for (let i = from; i < to; ++i) mix.call(i);
  const holding = engine.memory();
  mix.release();
  return { calls: to, holding, ...engine.memory() };
}

/** The steps of a run: first the calls that are the largest, then a hundred at a time. */
function steps(first, last) {
  const ends = [first];
  for (let to = every; to <= last; to += every) if (to > first) ends.push(to);
  return ends.map((to, i) => ({ from: ends[i - 1] ?? 0, to }));
}

/**
 * { host, variant, used, samples } of a run in this process. Nothing waits in between, so that the net under
 * forgotten handles, which is cast between tasks, hides no leak. `change` may spoil the engine.
 */
export async function inNode({ last = calls, options = {}, change = (engine) => engine } = {}) {
  const engine = change(await init(options));
  const mix = mixedCalls(engine);
  const samples = steps(mix.first, last).map((step) => {
    const sample = advance({ engine, mix }, step);
    collect();
    return { ...sample, jsBytes: process.memoryUsage().heapUsed };
  });
  const { variant } = engine.info;
  engine.dispose();
  return { host: `Node ${process.versions.node}`, variant, used: [...mix.used].sort(), samples };
}

/** The same in a page. `change` is the text of a function. */
export async function inChromium({ last = calls, change = '(engine) => engine' } = {}) {
  const script = `
    import { init } from '/dist/index.js';
    import { mixedCalls } from '/support/mixed-calls.js';
    const engine = (${change})(await init());
    const mix = mixedCalls(engine);
    globalThis.run = { engine, mix };
    globalThis.advance = ${advance};
    report(null);
  `;
  const routes = page('/memory', script);
  const server = await serveBuilt(routes);
  const browser = await launch();
  try {
    const tab = await browser.newPage();
    await tab.goto(`${server.url}/memory`);
    await tab.waitForFunction(() => 'run' in globalThis);
    const devtools = await tab.context().newCDPSession(tab);
    const first = await tab.evaluate(() => globalThis.run.mix.first);
    const samples = [];
    for (const step of steps(first, last)) {
      const sample = await tab.evaluate((s) => globalThis.advance(globalThis.run, s), step);
      await devtools.send('HeapProfiler.collectGarbage');
      const { usedSize } = await devtools.send('Runtime.getHeapUsage');
      samples.push({ ...sample, jsBytes: usedSize });
    }
    const about = await tab.evaluate(() => [
      globalThis.run.engine.info.variant,
      [...globalThis.run.mix.used].sort(),
    ]);
    const [variant, used] = about;
    return { host: `Chromium ${browser.version()}`, variant, used, samples };
  } finally {
    await browser.close();
    await server.close();
  }
}

/** The JavaScript heap is measured after a collection, and still breathes by this much. */
const breath = 1_000_000;

/** What grew that should not have, in sentences. The first sample is after the largest calls. */
export function leaksOf(samples) {
  const [start, ...rest] = samples;
  const problems = [];
  for (const name of ['heapBytes', 'usedBytes', 'handles']) {
    const other = rest.find((sample) => sample[name] !== start[name]);
    if (other) {
      problems.push(
        `${name} was ${start[name]} after the largest calls and ${other[name]} after ${other.calls}`,
      );
    }
  }
  if (start.handles !== 0) problems.push(`${start.handles} handles are left`);
  // Code is still being compiled in the first tenth.
  const settled = rest.slice(Math.ceil(rest.length / 10));
  const grown = settled.at(-1).jsBytes - settled[0].jsBytes;
  if (grown > breath) problems.push(`the JavaScript heap grew by ${grown} bytes`);
  return problems;
}
