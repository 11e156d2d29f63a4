// Runs suites side by side and says what came of them. A suite is what tools/suites.js says it is.
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root } from './environment.js';
import { runInLanes } from './lanes.js';

const start = performance.now();
const now = () => (performance.now() - start) / 1000;
const indented = (text) => text.replace(/^/gm, '    ');
const last = (text, lines) => text.trimEnd().split('\n').slice(-lines).join('\n');

/** What a suite has found so far. */
const emptyResult = (suite) => ({
  ...{
    name: suite.name,
    group: suite.group,
    of: suite.of ?? suite.name,
    parts: suite.parts.length,
  },
  ...{ tests: [], skips: [], notes: [], failures: [], work: 0, from: undefined, to: 0 },
  times: {},
});

function add(result, part, { tests, note, skipped, hung, output = '' }) {
  result.tests.push(...tests);
  if (skipped) result.skips.push(`${part.title}: ${skipped}`);
  for (const test of tests.filter((t) => t.ok && t.skipped)) {
    result.skips.push(`${test.name}${test.reason ? `: ${test.reason}` : ''}`);
  }
  if (note) result.notes.push(note);
  const bad = tests.filter(({ ok }) => !ok);
  if (hung)
    result.failures.push({ part: part.title, name: `hung: ${hung}`, said: last(output, 40) });
  for (const { name, said } of bad) {
    result.failures.push({ part: part.title, name, said: last(said || output, 80) });
  }
}

const counts = ({ tests, skips, failures }) => ({
  passed: tests.filter(({ ok, skipped }) => ok && !skipped).length,
  failed: failures.length,
  skipped: skips.length,
});

/** Skips that nobody allowed, by the name of the suite or by how the skip begins, are failures where the caller says so. */
function judgeSkips({ name, skips, failures }, { noSkips, allowed }) {
  if (!noSkips || allowed.includes(name)) return;
  for (const skip of skips.filter((said) => !allowed.some((start) => said.startsWith(start))))
    failures.push({ part: '', name: `skipped: ${skip}`, said: '' });
}

function tell(result) {
  const { passed, failed, skipped } = counts(result);
  const numbers = [
    `${passed} passed`,
    `${failed} failed`,
    ...(skipped ? [`${skipped} SKIPPED`] : []),
  ];
  const said = [...result.notes, ...result.skips];
  const note = said.length > 0 ? ` (${said.slice(0, 3).join('; ')})` : '';
  const span = result.to - (result.from ?? result.to);
  console.log(`${result.name}: ${numbers.join(', ')}, ${span.toFixed(1)} s${note}`);
  for (const { part, name, said: text } of result.failures) {
    console.log(
      indented(
        `FAILED ${name}${part && part !== result.name ? ` [${part}]` : ''}\n${indented(text)}`,
      ),
    );
  }
}

/** The parts of a suite as jobs, which share a result. */
function jobsOf(suite, result, options) {
  let left = suite.parts.length;
  const done = () => {
    if (--left > 0) return;
    judgeSkips(result, options);
    tell(result);
  };
  return suite.parts.map((part, i) => ({
    id: `${suite.name} #${i}`,
    after: options.expand(suite.needs ?? []),
    alone: suite.alone || part.alone,
    suite: result,
    fail(why) {
      result.failures.push({ part: part.title, name: why, said: '' });
      done();
    },
    async run() {
      const began = now();
      result.from ??= began;
      let found;
      try {
        found = await part.run();
      } catch (error) {
        const said = error.stack ?? String(error);
        found = { tests: [{ name: part.title, ok: false, skipped: false, said }] };
      }
      result.to = now();
      result.work += result.to - began;
      result.times[part.title] = Number((result.to - began).toFixed(1));
      add(result, part, found);
      done();
      return true;
    },
  }));
}

/** Builds as jobs: those that others need to have ended well. */
const buildJob = ({ id, after, run }, record) => ({
  id,
  after,
  async run() {
    const from = now();
    try {
      const note = await run();
      record.push({ id, from, to: now() });
      console.log(`build ${id}: ${(now() - from).toFixed(1)} s${note ? ` (${note})` : ''}`);
      return true;
    } catch (error) {
      record.push({ id, from, to: now(), error: String(error.message ?? error) });
      console.log(`build ${id}: FAILED\n${indented(last(String(error.message ?? error), 80))}`);
      return false;
    }
  },
});

function summarise(results, builds) {
  const rows = [
    ...builds.map(({ id, from, to, error }) => ({
      ...{ name: `build ${id}`, cells: ['', error ? 1 : '', ''], from, to, work: to - from },
    })),
    ...results.map((result) => {
      const { passed, failed, skipped } = counts(result);
      return { name: result.name, cells: [passed, failed, skipped || ''], ...result };
    }),
  ];
  const width = Math.max(...rows.map(({ name }) => name.length));
  const pad = (cells) => cells.map((cell) => String(cell).padStart(7)).join(' ');
  console.log(
    `\n${'what ran'.padEnd(width)}${pad(['passed', 'failed', 'skipped', 'from, s', 'to, s', 'work, s'])}`,
  );
  for (const { name, cells, from = 0, to, work } of rows) {
    console.log(
      `${name.padEnd(width)}${pad([...cells, from.toFixed(0), to.toFixed(0), work.toFixed(0)])}`,
    );
  }
  const failures = results.flatMap(({ name, failures: list }) =>
    list.map((one) => ({ ...one, suite: name })),
  );
  if (failures.length > 0) console.log('\nfailed');
  for (const { suite, name } of failures) console.log(indented(`${suite}: ${name}`));
}

/**
 * Runs builds and suites in one lane more than there are processors, sums them up and keeps the sum in build/reports; resolves
 * to whether all went well.
 */
export async function report(suites, builds, options) {
  const results = suites.map(emptyResult);
  const record = [];
  // A suite may need another one, which means all of its parts.
  const partsOf = new Map(
    suites.map(({ name, parts }) => [name, parts.map((_, i) => `${name} #${i}`)]),
  );
  const isBuild = (name) => builds.some(({ id }) => id === name);
  const expand = (names) =>
    names.flatMap((name) => (isBuild(name) ? [name] : (partsOf.get(name) ?? [name])));
  const jobs = [
    ...builds.map((build) => buildJob(build, record)),
    ...suites.flatMap((suite, i) => jobsOf(suite, results[i], { ...options, expand })),
  ];
  // One more than there are processors: tests of pages and workers wait for most of their time. Two more gained nothing.
  const lanes = Number(process.env.QKV_LANES ?? availableParallelism() + 1);
  await runInLanes(jobs, lanes, { give: (job, why) => job.fail?.(why) });
  summarise(results, record);
  const sum = (key) => results.reduce((n, result) => n + counts(result)[key], 0);
  const distinct = new Set(
    results.flatMap(({ of, tests }) =>
      tests.filter((t) => t.ok && !t.skipped).map((t) => `${of}: ${t.name}`),
    ),
  );
  const broken = record.filter(({ error }) => error).length;
  const total = { passed: sum('passed'), failed: sum('failed') + broken, skipped: sum('skipped') };
  const folder = join(root, 'build/reports');
  mkdirSync(folder, { recursive: true });
  const kept = {
    seconds: now(),
    ...total,
    distinct: distinct.size,
    builds: record,
    suites: results,
  };
  writeFileSync(join(folder, 'summary.json'), JSON.stringify(kept, null, 1));
  console.log(
    `\n${distinct.size} distinct tests in ${total.passed} runs, ${now().toFixed(0)} s in ${lanes} lanes`,
  );
  const { passed, failed, skipped } = total;
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
  return failed === 0 && passed > 0;
}
