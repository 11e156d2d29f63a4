// What the tokens of a text are, in Node.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
