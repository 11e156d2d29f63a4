// @build any
// tokenizer.json: each part by what it should make of a text, which follows from its definition in Hugging Face's tokenizers; whole files
// with small vocabularies; and what nothing here knows, refused by name.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectThrows } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { charMap } from './support/char-map.js';

const { jsonTokenizer, givenTokenizer, unigram, expressionOf, Fields } = models;
const fields = (part) => Fields.of('tokenizer.part', part);
const refused = (call, code, ...says) => expectThrows(call, 'load', code, ...says);

describe('normalizers', () => {
  const rules = charMap({ '\ufb01': 'fi', 'a\u0301': '\u00e1', '\u00a0': ' ', '\u200b': '' });
  const replace = (pattern, content) => ({ type: 'Replace', pattern, content });
  for (const [part, text, expected] of [
    [{ type: 'NFC' }, 'e\u0301', '\u00e9'],
    [{ type: 'NFKC' }, '\ufb01', 'fi'],
    [{ type: 'NFD' }, '\u00e9', 'e\u0301'],
    [{ type: 'NFKD' }, '\u00bd', '1\u20442'],
    [{ type: 'Lowercase' }, 'A\u03a3\u03a3', 'a\u03c3\u03c3'],
    [{ type: 'StripAccents' }, 'e\u0301\u0939\u093f', 'e\u0939'],
    [{ type: 'Strip', strip_left: true, strip_right: false }, ' \u3000a ', 'a '],
    [{ type: 'Prepend', prepend: '_' }, 'a', '_a'],
    [{ type: 'Prepend', prepend: '_' }, '', ''],
    [replace({ String: '.' }, '$&'), 'a.b', 'a$&b'],
    [replace({ Regex: ' {2,}' }, '_'), 'a   b c', 'a_b c'],
    [{ type: 'BertNormalizer' }, 'H\u00c9 \u4e2d\u0000a\u0001', 'he  \u4e2d a'],
    [{ type: 'BertNormalizer', lowercase: false }, '\u00c9', '\u00c9'],
    [{ type: 'BertNormalizer', lowercase: false, strip_accents: true }, '\u00c9', 'E'],
    [{ type: 'BertNormalizer', clean_text: false, handle_chinese_chars: false }, '\u4e2d\u0001', '\u4e2d\u0001'],
    [{ type: 'Precompiled', precompiled_charsmap: rules }, '\ufb01\u00a0a\u0301\u200bx', 'fi \u00e1x'],
    [{ type: 'Sequence', normalizers: [{ type: 'Lowercase' }, { type: 'Sequence', normalizers: [] }, { type: 'NFC' }] }, 'E\u0301', '\u00e9'],
  ]) {
    test(`${part.type}: ${JSON.stringify(text)}`, () => {
      assert.equal(models.normalizerOf(fields(part))(text), expected);
    });
  }
}); // prettier-ignore

