// npm run bench: this library alone, by host and variant.
//
//   node bench/bench.js [--node] [--browser] [--native] [--quick] [--smoke] [--no-build] [--against=dist] [filter]
//   node bench/bench.js --gate | --keep [--no-build] [filter]
//
// The filter is a part of the names of cases. Without a host, all of them. --against=dist times the package in another
// folder beside this one, in the same pages and processes. --gate compares kernels with those of the last release, which
// --keep wrote.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tools/environment.js';
import { buildBench, buildNativeBench } from './build.js';
import { cases, smoke } from './cases.js';
import { openBrowser, openNode } from './hosts.js';
import { summarize } from './measure.js';
import { LIMIT, REPEATS, gate, keep } from './gate.js';
import { nativeTable } from './native.js';
import { caseHead, caseRows, circumstances, derived, textTable } from './report.js';

const flags = ['node', 'browser', 'native', 'quick', 'smoke', 'no-build', 'gate', 'keep'];

function parse(args) {
  const options = Object.fromEntries(flags.map((name) => [name, args.includes(`--${name}`)]));
  const against = args.find((arg) => arg.startsWith('--against='))?.slice('--against='.length);
  const rest = args.filter(
    (arg) => !flags.includes(arg.replace(/^--/, '')) && !arg.startsWith('--against='),
  );
  if (rest.some((arg) => arg.startsWith('--')) || rest.length > 1) {
    throw new Error(`unknown ${rest.join(' ')}, expected --${flags.join(', --')} or one filter`);
  }
  const every = !options.node && !options.browser && !options.native;
  return {
    ...options,
    against,
    node: options.node || every,
    browser: options.browser || every,
    native: options.native || (every && !options.smoke),
    filter: rest[0] ?? '',
  };
}

const variants = ['qkv relaxed', 'qkv simd'];
const others = variants.map((variant) => variant.replace('qkv', 'other'));
const pairs = variants.map((variant) => `${variant} 2 threads`);

function chosen({ quick, smoke: tiny, filter }) {
  if (tiny) return smoke;
  return cases.filter((entry) => entry.name.includes(filter) && !(quick && entry.heavy));
}

/** Who is timed beside this package: the other one, which has no kernel by itself, or plain JavaScript. */
function besideOurs({ op, copy }, { against }) {
  if (against) {
    const kernels = 'none of the package';
    const needed = {
      ...{ product: kernels, read: kernels },
      ...{ train: 'train.js', backward: 'train.js' },
    }[op];
    return existsSync(join(against, needed ?? 'index.js')) ? others : [];
  }
  return op === 'sinusoidal' || copy ? ['plain'] : [];
}

async function measureHost(host, options) {
  const effort =
    options.quick || options.smoke ? { rounds: 3, sample: 20 } : { rounds: 9, sample: 60 };
  const rows = [];
  const results = {};
  for (const entry of chosen(options)) {
    // Threads share attention and layers; whatever else is timed is one thread's work.
    const shared = ['attention', 'gemm', 'layer', 'decode'].includes(entry.op) && !options.smoke;
    const ours = shared && !options.against ? [...variants, ...pairs] : variants;
    const contestants = [...ours, ...besideOurs(entry, options)];
    const result = await host.run('runCase', { name: entry.name, contestants, ...effort });
    results[entry.name] = result;
    for (const [who, why] of Object.entries(result.failed)) {
      throw new Error(`${entry.name}, ${who}: ${why}`);
    }
    rows.push(...caseRows(entry, result));
    if (!options.smoke) process.stderr.write('.');
  }
  if ('cold start'.includes(options.filter) || options.smoke) {
    for (const contestant of variants) {
      const times = [];
      for (let round = 0; round < (options.smoke ? 1 : effort.rounds); round += 1) {
        times.push((await host.run('coldStart', { contestant })).ms);
      }
      const how = 'import, compile, first result';
      rows.push([
        'cold start',
        contestant,
        summarize(times).median.toFixed(1),
        '',
        '',
        '',
        '',
        '',
        how,
      ]);
    }
  }
  return { rows, results };
}

const againstHead = ['case', 'variant', 'time / other', 'quartiles'];

/** How long each way takes, in times of what it takes in the other package: medians of one run. */
function againstRows(results) {
  return Object.entries(results).flatMap(([name, { times }]) =>
    Object.entries(times).flatMap(([who, { median: own, quartiles }]) => {
      const other = times[who.replace(/^qkv/, 'other')]?.median;
      if (!who.startsWith('qkv') || other === undefined) return [];
      const ratio = (time) => (time / other).toFixed(3);
      return [[name, who, ratio(own), quartiles.map(ratio).join(' to ')]];
    }),
  );
}

/** Whether no kernel is slower than in the last release. */
async function runGate({ filter }) {
  const command = ['node bench/bench.js', ...process.argv.slice(2)].join(' ');
  const { text, slow } = await gate(filter);
  console.log(`${text}\n\n${await circumstances({ command, hosts: [`Node ${process.version}`] })}`);
  if (slow.length > 0) {
    throw new Error(
      `slower than ${LIMIT} of the last release in ${REPEATS} repeats:\n${slow.join('\n')}`,
    );
  }
}

async function main(options) {
  if (options.gate || options.keep) {
    if (!options['no-build']) await buildBench({ all: false });
    return options.keep ? keep() : runGate(options);
  }
  if (!options['no-build']) {
    await buildBench({ all: !options.smoke });
    if (options.native) await buildNativeBench();
  }
  if (options.against) {
    const other = join(root, 'build/bench/other');
    rmSync(other, { recursive: true, force: true });
    cpSync(options.against, other, { recursive: true });
  }
  const described = [];
  for (const [name, open] of Object.entries({ browser: openBrowser, node: openNode })) {
    if (!options[name]) continue;
    const host = await open();
    try {
      const { rows, results } = await measureHost(host, options);
      console.log(`\n${host.describe}\n\n${textTable(caseHead, rows)}\n`);
      if (options.against) console.log(`${textTable(againstHead, againstRows(results))}\n`);
      for (const line of derived(results, 'qkv relaxed')) console.log(line);
      if (rows.length === 0) throw new Error(`no case has "${options.filter}" in its name`);
    } finally {
      await host.close();
    }
    described.push(host.describe);
  }
  if (options.native) {
    console.log(`\n${await nativeTable(options)}\n`);
    described.push('native');
  }
  const command = ['node bench/bench.js', ...process.argv.slice(2)].join(' ');
  console.log(`\n${await circumstances({ command, hosts: described })}`);
  return undefined;
}

try {
  await main(parse(process.argv.slice(2)));
} catch (error) {
  console.error(String(error.message ?? error));
  process.exitCode = 1;
}
