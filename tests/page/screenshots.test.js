// How the page looks, against the small pictures that are kept of how it looked: `npm run screenshots -- --baselines`
// accepts it. A new release of Chromium may draw otherwise, so it is the full run that looks.
import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { root } from '../support/js/files.js';
import { PATIENCE } from '../support/js/patience.js';
import { PICTURED, startSite } from './support/page.js';
import { looks, nameOf } from './support/panel.js';
import { differenceOf, keptNames, photograph } from './support/photographs.js';
import { pixelsOf, pngOf, readKept } from './support/photographs.js';

const suffixOf = ({ locale, colorScheme, width }) =>
  `-${locale.slice(0, 2)}-${colorScheme}-${width}`;

const moved = join(root, 'build/screenshots/moved');
let site;
let decoder;
before(async () => {
  rmSync(moved, { recursive: true, force: true });
  mkdirSync(moved, { recursive: true });
  site = await startSite(PICTURED);
  decoder = await site.browser.newPage();
});
after(() => site?.close());

const kept = (name) => pixelsOf(decoder, readKept(name), 1);

/** Puts both pictures and where they differ into build/screenshots/moved. */
function show(name, { png, before, where }) {
  const write = (what, bytes) => writeFileSync(join(moved, `${name}-${what}.png`), bytes);
  write('after', png);
  if (before) write('before', pngOf(before));
  if (where) write('difference', pngOf(where));
}

/** How often a picture that differs is taken again, 3 s later each time. */
const AGAIN = 3;

/**
 * What is wrong with a picture, in words; '' where nothing is. A picture that differs is taken again before it counts:
 * workers paint canvases, and nothing says when a canvas that is painted is on the screen.
 */
async function judge(known, { name, png: first, again }) {
  if (!known.has(name)) {
    show(name, { png: first });
    return `${name}: has no baseline`;
  }
  const before = await kept(name);
  if (!differenceOf(before, await pixelsOf(decoder, first))) return '';
  let [png, difference] = [first, null];
  for (let more = 0; more < AGAIN; ++more) {
    png = await again();
    difference = differenceOf(before, await pixelsOf(decoder, png));
    if (!difference) return '';
  }
  show(name, { png, before, where: difference.picture });
  return `${name}: ${difference.words}`;
}

describe('page: every panel looks as it did', { concurrency: true }, () => {
  for (const look of looks) {
    it(`page: looks as it did: ${nameOf(look)}`, { timeout: PATIENCE.test }, async () => {
      const known = new Set(keptNames().filter((name) => name.endsWith(suffixOf(look))));
      const problems = [];
      const seen = new Set();
      await photograph(site, look, async (picture) => {
        seen.add(picture.name);
        problems.push(await judge(known, picture));
      });
      const gone = [...known].filter((name) => !seen.has(name));
      const all = [...problems, ...gone.map((name) => `${name}: is not on the page any more`)];
      const wrong = all.filter(Boolean);
      const advice = `look at ${moved}; npm run screenshots -- --baselines accepts what is there`;
      assert.deepEqual(wrong, [], [...wrong, advice].join('\n'));
    });
  }
});

/** The picture moved down by `by` pixels of it, from the row `from` on. */
function pushed({ width, height, rgb }, from, by) {
  const row = 3 * width;
  const above = rgb.subarray(0, from * row);
  const below = rgb.subarray(from * row, (height - by) * row);
  return { width, height, rgb: Buffer.concat([above, Buffer.alloc(by * row, rgb[0]), below]) };
}

/** The picture with a patch of another colour. */
function patched({ width, height, rgb }, side) {
  const other = Buffer.from(rgb);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const at = 3 * ((y + (height >> 1)) * width + x + (width >> 1));
      other[at + 2] = other[at + 2] > 127 ? other[at + 2] - 60 : other[at + 2] + 60;
    }
  }
  return { width, height, rgb: other };
}

test('page: what is kept sees a step of 12 px, and another blue on 80 px squared', async () => {
  const names = keptNames();
  assert.ok(names.length > 40);
  for (const name of names) {
    const picture = await kept(name);
    assert.equal(differenceOf(picture, picture), null);
    assert.ok(differenceOf(picture, pushed(picture, 20, 3)), `${name} pushed down by 12 px`);
    assert.ok(differenceOf(picture, patched(picture, 20)), `${name} with another blue`);
  }
});

test('page: what is kept is small enough to be reviewed and cloned', () => {
  const sizes = keptNames().map((name) => readKept(name).length);
  const sum = sizes.reduce((a, b) => a + b, 0);
  assert.ok(sum <= 1_400_000 && Math.max(...sizes) <= 50_000, `${sum} bytes`);
});