describe('pre-tokenizers', () => {
  const split = (behavior, invert = false) => ({ type: 'Split', pattern: { String: '-' }, behavior, invert });
  const metaspace = (more) => ({ type: 'Metaspace', replacement: '_', ...more });
  const letters = '\u0120a'; // a space and "a", as letters of bytes
  for (const [part, text, expected, isFirst = true] of [
    [split('Isolated'), 'a--b-', ['a', '-', '-', 'b', '-']],
    [split('Removed'), 'a--b-', ['a', 'b']],
    [split('Removed', true), 'a--b-', ['-', '-', '-']],
    [split('Contiguous'), 'a--b-', ['a', '--', 'b', '-']],
    [split('MergedWithPrevious'), '-a--b-', ['-', 'a-', '-', 'b-']],
    [split('MergedWithNext'), '-a--b-', ['-a', '-', '-b', '-']],
    [{ type: 'Digits', individual_digits: true }, 'a12\u00bd', ['a', '1', '2', '\u00bd']],
    [{ type: 'Digits' }, 'a12b', ['a', '12', 'b']],
    [{ type: 'Punctuation' }, 'a,.b\u3002', ['a', ',', '.', 'b', '\u3002']],
    [{ type: 'Punctuation', behavior: 'Contiguous' }, 'a,.b', ['a', ',.', 'b']],
    [{ type: 'Whitespace' }, "it's  a_1", ['it', "'", 's', 'a_1']],
    [{ type: 'WhitespaceSplit' }, ' a\u0085b\ufeffc\u3000', ['a', 'b\ufeffc']],
    [{ type: 'BertPreTokenizer' }, 'a b,c$', ['a', 'b', ',', 'c', '$']],
    [{ type: 'ByteLevel', add_prefix_space: false }, " a it's 12", [letters, '\u0120it', "'s", '\u012012']],
    [{ type: 'ByteLevel' }, 'a', [letters]],
    [{ type: 'ByteLevel', use_regex: false }, ' a it', ['\u0120a\u0120it']],
    [{ type: 'ByteLevel', add_prefix_space: false }, '\u00e9\n', ['\u00c3\u00a9', '\u010a']],
    [metaspace(), 'a  b', ['_a', '_', '_b']],
    [metaspace({ prepend_scheme: 'never' }), 'a b', ['a', '_b']],
    [metaspace({ add_prefix_space: false }), 'a b', ['a', '_b']],
    [metaspace({ prepend_scheme: 'first' }), 'a', ['_a']],
    [metaspace({ prepend_scheme: 'first' }), 'a', ['a'], false],
    [metaspace({ split: false }), ' a b', ['_a_b']],
    [{ type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace({ prepend_scheme: 'first' })] }, 'a b', ['_a', 'b']],
    // Neither of the words is where the text begins.
    [{ type: 'Sequence', pretokenizers: [{ type: 'WhitespaceSplit' }, metaspace({ prepend_scheme: 'first' })] }, ' a b', ['a', 'b']],
  ]) {
    test(`${part.type} ${part.behavior ?? ''}: ${JSON.stringify(text)}`, () => {
      assert.deepEqual(models.preTokenizerOf(fields(part))({ text, isFirst }), expected);
    });
  }
}); // prettier-ignore

describe('decoders', () => {
  const pattern = { String: '_' };
  for (const [part, pieces, expected] of [
    [undefined, ['a', 'b'], 'a b'],
    [{ type: 'ByteLevel' }, ['\u0120\u00c3', '\u00a9x'], ' \u00e9x'],
    [{ type: 'ByteLevel' }, ['\u00c3'], '\ufffd'],
    [{ type: 'ByteLevel' }, ['\u4e2d'], '\u4e2d'],
    [{ type: 'Metaspace', replacement: '_' }, ['_a', '_b', 'c'], 'a bc'],
    [{ type: 'Metaspace', replacement: '_', prepend_scheme: 'never' }, ['_a', '_b'], ' a b'],
    [{ type: 'WordPiece' }, ['do', "n't", '##x', 'a', '.'], "don'tx a."],
    [{ type: 'WordPiece', cleanup: false, prefix: '@' }, ['a', '@b', '.'], 'ab .'],
    [{ type: 'BPEDecoder' }, ['a', 'b</w>', 'c</w>'], 'ab c'],
    [{ type: 'ByteFallback' }, ['a', '<0xE4>', '<0xB8>', '<0xAD>', '<0xE4>', 'b'], 'a\ufffd\ufffd\ufffd\ufffdb'],
    [{ type: 'ByteFallback' }, ['<0xE4>', '<0xB8>', '<0xAD>'], '\u4e2d'],
    [{ type: 'Sequence', decoders: [{ type: 'Replace', pattern, content: ' ' }, { type: 'Fuse' }, { type: 'Strip', content: ' ', start: 1, stop: 0 }] }, ['_', '_a', '_'], ' a '],
    [{ type: 'Strip', content: ' ', start: 0, stop: 2 }, [' a   '], ' a '],
  ]) {
    test(`${part?.type}: ${pieces}`, () => {
      assert.equal(models.decoderOf(part && fields(part)).decode(pieces), expected);
    });
  }
}); // prettier-ignore

