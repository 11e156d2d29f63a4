// npm run bench:peers -- models: language models beside other libraries, the same GGUF files for all.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join, relative } from 'node:path';
import { launch } from '../../tests/support/js/chromium.js';
import { root } from '../../tools/environment.js';
import { must, step } from '../../tools/run.js';
import { buildBench, buildModelProgram } from '../build.js';
import { openSite } from '../hosts.js';
import { install } from '../install.js';
import { summarize } from '../measure.js';
import { pathOf, writeModel } from './file.js';
import { prepareBuild } from './llama_builds.js';
import { report } from './report.js';
import { nativeSeat, pageSeat, processSeat } from './seats.js';
import { PROMPT, decodeAfter, formats, shapes } from './shapes.js';

/** The programs of node-llama-cpp for the processor of this machine. */
const programs = {
  linux: `linux-${process.arch}`,
  darwin: process.arch === 'arm64' ? 'mac-arm64-metal' : 'mac-x64',
  win32: `win-${process.arch}`,
}[process.platform];

const versions = {
  '@wllama/wllama': '3.13.0',
  wllama2: 'npm:@wllama/wllama@2.4.0',
  'node-llama-cpp': '3.22.1',
  [`@node-llama-cpp/${programs}`]: '3.22.1',
  'onnxruntime-web': '1.30.0',
};

/** With models that take a contestant minutes, only two threads take part, and of a peer the newest version and the best build. */
const small = ['15M', '110M'];

const page = (open, threads) => ({ host: 'browser', seat: pageSeat, open, threads });
const threadsOf = (make, name, open) => ({
  [`${name} 1 thread`]: { ...make(open, 1), shapes: small },
  [`${name} 2 threads`]: make(open, 2),
});

/** Builds of llama.cpp beside the one that fits the processor best. */
const otherBuilds = programs === 'linux-x64' ? ['avx2'] : [];
const llamaCpp = (build) => (_, threads) => ({
  ...{ host: 'node', seat: processSeat, open: 'llamaCpp', threads, build },
  ...(build && { shapes: small }),
});

/** Who takes part. onnxruntime-web has no float16 on the processor. */
const contestants = {
  ...threadsOf(page, 'qkv relaxed', 'qkv.js qkv'),
  ...threadsOf(page, 'wllama', 'wllama.js wllama'),
  ...threadsOf(
    (open, threads) => ({ ...page(open, threads), shapes: small }),
    'wllama 2.4',
    'wllama.js wllama2',
  ),
  ...threadsOf(
    (open, threads) => ({ ...page(open, threads), without: ['F16'] }),
    'ort-web',
    'onnxruntime.js onnxruntime',
  ),
  ...threadsOf((_, threads) => ({ host: 'node', seat: nativeSeat, threads }), 'qkv native'),
  ...threadsOf(llamaCpp(), 'llama.cpp'),
  ...Object.assign(
    {},
    ...otherBuilds.map((build) => threadsOf(llamaCpp(build), `llama.cpp ${build}`)),
  ),
};

/** Milliseconds of rounds of one thing that a contestant gets; one that is slow is timed in fewer rounds, once at least. */
const SHARE = 15_000;
/** A contestant that needs more milliseconds than this to read a context is not timed after it. */
const LONGEST_FILL = 30_000;
/** After a call of so many milliseconds nothing is left to warm up. */
const WARM = 2_000;

const reason = (error) => String(error.message ?? error).split('\n')[0];

