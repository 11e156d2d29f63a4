// How the page looks, against what is kept of how it looked: `npm run screenshots -- --baselines` accepts it.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { root } from '../support/js/files.js';
import { PATIENCE } from '../support/js/patience.js';
import { startSite } from './support/page.js';
import {
  differences,
  digest,
  photograph,
  pictureOf,
  readBaselines,
} from './support/photographs.js';

const folder = join(root, 'build/screenshots/moved');

test('every panel looks as it did', { timeout: 2 * PATIENCE.test }, async () => {
  rmSync(folder, { recursive: true, force: true });
  const wanted = readBaselines();
  const missing = new Set(Object.keys(wanted));
  const moved = [];
  const site = await startSite();
  try {
    const decoder = await site.browser.newPage();
    await photograph(site, async ({ name, png: first, again }) => {
      const before = wanted[name];
      missing.delete(name);
      const problemsOf = async (picture) =>
        before ? differences(before, await digest(decoder, picture)) : ['has no baseline'];
      let png = first;
      let problems = await problemsOf(png);
      // A busy machine may still be painting. Where many have moved, waiting for each would take too long.
      if (before && problems.length > 0 && moved.length < 20) {
        await setTimeout(3000);
        png = await again();
        problems = await problemsOf(png);
      }
      if (problems.length === 0) return;
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name}-after.png`), png);
      if (before) {
        writeFileSync(join(folder, `${name}-before.png`), await pictureOf(decoder, before));
      }
      moved.push(`${name}: ${problems.join('; ')}`);
    });
  } finally {
    await site.close();
  }
  moved.push(...[...missing].map((name) => `${name}: is not on the page any more`));
  const advice = `\nlook at ${folder}; npm run screenshots -- --baselines accepts what is there`;
  assert.deepEqual(moved, [], moved.join('\n') + advice);
});

test('what is kept tells pictures apart', () => {
  const wanted = readBaselines();
  for (const [name, kept] of Object.entries(wanted)) {
    assert.deepEqual(differences(kept, kept), []);
    const other = wanted[name.replace(/light|dark/, (t) => (t === 'light' ? 'dark' : 'light'))];
    assert.ok(differences(kept, other).length > 0, `${name} in the other theme`);
    // Text that moved by some lines is text: only pictures have to be told apart then.
    if (!/^(map|positions)-/.test(name)) continue;
    const { cols, blocks } = kept;
    const down = 4 * cols; // pushed down by 96 pixels
    const shifted = { ...kept, blocks: blocks.slice(-down) + blocks.slice(0, -down) };
    assert.ok(differences(kept, shifted).length > 0, `${name} pushed down`);
  }
});
