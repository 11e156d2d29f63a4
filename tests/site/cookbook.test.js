// The cookbook: every recipe has its three parts, and the programs in it are those of examples/ as they are.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { pages } from '../../tools/docs/contents.js';
import { root, text } from '../support/js/files.js';

const folder = 'wasm/docs/cookbook';
const recipes = readdirSync(join(root, folder)).filter((name) => !name.startsWith('README'));
const programLinks = (markdown) =>
  Array.from(markdown.matchAll(/^\[(examples\/[^\]]+)\]\(([^)]+)\)$/gm));

const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" };
const withoutMarkup = (html) =>
  html
    .replace(/<br\/?>/g, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(lt|gt|amp|quot|#39);/g, (_all, name) => entities[name]);

for (const recipe of recipes) {
  test(`cookbook: ${recipe} says what you get, has a program, and what goes wrong`, () => {
    const markdown = text(`${folder}/${recipe}`);
    assert.match(markdown, /^# .*\n\n\*\*You get\*\* /);
    assert.match(markdown, /^## Program$/m);
    assert.match(markdown, /^## What goes wrong\n\n\| what you see \| why, and what to do \|/m);
  });

  test(`cookbook: the page of ${recipe} has its programs, letter by letter`, () => {
    const links = programLinks(text(`${folder}/${recipe}`));
    const { url } = pages.find(({ file }) => file === `${folder}/${recipe}`);
    const html = withoutMarkup(readFileSync(join(root, 'build/docs', url), 'utf8'));
    assert.ok(links.length > 0 || recipe === 'caching.md');
    for (const [, name, target] of links) {
      assert.equal(posix.join(folder, target), name, 'the link leads to what it is called');
      assert.ok(html.includes(text(name).trimEnd()), `${url} has all of ${name}`);
    }
  });
}

test('cookbook: its table has every recipe, in both languages', () => {
  for (const index of ['README.md', 'README.zh-CN.md']) {
    const linked = Array.from(
      text(`${folder}/${index}`).matchAll(/^\| \[[^\]]+\]\(([^)]+)\)/gm),
      ([, name]) => name,
    );
    assert.deepEqual(linked.sort(), [...recipes].sort(), index);
  }
});
