// The results of bench.js as Markdown: a table for each host, and ratios.
import { circumstances, markdownTable, quoted } from '../report.js';
import { BEFORE, DECODED, PROMPT, formats, shapes } from './shapes.js';

const counts = { prompt: PROMPT, decode: DECODED };
const names = { prompt: `prompt of ${PROMPT}`, decode: 'decode' };
const perSecond = (what, ms) => (1000 * counts[what]) / ms;
const digits = (x) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));

/** Tokens per second: the median, and the fastest of all rounds. */
const cell = (what, { median, fastest }) =>
  `**${digits(perSecond(what, median))}** (${digits(perSecond(what, fastest))})`;

const isOurs = (name) => name.startsWith('qkv');

function table(results, { contestants, host }) {
  const who = Object.keys(contestants).filter((name) => contestants[name].host === host);
  const rows = who.flatMap((name) =>
    formats.map((format) => {
      const of = (shape) => results.find((one) => one.shape === shape && one.format === format);
      const cells = Object.keys(shapes).flatMap((shape) => {
        const { times = {}, peaks = {} } = of(shape) ?? {};
        const speeds = ['prompt', 'decode'].map((what) =>
          times[name] ? cell(what, times[name][what]) : '–',
        );
        return [...speeds, peaks[name] ? (peaks[name] / 2 ** 20).toFixed(0) : '–'];
      });
      return [name, format, ...cells];
    }),
  );
  const head = Object.keys(shapes).flatMap((shape) => [
    ...['prompt', 'decode'].map((what) => `${shape}, ${names[what]}`),
    `${shape}, peak MiB`,
  ]);
  const measured = rows.filter((row) => row.slice(2).some((text) => text !== '–'));
  return markdownTable(['who', 'weights', ...head], measured);
}

/** Whose medians are compared: ours over that of the fastest of the rivals. */
const compared = [
  {
    ...{ shape: '110M', what: 'decode', ours: ['qkv relaxed 1 thread', 'Q8_0'] },
    rivals: { host: 'browser', threads: 1 },
  },
  {
    ...{ shape: '110M', what: 'prompt', ours: ['qkv relaxed 1 thread', 'Q8_0'] },
    rivals: { host: 'browser', threads: 1 },
  },
  {
    ...{ shape: '110M', what: 'prompt', ours: ['qkv relaxed 1 thread', 'Q8_0'] },
    rivals: { host: 'browser', threads: 1, name: /^wllama 1/, format: 'Q8_0' },
  },
  {
    ...{ shape: '15M', what: 'decode', ours: ['qkv relaxed 1 thread', 'Q8_0'] },
    rivals: { host: 'browser', threads: 1 },
  },
  {
    ...{ shape: '110M', what: 'prompt', ours: ['qkv native 1 thread', 'F32'] },
    rivals: { host: 'node', threads: 1, format: 'F32' },
  },
  {
    ...{ shape: '110M', what: 'decode', ours: ['qkv native 1 thread', 'Q8_0'] },
    rivals: { host: 'node', threads: 1, format: 'Q8_0' },
  },
  {
    ...{ shape: '110M', what: 'decode', ours: ['qkv relaxed 2 threads', 'Q8_0'] },
    rivals: { name: /^qkv relaxed 1/, format: 'Q8_0' },
  },
];

/** Everybody whom a rule means, the fastest first: { name, format, ms }. */
function ranked(results, { shape, what, rivals, contestants }) {
  const { host, threads, format, name: pattern } = rivals;
  const list = results
    .filter((one) => one.shape === shape && (!format || one.format === format))
    .flatMap((one) =>
      Object.entries(one.times).map(([name, times]) => ({
        ...{ name, format: one.format, ms: times[what].median },
      })),
    )
    .filter(({ name }) => {
      if (pattern) return pattern.test(name);
      return (
        !isOurs(name) && contestants[name].host === host && contestants[name].threads === threads
      );
    });
  return list.sort((a, b) => a.ms - b.ms);
}

function ratios(results, contestants) {
  return compared.map(({ shape, what, ours: [name, format], rivals }) => {
    const own = results.find((one) => one.shape === shape && one.format === format)?.times[name];
    const [best] = ranked(results, { shape, what, rivals, contestants });
    const speed = best && digits(perSecond(what, best.ms));
    const rival = best ? `${best.name}, ${best.format}, ${speed} tokens/s` : 'no one measured';
    const ratio = own && best ? `**${(best.ms / own[what].median).toFixed(2)}x**` : 'not measured';
    return [`${shape}, ${names[what]}`, `${name}, ${format}`, rival, ratio];
  });
}

/** Who names which next token after the prompt, and how busy the machine was. */
function agreement({ shape, format, next, load }) {
  const groups = new Map();
  for (const [name, id] of Object.entries(next)) {
    groups.set(id, [...(groups.get(id) ?? []), name]);
  }
  const said = [...groups].map(([id, who]) => `${id} (${who.join(', ')})`);
  return `- ${shape} ${format}: ${said.join('; ')}; load average ${load[0].toFixed(1)}`;
}

export async function report(results, { versions, contestants, hosts }) {
  const command = ['node bench/bench_peers.js', ...process.argv.slice(2)].join(' ');
  const present = ['browser', 'node'].filter((host) =>
    results.some(({ times }) => Object.keys(times).some((name) => contestants[name].host === host)),
  );
  const failures = results.flatMap(({ shape, format, failed }) =>
    Object.entries(failed).map(([name, why]) => `- ${shape} ${format}, ${name}: ${quoted(why)}`),
  );
  return [
    '# Language models compared with other libraries',
    '',
    'Written by `npm run bench:peers -- models`; [how to read it](../README.md).',
    '',
    await circumstances({ command, hosts, versions }),
    '',
    `Tokens per second: **median** (fastest round). Decode: ${DECODED} tokens after ${BEFORE}.`,
    '',
    ...present.flatMap((host) => [
      `## ${host === 'browser' ? 'Chromium' : 'Native'}`,
      '',
      table(results, { contestants, host }),
      '',
    ]),
    '## Ratios',
    '',
    markdownTable(['what', 'ours', 'fastest rival', 'times as fast'], ratios(results, contestants)),
    '',
    'The next token after the prompt, by largest logit, and the load average (1 minute) behind each file:',
    '',
    ...results.map(agreement),
    '',
    ...(failures.length > 0
      ? ['Failures, with the message of each library:', '', ...failures, '']
      : []),
  ].join('\n');
}