describe('bytes that a piece adds in the middle of a text', () => {
  const chain = (...decoders) => ({ type: 'Sequence', decoders });
  const replace = { type: 'Replace', pattern: { String: '_' }, content: ' ' };
  const fallback = { type: 'ByteFallback' };
  const fuse = { type: 'Fuse' };
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  const llama = chain(replace, fallback, fuse, strip);
  for (const [part, piece, expected] of [
    [{ type: 'ByteLevel' }, '\u0120\u00c3', [0x20, 0xc3]],
    [{ type: 'ByteLevel' }, '\u4e2d', [0xe4, 0xb8, 0xad]],
    [{ type: 'Metaspace', replacement: '_' }, '_a_', [0x20, 0x61, 0x20]],
    [llama, '_a', [0x20, 0x61]],
    [llama, '<0xE4>', [0xe4]],
    [chain(strip), '  a', [0x20, 0x61]],
    [chain(fuse, replace), '_', [0x20]],
    [chain(fuse, strip), ' a', [0x20, 0x61]],
    [llama, '\ud800', undefined],
    // What a piece is depends on those beside it.
    [undefined, 'a'],
    [{ type: 'WordPiece' }, '##a'],
    [{ type: 'BPEDecoder' }, 'a</w>'],
    [chain(fuse, { ...replace, pattern: { String: '__' } }), 'a'],
    [chain(fuse, { ...replace, pattern: { Regex: '_' } }), 'a'],
    [chain(fallback, replace), 'a'],
    [chain(fallback, strip), 'a'],
    [chain({ type: 'ByteLevel' }, replace), 'a'],
  ]) {
    test(`${JSON.stringify(part)}: ${JSON.stringify(piece)}`, () => {
      const { decode, bytesOf } = models.decoderOf(part && fields(part));
      const found = bytesOf?.(piece);
      assert.deepEqual(found && [...found], expected);
      if (!expected) return;
      // Between others it adds just these.
      const all = new TextEncoder().encode(decode(['x', piece, 'y']).slice(1, -1));
      if (!/\ufffd/.test(new TextDecoder().decode(found))) assert.deepEqual([...all], expected);
    });
  }
  test('of whole files: tokens by their numbers, and none of control tokens', () => {
    const json = {
      model: { type: 'BPE', vocab: { a: 0, '<0xE4>': 1 }, merges: [] },
      decoder: fallback,
      added_tokens: [
        { id: 2, content: '<|end|>', special: true },
        { id: 3, content: '<tool>', special: false },
      ],
    };
    const tokenizer = jsonTokenizer(json);
    const bytes = [0, 1, 2, 3, 4, -1].map((id) => tokenizer.bytesOf(id));
    assert.deepEqual(
      bytes.map((each) => each && [...each]),
      [[0x61], [0xe4], undefined, [...new TextEncoder().encode('<tool>')], undefined, undefined],
    );
    assert.equal('bytesOf' in jsonTokenizer({ ...json, decoder: { type: 'WordPiece' } }), false);
  });
}); // prettier-ignore

