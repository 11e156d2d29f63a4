// npm run bench:peers -- models: language models beside other libraries, the same GGUF files for all.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../tools/environment.js';
import { step } from '../../tools/run.js';
import { buildBench } from '../build.js';
import { openSite } from '../hosts.js';
import { install } from '../install.js';
import { summarize } from '../measure.js';
import { pathOf, writeModel } from './file.js';
import { report } from './report.js';
import { nativeSeat, pageSeat, processSeat } from './seats.js';
import { formats, shapes } from './shapes.js';

export const versions = {
  '@wllama/wllama': '3.8.1',
  wllama2: 'npm:@wllama/wllama@2.4.0',
  'node-llama-cpp': '3.22.1',
  '@node-llama-cpp/linux-x64': '3.22.1',
  'onnxruntime-web': '1.30.0',
};

const page = (open, threads = 1) => ({ host: 'browser', seat: pageSeat, open, threads });
const threadsOf = (make, name, open) => ({
  [`${name} 1 thread`]: make(open, 1),
  [`${name} 2 threads`]: make(open, 2),
});

/** Who takes part. onnxruntime-web has no float16 on the processor. */
export const contestants = {
  ...threadsOf(page, 'qkv relaxed', 'qkv.js qkv'),
  ...threadsOf(page, 'wllama', 'wllama.js wllama'),
  ...threadsOf(page, 'wllama 2.4', 'wllama.js wllama2'),
  ...threadsOf(
    (open, threads) => ({ ...page(open, threads), without: ['F16'] }),
    'ort-web',
    'onnxruntime.js onnxruntime',
  ),
  ...threadsOf((_, threads) => ({ host: 'node', seat: nativeSeat, threads }), 'qkv native'),
  ...threadsOf(
    (open, threads) => ({ host: 'node', seat: processSeat, open, threads }),
    'llama.cpp',
    'llamaCpp',
  ),
};

const reason = (error) => String(error.message ?? error).split('\n')[0];

/** Lets everybody sit down: { seats, peaks, failed } by name. */
async function assemble(names, { site, shape, format }) {
  const path = pathOf(shape, format);
  const url = `/${relative(root, path)}`;
  const all = { seats: {}, peaks: {}, failed: {} };
  for (const name of names) {
    const { seat, open, threads } = contestants[name];
    try {
      const options = { path, url, shape, format, threads };
      all.seats[name] = await seat({ site, open, options });
      all.peaks[name] = all.seats[name].peak();
      await all.peaks[name];
    } catch (error) {
      all.failed[name] = reason(error);
      console.warn(`\n*** ${shape} ${format}: NO ROW OF ${name}: ${all.failed[name]} ***`);
    }
  }
  for (const [name, peak] of Object.entries(all.peaks)) all.peaks[name] = await peak;
  return all;
}

/** One model file: everybody once to get warm, then in turns, there and back. */
async function measureFile(names, { site, shape, format, rounds }) {
  const { seats, peaks, failed } = await assemble(names, { site, shape, format });
  const entries = Object.entries(seats);
  const times = Object.fromEntries(entries.map(([name]) => [name, { prompt: [], decode: [] }]));
  const next = {};
  try {
    for (const [name, seat] of entries) {
      next[name] = await seat.call('next');
      await seat.call('decode');
    }
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, seat] of round % 2 === 0 ? entries : [...entries].reverse()) {
        for (const what of ['prompt', 'decode']) times[name][what].push(await seat.call(what));
      }
    }
  } finally {
    for (const [, seat] of entries) await seat.close();
  }
  const summary = ({ prompt, decode }) => ({
    prompt: summarize(prompt),
    decode: summarize(decode),
  });
  return {
    ...{ shape, format, failed, peaks, next },
    times: Object.fromEntries(Object.entries(times).map(([name, one]) => [name, summary(one)])),
  };
}

/** What `node bench/bench_peers.js models` does, with the options of that program. */
export async function benchModels(options) {
  await install(versions);
  if (!options['no-build']) await buildBench();
  const rounds = options.quick ? 2 : 7;
  const names = Object.keys(contestants).filter((name) => options[contestants[name].host]);
  const site = await openSite();
  const results = [];
  try {
    for (const shape of Object.keys(shapes)) {
      for (const format of formats) {
        await step(`write ${shape} ${format}`, () => void writeModel(shape, format));
        const present = names.filter((name) => !contestants[name].without?.includes(format));
        await step(`time ${shape} ${format}`, async () => {
          results.push(await measureFile(present, { site, shape, format, rounds }));
        });
      }
    }
  } finally {
    await site.close();
  }
  const complete = results.every(({ failed }) => Object.keys(failed).length === 0);
  const kept = complete && !options.quick && options.node && options.browser;
  const folder = join(root, kept ? 'bench/results' : 'build/bench');
  mkdirSync(folder, { recursive: true });
  const text = await report(results, { versions, contestants });
  writeFileSync(join(folder, 'models.md'), text);
  writeFileSync(join(folder, 'models.json'), `${JSON.stringify(results, null, 1)}\n`);
  console.log(`\n${text}\nwritten to ${relative('.', folder)}`);
}
