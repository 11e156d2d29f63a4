// The results of bench.js as Markdown: a table for each host, and ratios.
import { circumstances, markdownTable, quoted } from '../report.js';
import { pairedRatio, ratioCell, separateRatio } from '../ratios.js';
import { DECODED, PROMPT, decodeAfter, shapes } from './shapes.js';

const hostNames = { browser: 'Chromium', node: 'Native' };

/** What was timed of a shape, in the order of columns. */
const whatOf = (shape) => ['prompt', ...shapes[shape].contexts.map(decodeAfter)];
const titleOf = (what) =>
  what === 'prompt' ? `prompt of ${PROMPT}` : `decode after ${what.split(' ').at(-1)}`;
const perSecond = (what, ms) => (1000 * (what === 'prompt' ? PROMPT : DECODED)) / ms;
const digits = (x) => (x >= 100 ? x.toFixed(0) : x.toPrecision(3));

/** Tokens per second: the median, and the fastest of all rounds. */
const cell = (what, time) =>
  time
    ? `**${digits(perSecond(what, time.median))}** (${digits(perSecond(what, time.fastest))})`
    : '–';

export const isOurs = (name) => name.startsWith('qkv');

/** Everybody's speeds with the files of one shape. */
function table(results, { contestants, host, shape }) {
  const who = Object.keys(contestants).filter((name) => contestants[name].host === host);
  const files = results.filter((one) => one.shape === shape);
  const rows = files.flatMap(({ format, times, peaks }) =>
    who
      .filter((name) => times[name])
      .map((name) => [
        ...[format, name],
        ...whatOf(shape).map((what) => cell(what, times[name][what])),
        peaks[name] ? (peaks[name] / 2 ** 20).toFixed(0) : '–',
      ]),
  );
  if (rows.length === 0) return [];
  const head = ['weights', 'who', ...whatOf(shape).map(titleOf), 'peak MiB'];
  return [`### ${shape}`, '', markdownTable(head, rows), ''];
}

/** Contestants that are compared with one of ours: of the same host, with as many threads. */
const rivalsOf = (ours, contestants) =>
  Object.keys(contestants).filter(
    (name) =>
      !isOurs(name) &&
      contestants[name].host === contestants[ours].host &&
      contestants[name].threads === contestants[ours].threads,
  );

/** The fastest of these contestants in these files by median: { name, format, time }; undefined if nobody was timed. */
function fastest(files, names, what) {
  const all = files.flatMap(({ format, times }) =>
    names
      .filter((name) => times[name]?.[what])
      .map((name) => ({ name, format, time: times[name][what] })),
  );
  return all.sort((a, b) => a.time.median - b.time.median)[0];
}

/**
 * For each file, thing that was timed, and contestant of ours: the fastest rival in the same format, whose rounds are pairs with
 * ours, and the fastest in any format, each with its ratio.
 */
export function ratiosOf(results, contestants) {
  return results.flatMap((file) =>
    Object.keys(file.times)
      .filter(isOurs)
      .flatMap((ours) =>
        whatOf(file.shape).flatMap((what) => {
          const own = file.times[ours][what];
          if (!own) return [];
          const rivals = rivalsOf(ours, contestants);
          const files = results.filter(({ shape }) => shape === file.shape);
          const compared = (best) => {
            if (!best) return undefined;
            const [mine, theirs] = [own.rounds, best.time.rounds];
            if (best.format !== file.format) return { ...best, ...separateRatio(mine, theirs) };
            // One of them may have had fewer rounds.
            const pairs = Math.min(mine.length, theirs.length);
            return { ...best, ...pairedRatio(mine.slice(0, pairs), theirs.slice(0, pairs)) };
          };
          return {
            ...{ shape: file.shape, format: file.format, what, ours, own },
            same: compared(fastest([file], rivals, what)),
            any: compared(fastest(files, rivals, what)),
          };
        }),
      ),
  );
}

