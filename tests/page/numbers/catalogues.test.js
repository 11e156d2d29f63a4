// The texts of both languages, in Node: the same numbers and the same marks in each, and what becomes of placeholders.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';
import { textsOf } from '../support/texts.js';

const { t, setLanguage, defaultText, sentences, parseRich } = await modules(
  'i18n/i18n',
  'i18n/markup',
);
const [en, zh] = [textsOf('en'), textsOf('zh')];
const keys = Object.keys(en);

/** Where English has a word for the number: no key, all zeros. */
const IN_WORDS = ['masks.cellEmpty', 'masks.empty'];

/** The numbers of a text without its placeholders, those in names such as f32 left out. */
const numbersOf = (text) =>
  [...text.replace(/\{\w+\}/g, '').matchAll(/(?<![\w.^])\d[\d,.]*(?:e[-−]?\d+)?/g)]
    .map(([number]) => number.replace(/[.,]+$/, '').replace(/,/g, ''))
    .sort();

test('catalogues: every number of one language stands in the other', () => {
  let compared = 0;
  for (const key of keys) {
    if (IN_WORDS.includes(key)) continue;
    assert.deepEqual(numbersOf(zh[key]), numbersOf(en[key]), key);
    compared += numbersOf(en[key]).length;
  }
  assert.ok(compared > 30, `${compared} numbers`);
});

test('catalogues: code, subscripts and the colours of roles are the same in both', () => {
  let compared = 0;
  for (const key of keys) {
    const marks = (text) =>
      parseRich(text)
        .filter(({ kind }) => kind !== 'text')
        .map(({ kind, text: word }) => (['code', 'sub'].includes(kind) ? `${kind} ${word}` : kind))
        .sort();
    assert.deepEqual(marks(zh[key]), marks(en[key]), key);
    compared += marks(en[key]).length;
  }
  assert.ok(compared > 30, `${compared} marks`);
});

test('catalogues: a text is of the language that was set, with its placeholders filled', () => {
  const values = { row: 3, query: 'cat {col}', col: 0, key: '$&' };
  for (const [language, texts] of [
    ['zh', zh],
    ['en', en],
  ]) {
    setLanguage(language);
    const wanted = texts['map.cellMasked'].split(/\{(\w+)\}/);
    const filled = wanted.map((part, i) => (i % 2 ? String(values[part]) : part)).join('');
    assert.equal(t('map.cellMasked', values), filled);
    assert.doesNotMatch(t('map.cellMasked'), /undefined|\{/);
    assert.equal(defaultText(language), texts['sentence.default']);
  }
});

test('catalogues: the marks of a text are its parts, and the rest stands between them', () => {
  assert.deepEqual(parseRich('a `b` *c* d~k~ [q|e]f'), [
    { kind: 'text', text: 'a ' },
    { kind: 'code', text: 'b' },
    { kind: 'text', text: ' ' },
    { kind: 'em', text: 'c' },
    { kind: 'text', text: ' d' },
    { kind: 'sub', text: 'k' },
    { kind: 'text', text: ' ' },
    { kind: 'q', text: 'e' },
    { kind: 'text', text: 'f' },
  ]);
  assert.deepEqual(parseRich('plain'), [{ kind: 'text', text: 'plain' }]);
  assert.deepEqual(parseRich(''), []);
});

test('texts: a percentage is written without a space, in both languages', () => {
  for (const language of ['en', 'zh']) {
    for (const [key, text] of Object.entries(textsOf(language))) {
      assert.doesNotMatch(text, /[\d}] %(?!\w)/, key);
    }
  }
});

test('texts: sentences follow each other with a space, and in Chinese without one', () => {
  setLanguage('en');
  assert.equal(sentences('One.', '', 'Two.'), 'One. Two.');
  setLanguage('zh');
  assert.equal(sentences('一。', '', '二。'), '一。二。');
  setLanguage('en');
  // Whoever joins sentences does so with that.
  const joined = /join\(' '\)|'zh' \? ''|\$\{\w+\} \$\{t\(/;
  const mayJoin = { 'features/model/worker/generation.ts': 1, 'features/model/page/tokens_part.ts': 1, 'features/row/page/figure.ts': 1, 'features/recurrence/page/sentences.ts': 1, 'features/head_names.ts': 1, 'i18n/i18n.ts': 1 }; // prettier-ignore
  const source = join(root, 'web/src');
  for (const file of readdirSync(source, { recursive: true })) {
    if (!file.endsWith('.ts')) continue;
    const lines = readFileSync(join(source, file), 'utf8').split('\n');
    const found = lines.filter((line) => joined.test(line));
    assert.ok(found.length <= (mayJoin[file] ?? 0), `${file}: ${found.join('\n')}`);
  }
});
