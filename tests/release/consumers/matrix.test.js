// The package as installed, in everybody's tools: each consumer builds a small project with its own defaults
// and runs it, in browsers or in a runtime of its own. A consumer is { name, entries, run(entry, browsers) }
// that resolves to [{ where, report }], one for each place it ran in (with an `entry` if it was asked for
// several at once). `bare` says that it needs none of the tools, `missing()` why it cannot be had.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { forgotten } from './examples.js';
import { startBrowsers } from './matrix/browsers.js';
import { bundlers } from './matrix/bundlers.js';
import { nexts } from './matrix/next.js';
import { pages } from './matrix/pages.js';
import { runners } from './matrix/runners.js';
import { runtimes } from './matrix/runtimes.js';
import { installTools, packPackage } from './matrix/workshop.js';

const consumers = [...pages, ...bundlers, ...nexts, ...runtimes, ...runners];

// The last block of wasm/docs/worked-example.md.
const expected = {
  weights: [1, 0, 0, 0.4753, 0.5247, 0, 0.283, 0.3307, 0.3863],
  output: [1.3, 1.4, 1.4049, 1.5049, 1.5207, 1.6207],
};

/** What is wrong with a report, or nothing. */
function complaintOf({ error, variant, threads, ...numbers }, wanted) {
  if (error !== undefined) return error;
  const suffix = wanted > 1 ? '-threads' : '';
  const possible = [`simd${suffix}`, `relaxed${suffix}`].includes(variant);
  if (!possible || threads !== wanted) return `${variant}, ${threads} threads`;
  for (const [name, values] of Object.entries(expected)) {
    const actual = numbers[name];
    const same = values.every((value, i) => Math.abs(actual[i] - value) <= 5e-5);
    if (actual.length !== values.length || !same) return `${name}: ${actual.join(' ')}`;
  }
  return undefined;
}

const rows = [];
const skips = [];
let browsers;
let unavailable;
before(async () => {
  unavailable = await installTools();
  await packPackage();
  browsers = await startBrowsers();
});
after(async () => {
  await browsers?.close();
  const header = ['consumer', 'imports', 'runs in', 'variant', 'threads', 'result', 'seconds'];
  const widths = header.map((name, i) =>
    Math.max(...[header, ...rows].map((row) => row[i].length)),
  );
  for (const row of [header, ...rows]) {
    console.log(`| ${row.map((cell, i) => cell.padEnd(widths[i])).join(' | ')} |`);
  }
  for (const skip of skips) console.log(`| SKIPPED ${skip}`);
});

test('there are two browsers', (t) => {
  if (browsers.missing.length === 0) return;
  skips.push(`${browsers.missing.join(', ')}: not on this machine`);
  t.skip(`no ${browsers.missing.join(', ')}`);
});

for (const { name, entries, threads: wanted = 1, bare = false, missing, run } of consumers) {
  for (const entry of entries) {
    test(`${name}: ${entry}`, async (t) => {
      const reason = (bare ? undefined : unavailable) ?? missing?.();
      if (reason !== undefined) {
        skips.push(`${name}: ${entry}: ${reason}`);
        t.skip(reason);
        return;
      }
      // Where Vite has run it says development, which other tools then believe.
      delete process.env.NODE_ENV;
      const start = performance.now();
      const ran = await run(entry, browsers).catch((error) => [
        { where: 'nowhere', report: { error: error.message } },
      ]);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const complaints = ran.map(({ report }) => complaintOf(report, wanted));
      ran.forEach(({ where, report, entry: imports = entry }, i) => {
        const { variant = '-', threads = '-' } = report;
        const result = complaints[i] === undefined ? 'ok' : 'FAILED';
        rows.push([name, imports, where, variant, String(threads), result, i ? '' : seconds]);
      });
      assert.ok(ran.length > 0);
      const failed = ran.map(({ where }, i) => complaints[i] && `${where}: ${complaints[i]}`);
      assert.deepEqual(failed.filter(Boolean), []);
    });
  }
}

test('every block of the guide was followed', (t) => {
  if (unavailable) t.skip(unavailable);
  else assert.deepEqual(forgotten(), []);
});
