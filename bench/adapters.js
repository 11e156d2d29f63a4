// node bench/adapters.js [--host=node] [--shape=110M] [--tokens=64] [--threads=1] [--rounds=5]: a step of all weights of a language model
// of bench/models, in turns with steps of adapters of low rank (LoRA) over the same weights in float32, in 8 and in 4 bits. It takes the
// package as built. A short run: --shape=15M --rounds=1.
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../tools/environment.js';
import { openSite } from './hosts.js';
import { summarize } from './measure.js';
import { writeModel } from './models/file.js';
import { pageSeat, processSeat } from './models/seats.js';

const text = (value) => ({ type: 'string', default: value });
const { values } = parseArgs({
  options: {
    ...{ host: text('node'), shape: text('110M'), tokens: text('64') },
    ...{ threads: text('1'), rounds: text('5') },
  },
});

const two = { rank: 8, maps: ['wq', 'wv'] };
const all = { rank: 8, maps: ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'] };
const contestants = [
  { name: 'all weights', format: 'F32' },
  { name: 'adapters of wq and wv, F32', format: 'F32', lora: two },
  { name: 'adapters of all maps, F32', format: 'F32', lora: all },
  { name: 'adapters of wq and wv, Q8_0', format: 'Q8_0', lora: two },
  { name: 'adapters of wq and wv, Q4_0', format: 'Q4_0', lora: two },
];

/** How far losses may be from that of all weights: by rounding alone, and by the 8 or 4 bits of the weights. */
const nearness = { F32: 1e-5, Q8_0: 0.01, Q4_0: 0.1 };

async function open(site, { format, lora }) {
  const path = writeModel(values.shape, format);
  const options = { threads: Number(values.threads), tokens: Number(values.tokens), lora };
  return values.host === 'browser'
    ? pageSeat({ site, open: 'adapters.js adapters', options: { ...options, weights: `/${relative(root, path)}` } }) // prettier-ignore
    : processSeat({ open: 'adapters', options: { ...options, weights: path } });
}

const megabytes = (bytes) => (bytes > 0 ? `${(bytes / 1e6).toFixed(0)} MB` : '');

const site = values.host === 'browser' ? await openSite() : undefined;
const seats = [];
for (const each of contestants) seats.push(await open(site, each));
try {
  const losses = await Promise.all(seats.map((seat) => seat.call('loss')));
  losses.forEach((loss, i) => {
    const { name, format } = contestants[i];
    const off = Math.abs(loss - losses[0]);
    if (!(off <= nearness[format] * losses[0]))
      throw new Error(`${name} begins with a loss of ${loss}, expected ${losses[0]}`);
  });
  const times = seats.map(() => []);
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const order = seats.map((_, i) => (round % 2 === 0 ? i : seats.length - 1 - i));
    for (const i of order) {
      const ms = await seats[i].call('step');
      if (round > 0) times[i].push(ms); // engines compile what runs often, and the first step takes memory
    }
  }
  console.log('| trained | numbers | a step | of one of all weights | the model | the trainer |\n| --- | --: | --: | --: | --: | --: |'); // prettier-ignore
  for (const [i, { name }] of contestants.entries()) {
    const { parameters, modelBytes, trainerBytes } = await seats[i].call('sizes');
    const ratio = summarize(times[i].map((ms, round) => ms / times[0][round])).median;
    const seconds = summarize(times[i]).median / 1000;
    console.log(`| ${name} | ${parameters.toLocaleString('en')} | ${seconds.toFixed(2)} s | ${ratio.toFixed(2)} | ${megabytes(modelBytes)} | ${megabytes(trainerBytes)} |`); // prettier-ignore
  }
} finally {
  for (const seat of seats) await seat.close();
  await site?.close();
}
