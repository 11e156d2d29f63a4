// npm run bench:peers: this library beside others, in turns, in one page or process for each case.
//
//   node bench/bench_peers.js [--node] [--browser] [--quick] [--no-build] [--resume] [filter]
//
// Installs the peers into build/peers, checks that everybody computes the same, and writes a table and
// plots to bench/results; with --quick or a filter, to build/bench instead. The filter `models` is for language models,
// which have tables of their own (models/bench.js); `models/110M/1 thread` is for some of them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../tools/environment.js';
import { step } from '../tools/run.js';
import { buildBench, buildNativeBench } from './build.js';
import { cases } from './cases.js';
import { openBrowser, openNode } from './hosts.js';
import { summarize } from './measure.js';
import { install } from './install.js';
import { benchModels } from './models/bench.js';
import { plot } from './plot.js';
import { pairedRatio, ratioCell } from './ratios.js';
import { circumstances, derived, gflops, markdownTable, milliseconds, quoted } from './report.js';

const versions = {
  'onnxruntime-web': '1.30.0',
  'onnxruntime-node': '1.30.0',
  '@tensorflow/tfjs': '4.22.0',
  '@tensorflow/tfjs-core': '4.22.0',
  '@tensorflow/tfjs-backend-wasm': '4.22.0',
  '@jax-js/jax': '0.1.25',
};

const hosts = {
  browser: {
    open: openBrowser,
    contestants: [
      ...['qkv relaxed', 'qkv relaxed 2 threads', 'qkv simd'],
      ...['ort-web 1 thread', 'ort-web 2 threads'],
      ...['tfjs-wasm', 'jax-js all threads'],
    ],
  },
  node: {
    open: openNode,
    contestants: [
      ...['qkv relaxed', 'qkv native', 'qkv native 2 threads'],
      ...['ort-node 1 thread', 'ort-node 2 threads'],
      'pytorch 1 thread',
    ],
  },
};

const ours = (name) => name.startsWith('qkv');
const base = { browser: 'qkv relaxed', node: 'qkv native' };

function parse(args) {
  const flags = ['node', 'browser', 'quick', 'no-build', 'resume'];
  const options = Object.fromEntries(flags.map((name) => [name, args.includes(`--${name}`)]));
  const rest = args.filter((arg) => !flags.includes(arg.replace(/^--/, '')));
  if (rest.some((arg) => arg.startsWith('--')) || rest.length > 1) {
    throw new Error(`unknown ${rest.join(' ')}, expected --${flags.join(', --')} or one filter`);
  }
  const every = !options.node && !options.browser;
  return {
    ...options,
    node: options.node || every,
    browser: options.browser || every,
    filter: rest[0] ?? '',
  };
}

/** Who takes part in a case on a host. */
function contestantsOf(entry, { contestants }) {
  const some = entry.oursOnly ? contestants.filter(ours) : contestants;
  return entry.copy || entry.op === 'sinusoidal' ? [...some, 'plain'] : some;
}

/** Cold starts of everybody in turns, as the result of a case. */
async function coldStarts(host, contestants, rounds) {
  const times = {};
  const failed = {};
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of contestants) {
      if (contestant in failed || /^(qkv native|pytorch)/.test(contestant)) continue;
      try {
        const { ms } = await host.run('coldStart', { contestant });
        times[contestant] = [...(times[contestant] ?? []), ms];
      } catch (error) {
        failed[contestant] = String(error.message ?? error).split('\n')[0];
      }
    }
  }
  const summaries = Object.entries(times).map(([name, list]) => {
    return [name, { ...summarize(list), rounds: list, way: 'import, compile, first call' }];
  });
  return { times: Object.fromEntries(summaries), failed, peaks: {}, agreement: {} };
}