/** Lets everybody sit down: { seats, peaks, failed } by name. */
async function assemble(names, { site, shape, format }) {
  const path = pathOf(shape, format);
  const url = `/${relative(root, path)}`;
  const all = { seats: {}, peaks: {}, failed: {} };
  for (const name of names) {
    const { seat, open, threads, build } = contestants[name];
    try {
      const options = { path, url, shape, format, threads, build };
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

/** Everybody but the `warm` ones once, which warms them up, and then in turns, there and back: milliseconds by name and round. */
async function inTurns(seats, rounds, warm, ...call) {
  const entries = Object.entries(seats);
  const times = Object.fromEntries(entries.map(([name]) => [name, []]));
  const spent = (name) => times[name].reduce((sum, time) => sum + time, 0);
  for (const [name, seat] of entries) if (!warm.includes(name)) await seat.call(...call);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, seat] of round % 2 === 0 ? entries : [...entries].reverse()) {
      if (spent(name) <= SHARE) times[name].push(await seat.call(...call));
    }
  }
  return times;
}

/** What a group does with a file: { next, about, left, times: { what: { name: rounds } } }. */
async function timeAll(seats, { contexts, rounds }) {
  const next = {};
  const about = {};
  const left = {};
  const warm = [];
  for (const [name, seat] of Object.entries(seats)) {
    const start = performance.now();
    next[name] = await seat.call('next');
    if (performance.now() - start > WARM) warm.push(name);
  }
  const times = { prompt: await inTurns(seats, rounds, warm, 'prompt') };
  for (const context of contexts) {
    const present = {};
    for (const [name, seat] of Object.entries(seats)) {
      const fill = (Math.min(...times.prompt[name]) * context) / PROMPT;
      if (fill > LONGEST_FILL) left[name] = [...(left[name] ?? []), { context, fill }];
      else present[name] = seat;
    }
    for (const seat of Object.values(present)) await seat.call('fill', context);
    // A shorter context has warmed up everybody.
    const ready = context === contexts[0] ? [] : Object.keys(present);
    times[decodeAfter(context)] = await inTurns(present, rounds, ready, 'decode', context);
  }
  for (const [name, seat] of Object.entries(seats)) {
    const words = await seat.call('about');
    if (words) about[name] = words;
  }
  return { next, about, left, times };
}

/** Contestants of the same host and threads: those that are compared, and that are in memory at once. */
function groupsOf(names) {
  const groups = new Map();
  for (const name of names) {
    const { host, threads } = contestants[name];
    const key = `${host} ${threads}`;
    groups.set(key, [...(groups.get(key) ?? []), name]);
  }
  return [...groups.values()];
}

/** { who: { what: summary } } from { what: { who: rounds } }. */
function byContestant(times) {
  const all = {};
  for (const [what, ofEach] of Object.entries(times)) {
    for (const [who, rounds] of Object.entries(ofEach)) {
      all[who] = { ...all[who], [what]: { ...summarize(rounds), rounds } };
    }
  }
  return all;
}

/** One model file. */
async function measureFile(names, { site, shape, format, rounds, contexts }) {
  const result = { shape, format, failed: {}, peaks: {}, next: {}, about: {}, left: {}, times: {} };
  for (const group of groupsOf(names)) {
    const { seats, peaks, failed } = await assemble(group, { site, shape, format });
    try {
      const { next, about, left, times } = await timeAll(seats, { contexts, rounds });
      Object.assign(result.about, about);
      Object.assign(result.left, left);
      Object.assign(result.times, byContestant(times));
      Object.assign(result.next, next);
    } finally {
      for (const seat of Object.values(seats)) await seat.close();
    }
    Object.assign(result.peaks, peaks);
    Object.assign(result.failed, failed);
  }
  return { ...result, load: loadavg() };
}

/**
 * The files that a filter leaves, and who takes part in each: 'models/110M/Q8_0/1 thread' has words for both. Of several words for
 * the same, one has to fit.
 */
