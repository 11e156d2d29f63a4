// The texts of both languages, in Node: the same numbers and the same marks in each, and what becomes of placeholders.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';
import { textsOf } from '../support/texts.js';

const { setLanguage, sentences, parseRich } = await modules('i18n/i18n', 'i18n/markup');
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
});