async function measure(name, options) {
  const { open, contestants } = hosts[name];
  const host = await open();
  const effort = options.quick ? { rounds: 3, sample: 20 } : { rounds: 11, sample: 80 };
  const results = {};
  const wanted = cases.filter(
    (entry) => entry.name.includes(options.filter) && !(options.quick && entry.heavy),
  );
  if (wanted.length === 0 && !'cold start'.includes(options.filter)) {
    throw new Error(`no case has "${options.filter}" in its name`);
  }
  try {
    for (const entry of wanted) {
      await step(`${name}: ${entry.name}`, async () => {
        const who = contestantsOf(entry, { contestants });
        const result = await host.run('runCase', { name: entry.name, contestants: who, ...effort });
        results[entry.name] = result;
        const { spread } = result.agreement;
        return spread === undefined
          ? 'no other contestant to compare with'
          : `agree to ${spread.toExponential(0)}`;
      });
    }
    if ('cold start'.includes(options.filter)) {
      await step(`${name}: cold start`, async () => {
        results['cold start'] = await coldStarts(host, contestants, effort.rounds);
      });
    }
    return { name, host: host.describe, results };
  } finally {
    await host.close();
  }
}

const cell = (entry, times, peaks, who) => {
  const { median, quartiles } = times[who];
  const rate = entry ? gflops(entry, times[who]) : 0;
  const parts = [`**${milliseconds(median)}** (${quartiles.map(milliseconds).join('–')})`];
  if (rate > 0) parts.push(`${rate.toFixed(1)} GFLOP/s`);
  if (rate > 0 && peaks[who]) parts.push(`${((100 * rate) / peaks[who]).toFixed(0)} % of peak`);
  return parts.join('<br>');
};

/** 1, 2 or more, or all that the machine has. */
const threadsOf = (name) => {
  const [, count = '1'] = / (\d+|all) threads?$/.exec(name) ?? [];
  return count === 'all' ? Infinity : Number(count);
};

/** The fastest of these contestants, by median. */
const fastestOf = (times, names) =>
  names.filter((name) => times[name]).sort((a, b) => times[a].median - times[b].median)[0];

/** How many times as long as `who` the fastest of these takes, with its interval. */
function advantage(times, who, rivals) {
  const best = fastestOf(times, rivals);
  if (!times[who] || !best) return '–';
  return `${ratioCell(pairedRatio(times[who].rounds, times[best].rounds))}<br>${best}`;
}

/**
 * A row for each case and contestant of ours: beside the fastest peer with as many threads, and the fastest of all. In Node a cold
 * start is that of the package.
 */
function ratioRows(shared, contestants) {
  const peers = contestants.filter((name) => !ours(name));
  return shared.flatMap(([title, { times }]) =>
    contestants
      .filter((name) => ours(name) && times[name])
      .map((name) => {
        const equal = peers.filter((peer) => threadsOf(peer) === threadsOf(name));
        return [title, name, advantage(times, name, equal), advantage(times, name, peers)];
      }),
  );
}

/** How a peer computed a case, and what share of it is copies of inputs and outputs. */
const methodOf = (peer, { way, copies }) =>
  `${peer}: ${way}${copies === undefined ? '' : `, copies ${(100 * copies).toFixed(0)} %`}`;