function ratioRows(results, { contestants, host }) {
  const cell = (what, rival, words) =>
    rival ? `${ratioCell(rival)}<br>${words}, ${digits(perSecond(what, rival.time.median))}` : '–';
  return ratiosOf(results, contestants)
    .filter(({ ours }) => contestants[ours].host === host)
    .map(({ shape, format, what, ours, own, same, any }) => [
      ...[`${shape}, ${format}`, titleOf(what), ours, digits(perSecond(what, own.median))],
      cell(what, same, same?.name),
      cell(what, any, `${any?.name}, ${any?.format}`),
    ]);
}

/** What two threads gain over one: rounds of different groups. */
function threadRows(results, { contestants, host }) {
  return results.flatMap(({ shape, format, times }) =>
    Object.keys(times)
      .filter((name) => contestants[name].host === host && contestants[name].threads > 1)
      .flatMap((name) => {
        const one = times[name.replace(/\d+ threads$/, '1 thread')];
        if (!one) return [];
        const both = whatOf(shape).filter((what) => times[name][what] && one[what]);
        const cells = both.map((what) => {
          const { ratio, interval } = separateRatio(times[name][what].rounds, one[what].rounds);
          const range = interval.map((x) => x.toFixed(2)).join('–');
          return `${titleOf(what)} **${ratio.toFixed(2)}x** (${range})`;
        });
        return [[`${shape}, ${format}`, name, cells.join('<br>')]];
      }),
  );
}

/** How contestants computed a file, and what share of decoding is copies of the cache. */
const methods = ({ shape, format, about = {} }) =>
  Object.entries(about).map(([name, words]) => `- ${shape} ${format}, ${name}: ${words}`);

/** Who was timed in fewer rounds than others, and who was not timed because it is slow. */
function slowOnes({ shape, format, times, left = {} }) {
  const most = Math.max(...Object.values(times).flatMap((of) => Object.values(of).map(({ rounds }) => rounds.length))); // prettier-ignore
  const seconds = (ms) => `${(ms / 1000).toFixed(0)} s`;
  return Object.entries(times).flatMap(([name, ofWhat]) => {
    const fewer = Object.entries(ofWhat)
      .filter(([, { rounds }]) => rounds.length < most)
      .map(([what, { rounds, median }]) => `${titleOf(what)} in ${rounds.length} of ${most} rounds of ${seconds(median)}`); // prettier-ignore
    const none = (left[name] ?? []).map(({ context, fill }) => `not after ${context} tokens, which it would read in ${seconds(fill)}`); // prettier-ignore
    const all = [...fewer, ...none];
    return all.length > 0 ? [`- ${shape} ${format}, ${name}: ${all.join('; ')}`] : [];
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
  const slow = results.flatMap(slowOnes);
  return [
    '# Language models compared with other libraries',
    '',
    'Written by `npm run bench:peers -- models`; [how to read it](../README.md).',
    '',
    await circumstances({ command, hosts, versions }),
    '',
    `Tokens per second: **median** (fastest round). Decode: ${DECODED} tokens after as many as the column says.`,
    '',
    ...present.flatMap((host) => [
      `## ${hostNames[host]}`,
      '',
      ...Object.keys(shapes).flatMap((shape) => table(results, { contestants, host, shape })),
      `### Ratios, ${hostNames[host]}`,
      '',
      'All files and all that was timed: how many times as fast as the fastest rival with as many threads, with 95 % ' +
        'intervals; with the same format over rounds in turns, with any over medians.',
      '',
      markdownTable(
        ['file', 'what', 'ours', 'tokens/s', 'fastest rival, same format', 'fastest, any format'],
        ratioRows(results, { contestants, host }),
      ),
      '',
      markdownTable(
        ['file', 'who', 'times as fast as with one thread'],
        threadRows(results, { contestants, host }),
      ),
      '',
    ]),
    'How a format was computed, where there are several ways:',
    '',
    ...results.flatMap(methods),
    '',
    'The next token after the prompt, by largest logit, and the load average (1 minute) behind each file:',
    '',
    ...results.map(agreement),
    '',
    ...(slow.length > 0 ? ['Timed in fewer rounds, or not timed, because they are slow:', '', ...slow, ''] : []), // prettier-ignore
    ...(failures.length > 0
      ? ['Failures, with the message of each library:', '', ...failures, '']
      : []),
  ].join('\n');
}
