// @build any
// The list of what the page claims, web/docs/claims.md: its rows name texts, code and tests that are there.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { textsOf } from '../support/texts.js';

const web = join(root, 'web/src');
const texts = textsOf('en');
const lessons = JSON.parse(readFileSync(join(web, 'features/lessons/content_en.json'), 'utf8'));
const rows = readFileSync(join(root, 'web/docs/claims.md'), 'utf8')
  .split('\n')
  .filter((line) => /^\| (?!key |---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

/** Whether a key is that of a text or the place of one in a lesson; `x.*` is all texts below x. */
function isText(key) {
  const below = key.endsWith('.*');
  if (below && Object.keys(texts).some((one) => one.startsWith(key.slice(0, -1)))) return true;
  const path = below ? key.slice(0, -2) : key;
  const place = path.split('.').reduce((inside, part) => inside?.[part], lessons);
  return texts[key] !== undefined || (below ? place !== undefined : isWords(place));
}
const isWords = (place) => typeof (place?.text ?? place) === 'string';

/** Paths of files in a cell. */
const pathsOf = (cell) => cell.match(/[\w./-]+\.(ts|js|cpp|hpp|json|css|md)\b/g) ?? [];

test('claims: every row names a text of the page', () => {
  assert.ok(rows.length > 600, `${rows.length} rows`);
  for (const [keys] of rows) {
    for (const key of keys.split(', ')) assert.ok(isText(key), key);
  }
});

test('claims: every row has four cells, with code and tests that are there', () => {
  for (const row of rows) {
    assert.equal(row.length, 4, row.join(' | '));
    const [key, claim, held, tested] = row;
    assert.ok(claim !== '' && held !== '', key);
    for (const path of pathsOf(tested)) {
      assert.ok(existsSync(join(root, 'tests', path)), `${key}: ${path}`);
    }
    for (const path of pathsOf(held).filter((one) => one.includes('/'))) {
      assert.ok(
        [web, root].some((folder) => existsSync(join(folder, path))),
        `${key}: ${path}`,
      );
    }
  }
});
