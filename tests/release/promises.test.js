// @build any
// The list of what the README promises, tests/release/promises.md: it has every sentence of the README, and each names tests
// that are there. Whoever changes a sentence looks at what holds it.
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root, text } from '../support/js/files.js';

const oneLine = (prose) => prose.replaceAll(/\s+/g, ' ').trim();

/** Prose without code, headings, pictures, the link to the other language, and what tools/release/addresses.js writes. */
const proseOf = (markdown) =>
  markdown
    .replaceAll(/^```.*?^```$/gms, '')
    .replace(/<!-- addresses.*<!-- \/addresses -->/s, '')
    .replaceAll(/^(#|!\[|\[简体中文).*$/gm, '');

/** A link is its words, and a row of a table its cells. */
const plain = (prose) => oneLine(prose.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
const cellsOf = (row) => row.slice(2, -2).split(' | ').map(plain).join(' – ');

const isRow = (line) => line.startsWith('| ');
const isHead = (line, i, lines) => /^\| ---/.test(lines[i + 1] ?? '') || /^\| ---/.test(line);

/** Every sentence of a document and every row of its tables. */
function sentencesOf(markdown) {
  const lines = proseOf(markdown).split('\n');
  const rows = lines.filter((line, i) => isRow(line) && !isHead(line, i, lines)).map(cellsOf);
  const paragraphs = lines
    .filter((line) => !isRow(line))
    .join('\n')
    .split(/\n\n+|^- /m);
  const sentences = paragraphs.flatMap((paragraph) =>
    plain(paragraph).split(/(?<=[.;](?:\*\*)?) (?=[A-Z`*])/),
  );
  return [...sentences, ...rows].filter((sentence) => sentence !== '');
}

const list = text('tests/release/promises.md')
  .split('\n')
  .filter((line) => isRow(line) && !/^\| (sentence|---)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

test('promises: the list has every sentence of the README, and no other', () => {
  const said = sentencesOf(text('README.md'));
  assert.ok(said.length > 40, `${said.length} sentences`);
  const listed = list.map(([sentence]) => sentence);
  assert.deepEqual(
    { missing: said.filter((one) => !listed.includes(one)), stale: listed.filter((one) => !said.includes(one)) },
    { missing: [], stale: [] },
  ); // prettier-ignore
});

/** The files of a cell, each with the titles in “” behind it. */
const proofsIn = (cell) =>
  [...cell.matchAll(/([\w./-]+\.(?:json|js|cpp|hpp|md|yml))((?: “[^”]*”)*)/g)].map(
    ([, path, titles]) => ({
      path,
      titles: [...titles.matchAll(/“([^”]*)”/g)].map(([, title]) => title),
    }),
  );

/** What is wrong with a row, in words. */
function problemsOf([sentence, held = '', ...more]) {
  const proofs = proofsIn(held);
  const isHeld = proofs.length > 0 || /^(not tested|points to)\b.{20}/.test(held);
  return [
    ...(isHeld && more.length === 0 ? [] : ['nothing holds it']),
    ...proofs.flatMap(({ path, titles }) =>
      existsSync(join(root, path))
        ? titles
            .filter((title) => !oneLine(text(path)).includes(title))
            .map((title) => `${path} has no “${title}”`)
        : [`there is no ${path}`],
    ),
  ].map((problem) => `${sentence}: ${problem}`);
}

test('promises: every sentence names what holds it, which is there', () =>
  assert.deepEqual(list.flatMap(problemsOf), []));

/** Numbers outside of code, of names as well: what the page has in English it has in Chinese. */
const numbersIn = (path) =>
  proseOf(text(path))
    .replaceAll(/\]\([^)]*\)/g, ']')
    .match(/\d+(\.\d+)*/g)
    .sort();

test('promises: both READMEs have the same numbers', () => {
  // 110 million is 1.1 亿, fifteen is 十五.
  const chinese = numbersIn('README.zh-CN.md').map((number) => ({ 1.1: '110' })[number] ?? number);
  assert.deepEqual(chinese.sort(), numbersIn('README.md'));
});

const readme = plain(proseOf(text('README.md')));

test('promises: the models of the README are families that load', () => {
  const [, said] = /llama2\.c files: (.*?), in float32/.exec(readme);
  const squeezed = (words) => words.toLowerCase().replaceAll(/[-_ ]/g, '');
  // Whose rows tests/package/models/guide.test.js holds to the families.
  const rows = text('wasm/docs/models.md').split('\n').filter(isRow).map(squeezed);
  const names = said.split(/, | and /);
  assert.ok(names.length > 10);
  assert.deepEqual(
    names.filter((name) => !rows.some((row) => row.includes(squeezed(name)))),
    [],
  );
});

test('promises: the page has as many chapters as the README says', () => {
  const chapters = Object.keys(JSON.parse(text('web/src/chapters/en.json')))
    .map((key) => /^chapters\.(\w+)\.text$/.exec(key)?.[1])
    .filter(Boolean);
  assert.equal(chapters.length, 15);
  assert.ok(readme.includes('Fifteen chapters'));
  assert.ok(text('README.zh-CN.md').includes('全页分十五章'));
});

test('promises: the model of the README is as large as it says', () => {
  const { size } = statSync(join(root, 'models/austen/austen.safetensors'));
  assert.ok(readme.includes(`This model has ${(size / 1e6).toFixed(1)} MB.`), `${size} bytes`);
});

test('promises: the scores of the README are as large as it says', () => {
  const [, length, heads, size] = /T = (\d+) with (\d+) heads would take ([\d.]+) GB/.exec(readme);
  const bytes = length ** 2 * heads * Float32Array.BYTES_PER_ELEMENT;
  assert.equal((bytes / 1e9).toFixed(1), size);
});
