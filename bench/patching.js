// node bench/patching.js [--hosts=browser,node,native,torch] [--formats=Q8_0,F32] [--threads=1,2] [--rounds=3]: activation patching of the
// 110M shape of bench/models over all layers and tokens of a prompt of 16, in turns with plain passes over such a prompt. It takes the package
// and qkv_bench_model as built.
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../tools/environment.js';
import { openSite } from './hosts.js';
import { writeModel } from './models/file.js';
import { TOKENS } from './models/patching.js';
import { nativeSeat, pageSeat, processSeat, torchSeat } from './models/seats.js';
import { shapes } from './models/shapes.js';
import { summarize } from './measure.js';

const SHAPE = '110M';
/** Plain passes in a turn: enough for a median. */
const PASSES = 16;
const patches = shapes[SHAPE].layers * TOKENS;

const text = (value) => ({ type: 'string', default: value });
const { values } = parseArgs({
  options: {
    ...{ hosts: text('browser,node,native,torch'), formats: text('Q8_0,F32') },
    ...{ threads: text('1,2'), rounds: text('3') },
  },
});
const list = (name) => values[name].split(',');

const open = {
  browser: (site, options) =>
    pageSeat({
      ...{ site, open: 'patching.js patching' },
      options: { ...options, weights: `/${relative(root, options.path)}` },
    }),
  node: (_, options) =>
    processSeat({ open: 'patching', options: { ...options, weights: options.path } }),
  native: (_, options) => nativeSeat({ options }),
  torch: (_, options) => torchSeat({ options }),
};

/** Seconds of the sweep, and its ratio to as many plain passes of the same turn: medians. */
function rowOf(name, sweeps, passes) {
  const ratios = sweeps.map((ms, i) => ms / (patches * summarize(passes[i]).median));
  const seconds = summarize(sweeps).median / 1000;
  const pass = summarize(passes.flat()).median;
  const ratio = summarize(ratios).median;
  console.log(`${name}: ${seconds.toFixed(2)} s, ${ratio.toFixed(2)} of ${patches} passes of ${pass.toFixed(1)} ms`); // prettier-ignore
}

/** How far apart sweeps of a format may be, of the largest difference: int8 rounds rows, by each instruction set in its own way. */
const roundings = { F32: 0.01, Q8_0: 0.2 };

/** What sweeps of a format found, by whom: all have the same weights. */
const found = new Map();

/** Throws if a sweep found other differences than that of another host: they round differently, and no more. */
function compare(format, name, differences) {
  const other = found.get(format);
  if (!other) return void found.set(format, { name, differences });
  const size = Math.max(...other.differences.map(Math.abs));
  const most = Math.max(...differences.map((x, i) => Math.abs(x - other.differences[i])));
  if (most > roundings[format] * size)
    throw new Error(`${name} is off ${other.name} by ${most} of ${size}`);
}

async function timed(seat, name, kinds, rounds) {
  const sweeps = kinds.map(() => []);
  const [passes, attributions] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const times = [];
    for (let i = 0; i < PASSES; i += 1) times.push(await seat.call('pass'));
    const swept = [];
    for (const kind of kinds) {
      const { ms, differences } = await seat.call(kind);
      if (differences) compare(name.split(' ')[1], name, differences);
      swept.push(ms);
    }
    if (round === 0) continue; // engines compile what runs often
    passes.push(times);
    swept.forEach((ms, i) => sweeps[i].push(ms));
    if (seat.version === undefined) attributions.push(await seat.call('attribute'));
  }
  kinds.forEach((kind, i) => rowOf(`${name}, ${kind}`, sweeps[i], passes));
  if (attributions.length === 0) return;
  const { median } = summarize(attributions);
  console.log(`${name}, attribution of every head: ${median.toFixed(1)} ms`);
}

/** Takes a seat. PyTorch is left out where there is none: nothing that this project installs has it. */
async function seated(host, site, options) {
  try {
    return await open[host](site, options);
  } catch (error) {
    if (host !== 'torch') throw error;
    console.warn(`\n*** PyTorch is left out: ${error.message} ***`);
  }
}

const site = await openSite();
for (const host of list('hosts')) {
  // PyTorch has float32 alone here.
  for (const format of host === 'torch' ? ['F32'] : list('formats')) {
    for (const threads of list('threads').map(Number)) {
      const options = { shape: SHAPE, format, threads, path: host === 'torch' ? '' : writeModel(SHAPE, format) }; // prettier-ignore
      const seat = await seated(host, site, options);
      if (seat === undefined) continue;
      const name = `${host}${seat.version ? ` ${seat.version}` : ''} ${format} ${threads} thread${threads > 1 ? 's' : ''}`; // prettier-ignore
      const kinds = host === 'torch' ? ['sweep', 'batches'] : ['sweep'];
      await timed(seat, name, kinds, Number(values.rounds));
      await seat.close();
    }
  }
}
await site.close();
