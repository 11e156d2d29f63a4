// @build any
// The README and the comparison in two languages: what needs no translation must be the same in both, and every link of them
// leads to a file. That the code of the README runs is tested in tests/release/consumers.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { tarball } from '../../../tools/shipped.js';
import { operators, otherMethods } from '../../../wasm/bindings/schema.js';
import { root, text } from '../../support/js/files.js';

const fence = /^```.*?^```$/gms;
const matches = (from, pattern) => Array.from(from.matchAll(pattern), ([all, part]) => part ?? all);
const sorted = (list) => [...new Set(list)].sort();

/** Where a link of one language leads to in English. */
const inEnglish = (link) => link.replace('.zh-CN.', '.');
const chineseOf = (path) => path.replace(/\.md$/, '.zh-CN.md');

/** What is written in both languages, and of what in each of them some must be there. */
const documents = {
  'README.md': ['headings', 'code', 'links', 'pictures', 'names', 'tables'],
  'wasm/docs/comparison.md': ['headings', 'links', 'names', 'tables', 'references', 'footnotes'],
};

/** The cells in each row of each table. */
const tablesOf = (prose) =>
  matches(prose, /(?:^\|.*\|\n)+/gm).map((table) =>
    matches(table, /^\|(.*)\|$/gm).map((row) => row.split('|')),
  );

/** The links of a file that are written in it, those to pictures included. */
const linksOf = (prose) => matches(prose, /\]\(([^)]*)\)/g);

const withoutCode = (path) => text(path).replaceAll(fence, '');

/** What a file has in common with its translation. */
function skeletonOf(path) {
  const all = text(path);
  const [first] = all.split('\n');
  const prose = withoutCode(path).slice(first.length);
  const tables = tablesOf(prose);
  return {
    headings: matches(prose, /^(#+) /gm),
    code: matches(all, fence),
    links: sorted(linksOf(prose).map(inEnglish)),
    pictures: matches(prose, /^!\[[^\]]{20,}\]\(([^)]*)\)$/gm).map(inEnglish),
    names: sorted(matches(prose, /`([^`\n]*)`/g)),
    tables: tables.map((rows) => rows.map((cells) => cells.length)),
    references: tables.flat(2).flatMap((cell) => matches(cell, /\[\d+\]/g)),
    footnotes: matches(prose, /^\d+\. /gm),
  };
}

for (const [path, present] of Object.entries(documents)) {
  const chinese = chineseOf(path);
  const [one, other] = [skeletonOf(path), skeletonOf(chinese)];

  test(`README: ${path} and its translation lead to each other`, () => {
    for (const [from, to] of [
      [path, chinese],
      [chinese, path],
    ]) {
      const [first] = text(from).split('\n');
      assert.ok(first.endsWith(`](${to.split('/').at(-1)})`), `${from} begins with ${first}`);
    }
  });

  for (const part of Object.keys(one)) {
    test(`README: ${path} has the same ${part} in Chinese`, (t) => {
      t.diagnostic(`${one[part].length} ${part}`);
      if (present.includes(part)) assert.ok(one[part].length > 0);
      assert.deepEqual(other[part], one[part]);
    });
  }

  test(`README: every link of ${path} and of its translation leads to a file`, () => {
    for (const from of [path, chinese]) {
      const local = linksOf(withoutCode(from)).filter((link) => !/^https:/.test(link));
      assert.ok(local.length > 0);
      const places = local.map((link) => join(root, dirname(from), link.replace(/#.*/, '')));
      assert.deepEqual(
        places.filter((place) => !existsSync(place)),
        [],
      );
    }
  });
}

for (const path of ['README.md', 'README.zh-CN.md']) {
  test(`README: the guides that ${path} leads to are in the tarball, and no others`, () => {
    // Recipes are on the site and in the repository.
    const links = linksOf(text(path)).filter((link) => /^wasm\/docs\/[^/]*$/.test(link));
    assert.deepEqual(
      sorted(links.map((link) => inEnglish(link.replace(/#.*/, '')))),
      sorted(tarball.filter((name) => name.startsWith('wasm/docs/')).map(inEnglish)),
    );
  });

  test(`README: the pictures of ${path} weigh little`, () => {
    const pictures = linksOf(text(path)).filter((link) => link.endsWith('.png'));
    assert.equal(pictures.length, 3);
    for (const picture of pictures) {
      const { size } = statSync(join(root, picture));
      assert.ok(size > 10_000 && size <= 150_000, `${picture} has ${size} bytes`);
    }
  });
}

test('README: the guide to the package names every function of an engine in its table', () => {
  const named = tablesOf(withoutCode('wasm/docs/package.md'))
    .flat(2)
    .flatMap((cell) => matches(cell, /`(\w+)`/g));
  const methods = Object.values(operators).flatMap(({ method }) => method ?? []);
  const all = [...methods, ...Object.keys(otherMethods)];
  assert.ok(all.length > 20);
  assert.deepEqual(
    sorted(all).filter((name) => !named.includes(name)),
    [],
  );
});
