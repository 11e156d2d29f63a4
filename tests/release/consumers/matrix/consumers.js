// All consumers, and the table of what ran where: build/reports/consumers.md of every run, with seconds, and
// tests/release/consumers/results.md, which is for readers and written by a full run with QKV_REFRESH=1.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../../support/js/files.js';
import { full } from '../../../support/js/full.js';
import { bundlers } from './bundlers.js';
import { nexts } from './next.js';
import { pages } from './pages.js';
import { runners } from './runners.js';
import { runtimes } from './runtimes.js';

export const consumers = [...pages, ...bundlers, ...nexts, ...runtimes, ...runners];

/** Whether this run writes results.md. */
export const refresh = full && process.env.QKV_REFRESH === '1';

const report = join(root, 'build/reports/consumers.md');
const committed = join(root, 'tests/release/consumers/results.md');

const introduction = `# Where the package was tried

Each row is a small project with the defaults of its tool, which a test builds and runs; in brackets is the build of
the package that it loaded, and how many threads. A full run writes this file
(\`QKV_FULL=1 QKV_REFRESH=1 node --test tests/release/consumers/matrix.test.js\`).
`;

const line = (cells) => `| ${cells.join(' | ')} |`;
const table = (header, rows) =>
  [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');

/** "Chromium 130 (relaxed)", or with threads "(relaxed-threads, 2)". */
function placeOf({ where, report: { variant = 'failed', threads = 1 } }) {
  return `${where} (${variant}${threads > 1 ? `, ${threads}` : ''})`;
}

/** The rows of a run. */
export class Results {
  #rows = [];

  add({ name, entry, ran, seconds, failed }) {
    const places = ran.map(placeOf).join(', ');
    this.#rows.push([name, entry, places, failed ? 'FAILED' : 'ok', seconds.toFixed(1)]);
  }

  write() {
    const rows = this.#rows;
    mkdirSync(dirname(report), { recursive: true });
    const header = ['consumer', 'imports', 'ran in'];
    writeFileSync(report, `${table([...header, 'result', 'seconds'], rows)}\n`);
    if (!refresh || rows.some(([, , , result]) => result !== 'ok')) return;
    const short = rows.map((row) => row.slice(0, 3));
    writeFileSync(committed, `${introduction}\n${table(header, short)}\n`);
  }

  /** Consumers that results.md lacks, and lines of it that are of none. */
  static stale() {
    const known = readFileSync(committed, 'utf8')
      .split('\n')
      .filter((text) => text.startsWith('| '))
      .slice(2)
      .map((text) => text.split(' | ', 2).join(' | '));
    const are = consumers.flatMap(({ name, entries }) => entries.map((e) => `| ${name} | ${e}`));
    const lacks = (some, others) => some.filter((each) => !others.includes(each));
    return [...lacks(are, known), ...lacks(known, are)];
  }
}