describe('patterns of Oniguruma', () => {
  for (const [pattern, text, expected] of [
    ["(?i:'s|'T)", "'S's't'\u017f", ["'S", "'s", "'t", "'\u017f"]],
    ["'(?i:[st])", "'S'T", ["'S", "'T"]],
    ['(?i:k)', 'kK\u212a', ['k', 'K', '\u212a']],
    ['(?i:\u017f)', 'sS\u017f', ['s', 'S', '\u017f']],
    ['(?i:[\u00e9+])', '\u00e9\u00c9+', ['\u00e9', '\u00c9', '+']],
    ['\\s+', 'a \u0085\ufeff ', [' \u0085', ' ']],
    ['[^\\s\\p{L}]', 'a 1', ['1']],
    ['\\d{1,3}(?=(?:\\d{3})*\\b)', '1234567', ['1', '234', '567']],
    ['\\w+', 'a\u0301_1-\u00b2', ['a\u0301_1']],
    ['\\W', 'a-', ['-']],
    ['[a\\-z]', 'b-', ['-']],
    ['[^(\\s|[.,])]+', 'a(b|c.d', ['a', 'b', 'c', 'd']],
    ['\\p{Han}|\\P{^Lu}|\\p{^L}', '\u4e2dAa1', ['\u4e2d', 'A', '1']],
    ['\\x41|\\x{42}|\\u0043', 'ABC', ['A', 'B', 'C']],
    ['a++b|a', 'aab', ['aab']],
    ['x?+x', 'xx', ['xx']],
    ['a+?', 'aa', ['a', 'a']],
    ['^a|b$', 'a\nab\nb', ['a', 'a', 'b', 'b']],
    ['\\Aa|a\\z', 'aba', ['a', 'a']],
    ['.', '\u2028\n', ['\u2028']],
    ['[\\]\\[#"!]\\"', '["', ['["']],
    ['(ab)?c{2}', 'abcc', ['abcc']],
    ['a{,2}b', 'aaab', ['aab']],
  ]) {
    test(`${pattern}`, () => {
      const found = Array.from(text.matchAll(expressionOf('a', pattern)), ([all]) => all);
      assert.deepEqual(found, expected);
    });
  }
  for (const [pattern, says] of [
    ['(a+)+b', 'a group that varies and repeats'],
    ['(?:a|a)*b', 'a group that varies and repeats'],
    ['(?:a?){1,9}', 'a group that varies and repeats'],
    ['a**', 'a repetition of a repetition'],
    ['*a', '"*" after nothing'],
    ['(?<n>a)', '"(?<n"'],
    ['(?i)a', '"(?i)"'],
    ['(?>a)', '"(?>a"'],
    ['\\1', '"\\1"'],
    ['\\h', '"\\h"'],
    ['[[:alpha:]]', '"[:" in a class'],
    ['[a&&b]', '"&&"'],
    ['[]', 'an empty class'],
    ['[\\W]', '"\\W"'],
    ['(?i:[a-z])', 'a range where case does not matter'],
    ['(?i:[\u00e0-\u00fe])', 'a range where case does not matter'],
    ['(?i:[0-z])', 'a range where case does not matter'],
    ['(?i:\\x41)', '"\\x41" where case does not matter'],
    ['(?i:[\\p{Lu}])', '"\\p{Lu}" where case does not matter'],
    ['\\p{Nothing}', '"\\p{Nothing}"'],
    ['(a', '"(" without ")"'],
    ['a)', '")" without "("'],
    ['[z-a]', 'what is no pattern'],
    ['a\\', 'an end before its end'],
    ['('.repeat(30), 'groups in groups'],
    ['a'.repeat(10_001), '10001 letters'],
  ]) {
    test(`refused: ${pattern.slice(0, 20)}`, () => {
      refused(() => expressionOf('a.Regex', pattern), 'unsupported', 'a.Regex is', says);
    });
  }
}); // prettier-ignore

const vocab = (...texts) => Object.fromEntries(texts.map((text, id) => [text, id]));
const made = (model, more = {}) => jsonTokenizer({ version: '1.0', model, ...more });
const ids = (tokenizer, text) => [...tokenizer.encode(text)];

