// Results as text: tables for the terminal and for Markdown, and the description of the machine that
// every result carries.
import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import { run } from '../tools/run.js';

/** Three digits that count, in milliseconds. */
export function milliseconds(ms) {
  if (ms >= 100) return ms.toFixed(0);
  if (ms >= 1) return ms.toPrecision(3);
  return ms >= 0.1 ? ms.toFixed(3) : ms.toPrecision(2);
}

/** Of a case, or of one way to do it that has fewer operations. */
export const gflops = ({ flops }, { median, flops: fewer = flops }) => fewer / median / 1e6;
const gigabytes = (entry, ms) => entry.bytes / ms / 1e6;

/** Lines of a table with columns as wide as they need; the first column reads from the left. */
export function textTable(head, rows) {
  const widths = head.map((title, i) =>
    Math.max(title.length, ...rows.map((row) => row[i].length)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export const markdownTable = (head, rows) =>
  [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n');

/** The words of another library as code, so that no sign in them is taken for Markdown. */
export const quoted = (words) => `\`${words.replaceAll('`', "'").replaceAll('|', '/')}\``;

/** The numbers of the kernel's version, without what a distributor appends to them. */
const kernel = () => /^[\d.]*\d/.exec(release())?.[0] ?? '';

/** Where and on what results came about, as lines of Markdown. */
export async function circumstances({ command, hosts, versions = {} }) {
  const commit = await run('git', ['describe', '--always', '--dirty']);
  const [cpu] = cpus();
  const load = loadavg()
    .map((x) => x.toFixed(1))
    .join(', ');
  return [
    `- machine: ${cpu?.model ?? 'unknown processor'}, ${cpus().length} cores, ` +
      `${(totalmem() / 2 ** 30).toFixed(0)} GiB; ${platform()} ${kernel()}`,
    `- load averages at the end (1, 5, 15 minutes): ${load}`,
    `- hosts: ${hosts.join('; ')}`,
    ...Object.entries(versions).map(([name, version]) => `- ${name} ${version}`),
    `- commit ${commit.stdout.trim()}, ${new Date().toISOString().slice(0, 16)}Z`,
    `- command: \`${command}\``,
  ].join('\n');
}

/** One line for each contestant of a case. */
export function caseRows(entry, { times, failed, peaks }) {
  const rows = Object.entries(times).map(([name, time]) => {
    const { median, quartiles, way, note } = time;
    const [variant] = name.split(': ');
    const rate = gflops(entry, time);
    const roof = peaks[variant];
    return [
      entry.name,
      name,
      milliseconds(median),
      quartiles.map(milliseconds).join(' - '),
      rate > 0 ? rate.toFixed(1) : '',
      rate > 0 && roof ? `${((100 * rate) / roof).toFixed(0)} %` : '',
      (entry.bytes / 1e6).toPrecision(3),
      gigabytes(entry, median).toPrecision(3),
      [name.includes(': ') ? '' : way, note].filter(Boolean).join('; '),
    ];
  });
  for (const [name, why] of Object.entries(failed)) {
    rows.push([entry.name, name, 'fails', '', '', '', '', '', quoted(why)]);
  }
  return rows;
}

export const caseHead = [
  'case',
  'who',
  'median ms',
  'quartiles',
  'GFLOP/s',
  'of peak',
  'MB',
  'GB/s',
  'how',
];

/** [what, median] of the plain JavaScript that a case is held against. */
const yardsticks = (result) =>
  Object.entries(result?.times ?? {})
    .filter(([name]) => name.startsWith('plain: '))
    .map(([, { way, median }]) => [way, median]);

/** What follows from a table of results, { case name: result of runCase }, for one contestant. */
export function derived(results, who) {
  const lines = [];
  const median = (name, contestant = who) => results[name]?.times?.[contestant]?.median;
  const ratio = (a, b) => (a / b).toPrecision(3);

  const [short, long] = [median('sdpa one head T4096'), median('sdpa one head T65536')];
  if (short && long) {
    const growth = (65536 / 4096) ** 2;
    lines.push(
      `One head, d 64, causal: T 65536 takes ${ratio(long, short)} times as long as T 4096; ` +
        `T squared grows by ${growth}, so time / T^2 changes by a factor of ` +
        `${ratio(long / short, growth)} (${results['sdpa one head T65536'].times[who].note}).`,
    );
  }
  const extras = results['extras H12 T1024 d64']?.times;
  const plainCall = extras?.[`${who}: nothing`]?.median;
  if (plainCall) {
    for (const [name, { median: time, way }] of Object.entries(extras)) {
      if (!name.startsWith(`${who}: `) || way === 'nothing') continue;
      lines.push(
        `Asking for ${way} too, H 12 T 1024 d 64: ${ratio(time, plainCall)} times the call without.`,
      );
    }
  }
  const row = results['weights row T16384']?.times;
  const full = row?.[`${who}: full call`]?.median;
  if (full) {
    const one = row[`${who}: one query and its weights`].median;
    const more = row[`${who}: full call and weights of one row`].median;
    lines.push(
      `One query and its weights at T 16384: ${((100 * one) / full).toPrecision(2)} % of the full ` +
        `call; the full call with the weights of one row: ${ratio(more, full)} times the full call.`,
    );
  }
  const table = median('sinusoidal 4096x1024');
  for (const [loop, time] of yardsticks(results['sinusoidal 4096x1024'])) {
    if (!table) continue;
    lines.push(`Sinusoidal encoding, 4096 x 1024: ${ratio(time, table)} times as fast as ${loop}.`);
  }
  for (const [name, result] of Object.entries(results)) {
    if (!/^(rotary|layernorm|rmsnorm)/.test(name)) continue;
    for (const [copy, time] of yardsticks(result)) {
      const ours = median(name);
      if (ours) lines.push(`${name}: ${ratio(ours, time)} times the time of ${copy}.`);
    }
  }
  return lines;
}
