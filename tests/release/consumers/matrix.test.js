// The package as installed, in everybody's tools: each consumer builds a small project with its own defaults
// and runs it, in browsers or in a runtime of its own. What ran where is written to build/reports/consumers.md.
//
// A consumer is { name, entries, run(entry, browsers) } that resolves to [{ where, report }], one for each place it
// ran in: with an `engine` if `where` is not one, and with an `entry` if it was asked for several at once. `everyday`
// are the entries that every run tries, the full run (QKV_FULL=1) tries all. `variant` is said where it is not the
// engine's best. In a `quiet` one the browser has nothing to complain about. `needs` is a package of the tools that
// their lock file may lack for this platform.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { isLocked } from '../tools.js';
import { forgotten } from './examples.js';
import { startBrowsers } from './matrix/browsers.js';
import { consumers, refresh, Results } from './matrix/consumers.js';
import { variantOf } from './matrix/variants.js';
import { packPackage } from './matrix/workshop.js';

// The last block of wasm/docs/worked-example.md.
const expected = {
  weights: [1, 0, 0, 0.4753, 0.5247, 0, 0.283, 0.3307, 0.3863],
  output: [1.3, 1.4, 1.4049, 1.5049, 1.5207, 1.6207],
};

/** What is wrong with what a place reports, or nothing. */
function complaintOf(place, { threads = 1, variant, quiet }) {
  const { where, engine = where, report, complaints = [] } = place;
  const { error, ...said } = report;
  if (error !== undefined) return `${where}: ${error}`;
  if (quiet && complaints.length > 0) return `${where}: ${complaints.join('; ')}`;
  const should = variant ?? variantOf(engine, threads);
  if (said.variant !== should || said.threads !== threads) {
    return `${where}: ${said.variant}, ${said.threads} threads; not ${should}, ${threads}`;
  }
  for (const [name, values] of Object.entries(expected)) {
    const actual = said[name];
    const same = values.every((value, i) => Math.abs(actual[i] - value) <= 5e-5);
    if (actual.length !== values.length || !same) return `${where}: ${name} ${actual.join(' ')}`;
  }
  return undefined;
}

const results = new Results();
let browsers;
before(async () => {
  await packPackage();
  browsers = await startBrowsers();
});
after(async () => {
  await browsers?.close();
  results.write();
});

test('consumers: there are two browsers', (t) => {
  if (browsers.missing.length > 0) t.skip(`no ${browsers.missing.join(', ')}`);
});

for (const consumer of consumers) {
  const { name, entries, everyday = [], needs, run } = consumer;
  if (needs !== undefined && !isLocked(needs)) {
    console.log(`not on this platform: ${name}, as tests/release/tools has no ${needs}`);
    continue;
  }
  for (const entry of full ? entries : everyday) {
    test(`consumers: ${name}: ${entry}`, async () => {
      // Where Vite has run it says development, which other tools then believe.
      delete process.env.NODE_ENV;
      const start = performance.now();
      const ran = await run(entry, browsers).catch((error) => [
        { where: 'nowhere', report: { error: error.message } },
      ]);
      const seconds = (performance.now() - start) / 1000;
      const complaints = ran.map((place) => complaintOf(place, consumer)).filter(Boolean);
      results.add({ name, entry, ran, seconds, failed: complaints.length > 0 });
      assert.ok(ran.length > 0);
      assert.deepEqual(complaints, []);
    });
  }
}

if (full) {
  test('consumers: every block of the guide was followed', () => assert.deepEqual(forgotten(), []));
} else {
  const count = (key) => consumers.flatMap((consumer) => consumer[key] ?? []).length;
  leaveToFullRun(`${count('entries') - count('everyday')} of ${count('entries')} consumers`);
}

if (!refresh) {
  test('consumers: results.md has these (QKV_FULL=1 QKV_REFRESH=1 writes it)', () =>
    assert.deepEqual(Results.stale(), []));
}