describe('BPE', () => {
  const base = { vocab: vocab('a', 'b', 'c', 'ab', 'abc', 'bc', '?'), merges: ['a b', 'b c', 'ab c'] };
  const bpe = (more) => ({ type: 'BPE', ...base, ...more });
  for (const [what, model, text, expected] of [
    ['pairs by rank', bpe(), 'abcbc', [4, 5]],
    ['pairs as lists, without a type', { ...base, merges: [['b', 'c'], ['a', 'b']] }, 'abc', [0, 5]],
    ['a letter that is none is left out', bpe(), 'axb', [3]],
    ['a letter that is none is one token', bpe({ unk_token: '?' }), 'axyb', [0, 6, 6, 1]],
    ['several are one', bpe({ unk_token: '?', fuse_unk: true }), 'axyb', [0, 6, 1]],
    ['bytes of a letter', { vocab: vocab('a', '<0xC3>', '<0xA9>', '?'), merges: [], byte_fallback: true, unk_token: '?' }, 'a\u00e9\u00e8', [0, 1, 2, 3]],
    ['a whole word first', bpe({ vocab: vocab('a', 'b', 'ab', 'ba'), merges: ['a b'], ignore_merges: true }), 'ba', [3]],
    ['a whole word last', bpe({ vocab: vocab('a', 'b', 'ab', 'ba'), merges: ['a b'] }), 'ba', [1, 0]],
    ['a sign behind a word', bpe({ vocab: vocab('a', 'b', 'b_', 'ab_'), merges: ['a b_'], end_of_word_suffix: '_' }), 'ab', [3]],
  ]) {
    test(`${what}`, () => assert.deepEqual(ids(made(model), text), expected));
  }
}); // prettier-ignore

test('WordPiece: the longest pieces, and words that have none', () => {
  const model = { type: 'WordPiece', unk_token: '?', vocab: vocab('?', 'un', '##able', '##a', 'u') };
  const tokenizer = made({ ...model, max_input_chars_per_word: 8 }, { pre_tokenizer: { type: 'WhitespaceSplit' } });
  assert.deepEqual(ids(tokenizer, 'unable ua ub unaaaaaaa'), [1, 2, 4, 3, 0, 0]);
  const { type, ...old } = model;
  assert.deepEqual(ids(made({ ...old, continuing_subword_prefix: '##' }), 'unable'), [1, 2], type);
}); // prettier-ignore

describe('Unigram', () => {
  test('of all cuts that with the largest sum', () => {
    const pieces = [['a', -2], ['b', -2.5], ['ab', -3], ['ba', -2.25], ['aba', -5], ['bb', -4.75], ['x\ud83d\ude00', -1]]; // prettier-ignore
    const unknownScore = -15;
    const cut = unigram({ pieces: pieces.map(([text, score], id) => [text, id, score]), unknownScore }); // prettier-ignore
    /** Every cut of a text, and its sum. */
    const all = (text) => {
      if (text === '') return [{ cuts: [], sum: 0 }];
      const letter = String.fromCodePoint(text.codePointAt(0));
      const known = pieces.some(([piece]) => piece === letter) ? [] : [[letter, unknownScore]];
      return [...pieces, ...known].filter(([piece]) => text.startsWith(piece)).flatMap(([piece, score]) =>
        all(text.slice(piece.length)).map(({ cuts, sum }) => ({ cuts: [piece, ...cuts], sum: score + sum }))); // prettier-ignore
    };
    for (const text of ['abab', 'babba', 'aabbabab', 'abx\ud83d\ude00a', 'x', 'bbaabba']) {
      const best = all(text).reduce((a, b) => (b.sum > a.sum ? b : a));
      assert.deepEqual(cut(text).map((piece) => piece.text), best.cuts, text); // prettier-ignore
    }
  });
  test('letters that are no pieces are one unknown token, or their bytes', () => {
    const pieces = [
      ['?', 0],
      ['a', -1],
      ['<0xC3>', -9],
      ['<0xA9>', -9],
    ];
    const model = { type: 'Unigram', unk_id: 0, vocab: pieces };
    assert.deepEqual(ids(made(model), 'axya\u00e9'), [1, 0, 1, 0]);
    assert.deepEqual(ids(made({ ...model, byte_fallback: true }), 'axya\u00e9'), [1, 0, 1, 2, 3]);
    assert.deepEqual(ids(made({ vocab: pieces }), 'axa'), [1, 1]);
  });
});

