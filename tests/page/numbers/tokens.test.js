// What the tokens of a text are, in Node.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { modules } from '../support/engine.js';

const web = await modules('domain/tokenizer');

describe('tokens: a text', () => {
  test('is words, characters or bytes, in any language', () => {
    const of = (text, kind) => web.tokenize(text, kind, null).tokens;
    assert.deepEqual(of('The cat, sat.', 'word'), ['The', 'cat', ',', 'sat', '.']);
    assert.deepEqual(of('a 👩‍👩‍👧b', 'character'), ['a', '👩‍👩‍👧', 'b']);
    assert.deepEqual(of('猫a', 'byte'), ['E7', '8C', 'AB', '61']);
  });

  test('is repeated or cut to a length, and says how many tokens are its own', () => {
    const { tokens, own, total } = web.tokenize('a b c', 'word', 7);
    assert.deepEqual(tokens, ['a', 'b', 'c', 'a', 'b', 'c', 'a']);
    assert.deepEqual([own, total], [3, 3]);
    const cut = web.tokenize('a b c', 'word', 2);
    assert.deepEqual([cut.tokens, cut.own, cut.total], [['a', 'b'], 2, 3]);
    const none = web.tokenize(' \n', 'word', 5);
    assert.deepEqual([none.tokens, none.own, none.total, none.textCut], [[], 0, 0, false]);
  });

  test('that is too long is read as far as the page says, and never half a character', () => {
    const long = web.tokenize('x'.repeat(web.MAX_TEXT), 'character', null);
    assert.equal(long.textCut, false);
    assert.deepEqual([long.tokens.length, long.total], [web.MAX_TOKENS, web.MAX_TEXT]);
    const cut = web.tokenize(`${'x'.repeat(web.MAX_TEXT - 1)}😀`, 'character', null);
    assert.deepEqual([cut.total, cut.textCut], [web.MAX_TEXT - 1, true]);
  });
});

test('tokens: a segmenter is made once for a language and a unit', () => {
  const { Segmenter } = Intl;
  let made = 0;
  Intl.Segmenter = class extends Segmenter {
    constructor(...args) {
      super(...args);
      made++;
    }
  };
  try {
    for (const text of ['The cat', 'The cat s', '猫', '猫坐', 'The cat sat']) {
      web.tokenize(text, 'word', null);
      web.tokenize(text, 'character', null);
    }
  } finally {
    Intl.Segmenter = Segmenter;
  }
  assert.ok(made <= 4, `${made} segmenters`);
});

describe('tokens: without Intl.Segmenter', () => {
  const { Segmenter } = Intl;
  const without = (act) => {
    Intl.Segmenter = undefined;
    try {
      return act();
    } finally {
      Intl.Segmenter = Segmenter;
    }
  };
  const words = (text) => web.tokenize(text, 'word', null).tokens;

  test('a text with spaces and punctuation has the same words', () => {
    for (const text of [
      'The cat sat on the mat because it was tired.',
      "He said: “I can’t, don't, won't” (e.g. at 3.14 or 1,000).",
      'naïve café, e\u0301lan; a_b x-y z/1 50% #tag user@example.org ½ x²',
      'Он устал. Η γάτα; ¿Qué? Straße!',
      '  two  spaces\nand a line 👩‍👩‍👧 🇩🇪 ',
    ]) {
      assert.deepEqual(
        without(() => words(text)),
        words(text),
      );
    }
    const piece = fc.constantFrom(
      ...['a', 'Bc', 'é', 'e\u0301', 'ж', '1', '23', ' ', '  ', '\n', '.', ',', ';', '!', '?', "'"],
      ...['’', '-', '_', '(', ')', '"', '/', '%', '½', '👋🏻', '…', '—'],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        assert.deepEqual(
          without(() => words(text)),
          words(text),
        );
      }),
      { numRuns: 3000 },
    );
  });

  test('a text whose words stand without spaces has characters, and is said to', () => {
    assert.deepEqual(
      without(() => words('猫坐在the垫子上')),
      ['猫', '坐', '在', 'the', '垫', '子', '上'],
    );
    const lacks = (...args) => without(() => web.lacksWords(...args));
    assert.deepEqual(
      [lacks('猫', 'word'), lacks('cat', 'word'), lacks('猫', 'character')],
      [true, false, false],
    );
    assert.equal(web.lacksWords('猫', 'word'), false);
  });
});
