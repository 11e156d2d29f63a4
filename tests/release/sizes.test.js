// The sizes that the documents print are those of the files.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  between,
  downloads,
  downloadsTable,
  measure,
  sizesGuide,
  tarballSize,
  withSizes,
} from '../../tools/sizes.js';
import { text } from '../support/js/files.js';
import { full, leaveToFullRun } from '../support/js/full.js';

const [sizes, tarball] = [measure({ brotli: full }), await tarballSize()];
if (!full) leaveToFullRun('sizes with Brotli');

/** Off by half a kB is rounding, by another half or a hundredth is another compiler's doing. */
const tolerance = (bytes) => Math.max(1000, 500 + bytes / 100);

/** The numbers of a table that do not fit the files, in words. */
function stale(markdown) {
  const rows = between(markdown).table.matchAll(/^\| `?(.*?)`? \| (.*) \|$/gm);
  const printed = [...rows].slice(2).map(([, name, cells]) => [name, cells.split(' | ')]);
  const actual = [...Object.entries(sizes), [printed.at(-1)[0], ['', tarball, '']]];
  assert.deepEqual(
    printed.map(([name]) => name),
    actual.map(([name]) => name),
  );
  return actual.flatMap(([name, all], i) =>
    all.flatMap((bytes, column) => {
      if (bytes === undefined) return []; // not measured
      const cell = printed[i][1][column].trim();
      const fits =
        bytes === '' ? cell === '' : Math.abs(Number(cell) * 1000 - bytes) <= tolerance(bytes);
      return fits && (bytes === '' || cell !== '') ? [] : `${name}: ${cell} kB, is ${bytes}`;
    }),
  );
}

test(`sizes: ${sizesGuide} prints the sizes of the files (npm run sizes)`, () =>
  assert.deepEqual(stale(text(sizesGuide)), []));

test(`sizes: ${sizesGuide} written anew keeps all but its table`, () => {
  const guide = text(sizesGuide);
  const [old, anew] = [guide, withSizes(guide, sizes, tarball)].map(between);
  assert.deepEqual([anew.before, anew.after], [old.before, old.after]);
});

/** What a program loads at most, in kB of gzip. */
const most = Object.fromEntries(
  Object.entries(downloads(sizes)).map(([entry, bytes]) => [entry, bytes / 1000]),
);

/** Of "at most" so many kB none is exceeded, with threads either, and none is far off. */
function fits(printed, actual) {
  assert.equal(printed.length, actual.length);
  printed.forEach((kB, i) =>
    assert.ok(actual[i] <= kB && kB <= 1.06 * actual[i], `at most ${kB} kB, is ${actual[i]}`),
  );
}

for (const path of ['README.md', 'README.zh-CN.md']) {
  test(`sizes: ${path} says what is downloaded`, () => {
    const said = /`qkv` (\d+) kB\D+`qkv\/models` (\d+) kB\D+`qkv\/train` (\d+) kB/;
    const [, ...printed] = said.exec(text(path));
    fits(printed, [most.qkv, most['qkv/models'], most['qkv/train']]);
  });
}

for (const path of ['wasm/docs/comparison.md', 'wasm/docs/comparison.zh-CN.md']) {
  test(`sizes: ${path} says it beside others`, () => {
    const rows = /^\| .*gzip \| \D*(\d+) kB\D+`qkv\/train` (\d+) kB \|/gm;
    const printed = [...text(path).matchAll(rows)].flatMap(([, ...kB]) => kB);
    fits(printed, [most.qkv, most['qkv/train'], most['qkv/models'], most['qkv/train']]);
  });
}

/** A script of dist/ and all scripts that its imports bring along. */
function withImports(name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const [, other] of text(`dist/${name}`).matchAll(/\bfrom ?"\.\/([\w-]+\.js)"/g)) {
    withImports(other, found);
  }
  return found;
}

test('bundlers: the files to copy for workers and threads, and those of a download, are all that are imported', () => {
  const guide = text('wasm/docs/bundlers.md');
  const rows = [...guide.matchAll(/^\| .* \| (`[\w-]+\.js`(?:, `[\w-]+\.js`)*) \|$/gm)];
  const lists = rows.map(([, list]) => list.replaceAll('`', '').split(', '));
  assert.deepEqual(
    lists.map(([script]) => script),
    ['thread.js', 'worker-host.js', 'models-host.js', 'train-host.js'],
  );
  for (const list of lists) assert.deepEqual([...list].sort(), [...withImports(list[0])].sort());
  const [, first] = /^\| download \| (.*), then one \.wasm file \|/m.exec(guide);
  const loaded = Array.from(first.matchAll(/`([\w-]+\.js)`/g), ([, name]) => name);
  assert.deepEqual(loaded.sort(), [...withImports('index.js')].sort());
});

test('sizes: the notes of a version say what a program of each entry downloads', () => {
  const table = downloadsTable(sizes, tarball);
  for (const [entry, kB] of Object.entries(most)) {
    assert.ok(table.includes(`| \`${entry}\` | ${Math.ceil(kB)} |`), table);
  }
  assert.ok(table.endsWith(`| the npm tarball | ${Math.round(tarball / 1000)} |`), table);
});