describe('added tokens', () => {
  const model = { type: 'BPE', unk_token: '?', vocab: vocab('?', 'a', 'b', ' ', 'A', '_'), merges: [] };
  const token = (content, more = {}) => ({ id: 9, content, special: true, ...more });
  const of = (...added) => made(model, { added_tokens: added, normalizer: { type: 'Lowercase' } });
  for (const [what, added, text, expected] of [
    ['are one token anywhere', [token('<x>')], 'a<x>b', [1, 9, 2]],
    ['are looked for before the text is normalized', [token('<X>')], '<x><X>', [0, 0, 0, 9]],
    ['or after', [token('<X>', { normalized: true })], '<x><X>', [9, 9]],
    ['take the spaces before', [token('<x>', { lstrip: true })], 'a \u0085<x> b', [1, 9, 3, 2]],
    ['take the spaces after', [token('<x>', { rstrip: true })], 'a <x> \u0085b', [1, 3, 9, 2]],
    ['as words stand alone', [token('b', { single_word: true })], 'a b ab bA b', [1, 3, 9, 3, 1, 2, 3, 2, 1, 3, 9]],
    ['the longest goes first', [token('<x>'), token('<x>>', { id: 8 })], '<x>><x>', [8, 9]],
  ]) {
    test(`${what}`, () => assert.deepEqual(ids(of(...added), text), expected));
  }
  test('special ones are no text, and text in encodePlain; others are both', () => {
    const tokenizer = of(token('ab'), { id: 8, content: 'ba', special: false });
    assert.deepEqual(ids(tokenizer, 'abba'), [9, 8]);
    assert.deepEqual([...tokenizer.encodePlain('abba')], [1, 2, 8]);
    assert.equal(tokenizer.decode([9, 8, 1, 7]), 'ba a');
  });
}); // prettier-ignore