/** The part of a report about one host. */
function section({ name, host, results }) {
  const { contestants } = hosts[name];
  const peers = contestants.filter((contestant) => !ours(contestant));
  const shared = Object.entries(results).filter(([, { times, failed }]) =>
    peers.some((peer) => times[peer] || failed[peer]),
  );
  const rows = shared.map(([title, { times, failed, peaks }]) => {
    const entry = cases.find((one) => one.name === title);
    return [
      title,
      ...contestants.map((contestant) => {
        if (times[contestant]) return cell(entry, times, peaks, contestant);
        return failed[contestant] ? 'fails' : '–';
      }),
    ];
  });
  const head = ['case', ...contestants];
  const ways = shared.flatMap(([title, { times }]) => {
    const list = peers.filter((peer) => times[peer]).map((peer) => methodOf(peer, times[peer]));
    return list.length > 0 ? [`- ${title}: ${list.join('; ')}`] : [];
  });
  const failures = Object.entries(results).flatMap(([title, { times, failed }]) => [
    ...Object.entries(failed).map(
      ([contestant, why]) => `- ${title}, ${contestant}: ${quoted(why)}`,
    ),
    ...Object.entries(times).flatMap(([contestant, { lost = [] }]) =>
      lost.map((why) => `- ${title}, ${contestant}, one of its methods: ${quoted(why)}`),
    ),
  ]);
  const own = derived(results, 'qkv relaxed').map((line) => `- ${line}`);
  const alone = Object.entries(results)
    .filter(([title]) => !shared.some(([other]) => other === title))
    .flatMap(([title, { times, peaks }]) => {
      const entry = cases.find((one) => one.name === title);
      return Object.keys(times).map((contestant) => [
        title,
        contestant,
        cell(entry, times, peaks, contestant),
        [contestant.includes(': ') ? '' : times[contestant].way, times[contestant].note]
          .filter(Boolean)
          .join('; '),
      ]);
    });
  const worst = Math.max(0, ...shared.map(([, { agreement }]) => agreement.spread ?? 0));
  return [
    `## ${host}`,
    '',
    'Milliseconds: **median** (quartiles).',
    '',
    ...(shared.length > 0
      ? [
          markdownTable(head, rows),
          '',
          'How many times as fast as the fastest peer, of all cases, with 95 % intervals over rounds in turns:',
          '',
          markdownTable(
            ['case', 'who', 'fastest peer, as many threads', 'fastest peer'],
            ratioRows(shared, contestants),
          ),
          '',
          `![comparison](peers-${name}.svg)`,
          '',
        ]
      : []),
    `Outputs agreed to ${worst.toExponential(1)} of the largest element or better before timing.`,
    '',
    ...(ways.length > 0
      ? ['The fastest method of each peer, which was timed:', '', ...ways, '']
      : []),
    ...(failures.length > 0
      ? ['Failures, with the message of each library:', '', ...failures, '']
      : []),
    ...(alone.length > 0
      ? ['Only this library:', '', markdownTable(['case', 'who', 'ms', 'how'], alone), '']
      : []),
    ...(own.length > 0 ? [...own, ''] : []),
  ].join('\n');
}

function plotOf({ name: hostName, host, results }) {
  const who = base[hostName];
  const peers = hosts[hostName].contestants.filter((contestant) => !ours(contestant));
  const rows = Object.entries(results).flatMap(([title, { times }]) => {
    const rival = times[who] ?? times['qkv relaxed'];
    const present = peers.filter((peer) => times[peer]).map((peer) => [peer, times[peer]]);
    if (!rival || present.length === 0) return [];
    const name = times[who] ? title : `${title} (qkv relaxed = 1)`;
    return [{ name, base: rival.median, peers: Object.fromEntries(present) }];
  });
  const title = `${host}: times of peers, ${who} = 1`;
  return rows.length > 0 ? plot({ title, who, rows, peers }) : undefined;
}

async function main(options) {
  if (/^models(\/|$)/.test(options.filter)) return benchModels(options);
  await install(versions);
  if (!options['no-build']) {
    await buildBench();
    if (options.node) await buildNativeBench();
  }
  const measured = [];
  for (const name of Object.keys(hosts)) {
    if (options[name]) measured.push(await measure(name, options));
  }
  const kept = !options.quick && options.filter === '' && measured.length === 2;
  const folder = join(root, kept ? 'bench/results' : 'build/bench');
  mkdirSync(folder, { recursive: true });
  const command = ['node bench/bench_peers.js', ...process.argv.slice(2)].join(' ');
  const about = await circumstances({
    command,
    hosts: measured.map(({ host }) => host),
    versions,
  });
  const text = [
    '# Compared with other libraries',
    '',
    'Written by `npm run bench:peers`; [how to read it](../README.md).',
    '',
    about,
    '',
    ...measured.map(section),
  ].join('\n');
  writeFileSync(join(folder, 'peers.md'), text);
  writeFileSync(join(folder, 'peers.json'), `${JSON.stringify(measured, null, 1)}\n`);
  for (const each of measured) {
    const svg = plotOf(each);
    if (svg) writeFileSync(join(folder, `peers-${each.name}.svg`), svg);
  }
  console.log(`\n${text}\nwritten to ${relative('.', folder)}`);
  return undefined;
}

try {
  await main(parse(process.argv.slice(2)));
} catch (error) {
  console.error(String(error.message ?? error));
  process.exitCode = 1;
}