function chosen(filter, names) {
  const words = filter.split('/').slice(1);
  const all = Object.entries(shapes).flatMap(([shape, { formats: own }]) =>
    own.map((format) => ({ shape, format })),
  );
  const fits = (list, value) => {
    const own = words.filter((word) => list.includes(word));
    return own.length === 0 || own.includes(value);
  };
  const rest = words.filter((word) => !(word in shapes) && !formats.includes(word));
  const who = names.filter((name) => rest.every((word) => name.includes(word)));
  const takesPart = (name, { shape, format }) => {
    const { without = [], shapes: own = [shape] } = contestants[name];
    return own.includes(shape) && !without.includes(format);
  };
  const files = all
    .filter(({ shape, format }) => fits(Object.keys(shapes), shape) && fits(formats, format))
    .map((file) => ({ ...file, who: who.filter((name) => takesPart(name, file)) }))
    .filter((file) => file.who.length > 0);
  if (files.length === 0) throw new Error(`nobody takes part in ${filter}`);
  return files;
}

async function hostsOf({ browser, node }) {
  const hosts = node ? [`Node ${process.version}`] : [];
  if (!browser) return hosts;
  const instance = await launch();
  const version = `Chromium ${instance.version()}`;
  await instance.close();
  return [version, ...hosts];
}

/** What is timed, in folders of this repository. */
const TIMED = ['core/include', 'core/src', 'wasm/bindings', 'wasm/src', 'bench/models'];

/** A name for what is timed as it is committed: later commits that leave it alone have the same. */
async function versionOfTimed() {
  const trees = await must('git', ['rev-parse', ...TIMED.map((folder) => `HEAD:${folder}`)]);
  const { stdout: changed } = await must('git', ['status', '--porcelain', '--', ...TIMED]);
  const version = createHash('sha256').update(trees.stdout).digest('hex').slice(0, 12);
  return changed.trim() === '' ? version : `${version}-dirty`;
}

/** Where the results of files are kept, so that a run of hours can be resumed. */
async function resultsOfVersion() {
  const folder = join(root, 'build/bench/models', await versionOfTimed());
  mkdirSync(folder, { recursive: true });
  const placeOf = ({ shape, format }) => join(folder, `${shape}-${format}.json`);
  return {
    keep: (result) => writeFileSync(placeOf(result), JSON.stringify(result)),
    known: (file) => existsSync(placeOf(file)) && JSON.parse(readFileSync(placeOf(file), 'utf8')),
  };
}

/** What `node bench/bench_peers.js models` does, with the options of that program. */
export async function benchModels(options) {
  await install(versions);
  for (const build of otherBuilds) prepareBuild(build, `@node-llama-cpp/${programs}`);
  if (!options['no-build']) {
    if (options.browser) await buildBench();
    if (options.node) await buildModelProgram();
  }
  const rounds = options.quick ? 3 : 9;
  const names = Object.keys(contestants).filter((name) => options[contestants[name].host]);
  const files = chosen(options.filter, names);
  const ofVersion = await resultsOfVersion();
  const site = await openSite();
  const results = [];
  try {
    for (const file of files) {
      const { shape, format, who } = file;
      const known = options.resume && ofVersion.known(file);
      if (known) {
        results.push(known);
        continue;
      }
      await step(`write ${shape} ${format}`, () => void writeModel(shape, format));
      await step(`time ${shape} ${format}`, async () => {
        const all = shapes[shape].contexts;
        const contexts = options.quick ? all.slice(0, 1) : all;
        results.push(await measureFile(who, { site, shape, format, rounds, contexts }));
        ofVersion.keep(results.at(-1));
      });
    }
  } finally {
    await site.close();
  }
  const complete = results.every(({ failed }) => Object.keys(failed).length === 0);
  const whole = options.filter === 'models' && options.node && options.browser;
  const kept = complete && whole && !options.quick;
  const folder = join(root, kept ? 'bench/results' : 'build/bench');
  mkdirSync(folder, { recursive: true });
  const text = await report(results, { versions, contestants, hosts: await hostsOf(options) });
  writeFileSync(join(folder, 'models.md'), text);
  writeFileSync(join(folder, 'models.json'), `${JSON.stringify(results, null, 1)}\n`);
  console.log(`\n${text}\nwritten to ${relative('.', folder)}`);
}
