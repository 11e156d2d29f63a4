// npm run bench -- --gate: whether a kernel is slower than in the last release. In Node, on one thread, in about a minute.
//
// The kernels of the release are WebAssembly modules in results/gate, which `npm run bench -- --keep` wrote when it was made: the
// same code on every machine, timed in turns with the kernels of today. So no number of another machine is needed, and a slow
// phase slows both. A kernel fails that is slower than 0.9 of the release in three repeats.
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { root } from '../tools/environment.js';
import { elementwise, formats, loadKernels } from './kernels.js';
import { compare } from './measure.js';
import { random } from './random.js';
import { pairedRatio } from './ratios.js';
import { milliseconds, textTable } from './report.js';

export const LIMIT = 0.9;
export const REPEATS = 3;
const effort = { rounds: 9, sample: 12 };

export const variants = ['simd', 'relaxed'];
const built = (variant) => join(root, `build/wasm/bench/bench_${variant}.wasm`);
const kept = (variant) => join(root, `bench/results/gate/kernels-${variant}.wasm`);

const product = (format, m) => ({
  name: `product ${format} ${m}x768x2048`,
  make: (core) =>
    core.product({ format, m, k: 768, n: 2048 }, random(1, m * 768), random(2, 768 * 2048)),
});

const attention = (name, { heads, rows, keys, width }) => ({
  name,
  make(core) {
    const q = random(1, heads * rows * width);
    const [k, v] = [2, 3].map((seed) => random(seed, heads * keys * width));
    return core.attention({ heads, rows, keys, width }, q, k, v);
  },
});

const ofElements = (name) => ({
  name: `${name} 512x512`,
  make: (core) => core.elementwise({ name, rows: 512, width: 512 }, random(1, 512 * 512)),
});

/** What is timed: { name, make(kernels) }, one row, a few and a prompt of each format, attention and what else a layer does. */
export const gateCases = [
  ...formats.flatMap((format) => [1, 8, 128].map((m) => product(format, m))),
  attention('attention H4 T256 d64', { heads: 4, rows: 256, keys: 256, width: 64 }),
  attention('attention H4 T256 d16', { heads: 4, rows: 256, keys: 256, width: 16 }),
  attention('decode H12 past 1023 d64', { heads: 12, rows: 1, keys: 1024, width: 64 }),
  ...elementwise.map(ofElements),
];

/**
 * Repeats `measure()`, which resolves to the ratio of a kernel's speed to that of the release, until one is not below the limit:
 * { ratios, slow }. What other work on the machine does to one repeat it seldom does to all.
 */
export async function judge(measure, { limit = LIMIT, repeats = REPEATS } = {}) {
  const ratios = [];
  while (ratios.length < repeats) {
    ratios.push(await measure());
    if (ratios.at(-1) >= limit) return { ratios, slow: false };
  }
  return { ratios, slow: true };
}

/** The kernel of a module; undefined where a release has none of that format or operator. */
function made(core, { make }) {
  try {
    return make(core);
  } catch {
    return undefined;
  }
}

/** One kernel of both modules: a row of the table, and whether it is slow. */
async function kernelRow(variant, entry, { now, then }) {
  const [own, old] = [now, then].map((core) => made(core, entry));
  if (!own) throw new Error(`${variant}, ${entry.name}: does not run`);
  if (!old) return { row: [entry.name, variant, '', 'not in the release', ''], slow: false };
  let last;
  const { ratios, slow } = await judge(async () => {
    const { now: mine, then: theirs } = await compare({ now: own.run, then: old.run }, effort);
    last = { mine, about: pairedRatio(mine.rounds, theirs.rounds) };
    return last.about.ratio;
  });
  const { mine, about } = last;
  const range = about.interval.map((x) => x.toFixed(2)).join('-');
  const said = ratios.map((x) => x.toFixed(2)).join(' ');
  return { row: [entry.name, variant, milliseconds(mine.median), said, range], slow };
}

async function moduleOf(path) {
  if (!existsSync(path)) throw new Error(`there is no ${path}`);
  return loadKernels(readFileSync(path));
}

/** Times all kernels: { text, slow }, with the names of those that fail. */
export async function gate(filter = '') {
  setFlagsFromString('--experimental-wasm-relaxed-simd'); // Node 20 has it behind a flag
  const rows = [];
  const slow = [];
  for (const variant of variants) {
    const cores = { now: await moduleOf(built(variant)), then: await moduleOf(kept(variant)) };
    for (const entry of gateCases.filter(({ name }) => name.includes(filter))) {
      const found = await kernelRow(variant, entry, cores);
      rows.push(found.row);
      if (found.slow) slow.push(`${variant}, ${entry.name}`);
    }
  }
  const head = ['kernel', 'variant', 'ms', 'speed / release', '95 %'];
  return { text: textTable(head, rows), slow };
}

/** Makes the kernels that were built those of the last release. */
export function keep() {
  for (const variant of variants) {
    mkdirSync(join(kept(variant), '..'), { recursive: true });
    copyFileSync(built(variant), kept(variant));
  }
}