describe('tokens around a text', () => {
  const model = { type: 'BPE', vocab: vocab('a', 's', 'e'), merges: [] };
  const special = (id) => ({ SpecialToken: { id, type_id: 0 } });
  const template = (single) => ({ type: 'TemplateProcessing', single, pair: [], special_tokens: { S: { id: 'S', ids: [1], tokens: ['s'] }, E: { id: 'E', ids: [2, 2], tokens: ['e', 'e'] } } });
  const text = { Sequence: { id: 'A', type_id: 0 } };
  for (const [post_processor, expected, begin] of [
    [null, [0], undefined],
    [template([special('S'), text, special('E')]), [1, 0, 2, 2], 1],
    [template([special('E'), text]), [2, 2, 0], undefined],
    [{ type: 'BertProcessing', cls: ['s', 1], sep: ['e', 2] }, [1, 0, 2], 1],
    [{ type: 'RobertaProcessing', cls: ['s', 1], sep: ['e', 2], trim_offsets: true, add_prefix_space: false }, [1, 0, 2], 1],
    [{ type: 'Sequence', processors: [{ type: 'ByteLevel' }, template([special('S'), text]), template([text, special('E')])] }, [1, 0, 2, 2], 1],
  ]) {
    test(`${post_processor?.type}: ${expected}`, () => {
      const tokenizer = made(model, { post_processor });
      assert.deepEqual(ids(tokenizer, 'a'), expected);
      assert.deepEqual([...tokenizer.encodePlain('a')], expected);
      assert.equal(tokenizer.begin, begin);
    });
  }
  const ofPairs = (pair) => ({ ...template([special('S'), text, special('E')]), pair });
  const other = (type_id) => ({ Sequence: { id: 'B', type_id } });
  const bert = { type: 'BertProcessing', cls: ['s', 1], sep: ['e', 2] };
  const pairsOf = [
    [bert, [1, 0, 0, 2, 1, 2], [0, 0, 0, 0, 1, 1]],
    [{ ...bert, type: 'RobertaProcessing', trim_offsets: true }, [1, 0, 0, 2, 2, 1, 2], [0, 0, 0, 0, 0, 0, 0]],
    [ofPairs([special('S'), text, special('E'), other(1), { SpecialToken: { id: 'E', type_id: 1 } }]), [1, 0, 0, 2, 2, 1, 2, 2], [0, 0, 0, 0, 0, 1, 1, 1]],
    [ofPairs([other(0), text]), [1, 0, 0], [0, 0, 0]],
  ];
  for (const [post_processor, expected, types] of pairsOf) {
    test(`${post_processor.type}: two texts are ${expected}`, () => {
      const tokenizer = made(model, { post_processor });
      assert.deepEqual(tokenizer.encodePair('aa', 's'), { ids: expected, types, isCut: false });
    });
  }
  test('of two texts the longer one is cut, of equal ones the second', () => {
    const tokenizer = made(model, { post_processor: bert });
    const cut = (...given) => tokenizer.encodePair(...given);
    assert.deepEqual(cut('aaaa', 'ss', 7), { ids: [1, 0, 0, 2, 1, 1, 2], types: [0, 0, 0, 0, 1, 1, 1], isCut: true });
    assert.deepEqual(cut('aa', 'ss', 6).ids, [1, 0, 0, 2, 1, 2]);
    assert.deepEqual(cut('aa', 'ss', 7).isCut, false);
    assert.deepEqual(cut('aa', 'ss', 2).ids, [1, 2, 2]);
  });
  test('without a template of a pair there is none', () => {
    for (const post_processor of [null, template([text]), ofPairs([text, text]), ofPairs([special('S')])]) {
      assert.equal('encodePair' in made(model, { post_processor }), false);
    }
    const unknown = ofPairs([special('X'), text, other(0)]);
    refused(() => made(model, { post_processor: unknown }), 'invalid_argument', 'special_tokens has no ids for "X"');
    const third = ofPairs([text, { Sequence: { id: 'C', type_id: 0 } }]);
    refused(() => made(model, { post_processor: third }), 'unsupported', 'Sequence.id is "C"');
  });
  test('the mask is the special token of that text', () => {
    const added = (content, special) => ({ added_tokens: [{ id: 2, content, special }] });
    assert.equal(made(model, added('[MASK]', true)).mask, 2);
    assert.equal(made(model, added('<mask>', true)).mask, 2);
    assert.equal('mask' in made(model, added('[MASK]', false)), false);
    assert.equal('mask' in made(model, added('[PAD]', true)), false);
  });
  const twice = template([text, text]);
  const unknown = template([special('X'), text]);
  for (const [post_processor, code, says] of [
    [twice, 'unsupported', 'tokenizer.post_processor.single has 2 texts, expected one'],
    [unknown, 'invalid_argument', 'special_tokens has no ids for "X"'],
    [{ type: 'BertProcessing', cls: ['s'], sep: ['e', 2] }, 'invalid_argument', 'post_processor.cls is an array'],
  ]) {
    test(`refused: ${says}`, () => refused(() => made(model, { post_processor }), code, says));
  }
}); // prettier-ignore

