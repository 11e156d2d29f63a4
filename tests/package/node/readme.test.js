// @build any
// The README in two languages: what needs no translation must be the same in both. That its code runs is
// tested in tests/release/consumers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tarball } from '../../../tools/shipped.js';
import { text } from '../../support/js/files.js';

const fence = /^```.*?^```$/gms;
const matches = (from, pattern) => Array.from(from.matchAll(pattern), ([all, part]) => part ?? all);
const sorted = (list) => [...new Set(list)].sort();

/** The cells in each row of each table. */
const tablesOf = (prose) =>
  matches(prose, /(?:^\|.*\|\n)+/gm).map((table) =>
    matches(table, /^\|(.*)\|$/gm).map((row) => row.split('|')),
  );

/** What a file has in common with its translation; `other` is the one its first line leads to. */
function skeletonOf(path, other) {
  const all = text(path);
  const [first] = all.split('\n');
  assert.ok(first.endsWith(`](${other})`), `${path} begins with ${first}`);
  const prose = all.slice(first.length).replaceAll(fence, '');
  const tables = tablesOf(prose);
  return {
    headings: matches(prose, /^(#+) /gm),
    code: matches(all, fence),
    links: sorted(matches(prose, /\]\(([^)]*)\)/g)),
    names: sorted(matches(prose, /`([^`\n]*)`/g)),
    tables: tables.map((rows) => rows.map((cells) => cells.length)),
    references: tables.map((rows) => rows.map((cells) => cells.map((c) => matches(c, /\[\d+\]/g)))),
    footnotes: matches(prose, /^\d+\. /gm),
  };
}

const english = skeletonOf('README.md', 'README.zh-CN.md');
const chinese = skeletonOf('README.zh-CN.md', 'README.md');

for (const part of Object.keys(english)) {
  test(`README: the README has the same ${part} in Chinese`, (t) => {
    t.diagnostic(`${english[part].length} ${part}`);
    assert.ok(english[part].length > 0);
    assert.deepEqual(chinese[part], english[part]);
  });
}

for (const path of ['README.md', 'README.zh-CN.md']) {
  test(`README: the guides that ${path} leads to are in the tarball, and no others`, () => {
    const links = matches(text(path), /\]\((wasm\/docs\/[^)#]*)/g);
    assert.deepEqual(
      sorted(links),
      tarball.filter((name) => name.startsWith('wasm/docs/')),
    );
  });
}