describe('what is wrong, or nothing here knows, is refused by name', () => {
  const model = { type: 'BPE', vocab: vocab('a', 'b'), merges: [] };
  const rules = (precompiled_charsmap) => ({ normalizer: { type: 'Precompiled', precompiled_charsmap } });
  const nested = { type: 'Sequence', normalizers: [] };
  for (let i = 0; i < 12; i += 1) nested.normalizers = [{ ...nested }];
  for (const [json, code, ...says] of [
    [{ model: { type: 'WordLevel', vocab: {} } }, 'unsupported', 'tokenizer.model.type is "WordLevel", expected BPE, WordPiece, Unigram'],
    [{ model, normalizer: { type: 'Nmt' } }, 'unsupported', 'tokenizer.normalizer.type is "Nmt", expected', 'Precompiled'],
    [{ model, normalizer: { type: 'Sequence', normalizers: [{ type: 'Nmt' }] } }, 'unsupported', 'tokenizer.normalizer.normalizers[0].type is "Nmt"'],
    [{ model, normalizer: { type: 'Sequence' } }, 'invalid_argument', 'normalizer.normalizers is missing'],
    [{ model, normalizer: nested }, 'unsupported', 'is a sequence in sequences'],
    [{ model, normalizer: { type: 'NFC', more: 1 } }, 'unsupported', 'tokenizer.normalizer.more is 1'],
    [{ model, normalizer: { type: 'Replace', pattern: { String: '' }, content: '' } }, 'invalid_argument', 'pattern.String is empty'],
    [{ model, normalizer: { type: 'Replace', pattern: { String: 'ab'.repeat(40_000) }, content: '' } }, 'unsupported', 'pattern.String is "ab', 'of 80000 characters'],
    [{ model, pre_tokenizer: { type: 'Metaspace', replacement: '_'.repeat(40_000) } }, 'unsupported', 'replacement is "__', 'of 40000 characters'],
    [{ model, normalizer: { type: 'Replace', content: '' } }, 'invalid_argument', 'normalizer.pattern is missing'],
    [{ model, ...rules('%') }, 'invalid_argument', 'precompiled_charsmap cannot be read, expected base64'],
    [{ model, ...rules('AAAA') }, 'invalid_argument', 'has 3 bytes and a trie of 0'],
    [{ model, pre_tokenizer: { type: 'UnicodeScripts' } }, 'unsupported', 'tokenizer.pre_tokenizer.type is "UnicodeScripts"'],
    [{ model, pre_tokenizer: { type: 'Split', pattern: { Regex: '\\K' }, behavior: 'Isolated' } }, 'unsupported', 'pattern.Regex is "\\\\K"'],
    [{ model, pre_tokenizer: { type: 'Split', pattern: { String: 'a' }, behavior: 'Other' } }, 'unsupported', 'behavior is "Other"'],
    [{ model, post_processor: { type: 'Other' } }, 'unsupported', 'tokenizer.post_processor.type is "Other"'],
    [{ model, decoder: { type: 'CTC' } }, 'unsupported', 'tokenizer.decoder.type is "CTC"'],
    [{ model, more: true }, 'unsupported', 'tokenizer.more is true'],
    [{ model: { ...model, dropout: 0.5 } }, 'unsupported', 'tokenizer.model.dropout is 0.5'],
    [{ model: { ...model, continuing_subword_prefix: '#' } }, 'unsupported', 'continuing_subword_prefix is "#"'],
    [{ model: { ...model, unk_token: 'x' } }, 'invalid_argument', 'tokenizer.model.unk_token is "x", expected a token of vocab'],
    [{ model: { ...model, vocab: { a: -1 } } }, 'invalid_argument', 'tokenizer.model.vocab has -1 for "a"'],
    [{ model: { ...model, merges: ['a b c'] } }, 'invalid_argument', 'tokenizer.model.merges[0] is "a b c"'],
    [{ model: { ...model, merges: ['a b'] } }, 'invalid_argument', 'expected two tokens that make a third'],
    [{ model: { type: 'Unigram', vocab: [['a', 'b']] } }, 'invalid_argument', 'tokenizer.model.vocab[0] is an array, expected a text and a score'],
    [{ model, added_tokens: [{ id: 1, content: '' }] }, 'invalid_argument', 'added_tokens have an empty content'],
    [{ model, added_tokens: [{ id: 1, content: 'x'.repeat(200_000) }] }, 'unsupported', 'added_tokens have 200000 letters'],
    [{ model, added_tokens: [{ content: 'x' }] }, 'invalid_argument', 'tokenizer.added_tokens[0].id is undefined'],
    [{}, 'invalid_argument', 'tokenizer has no model'],
    [null, 'invalid_argument', 'tokenizer is null, expected tokenizer.json, parsed'],
  ]) {
    test(`${says[0]}`, () => refused(() => jsonTokenizer(json), code, ...says));
  }
  test('the caller gives a tokenizer that works, or tokenizer.json', () => {
    const works = { encode: () => [], decode: () => '' };
    assert.equal(givenTokenizer(works), works);
    assert.equal(givenTokenizer(undefined), undefined);
    assert.deepEqual(ids(givenTokenizer({ model }), 'ab'), [0, 1]);
    for (const given of [{}, { encode: () => [] }, 3]) refused(() => givenTokenizer(given), 'invalid_argument', 'tokenizer is', 'encode() and decode(), or tokenizer.json');
  });
}); // prettier-ignore
