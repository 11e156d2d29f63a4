// @build any
// Tokenizers of characters, of @huggingface/tokenizers by structure, and out of files of GGUF and of ours.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectThrows } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { ownMetadata, ownModel } from './support/own.js';

const { openModel, charactersTokenizer, huggingFaceTokenizer, decodeStream } = models;

describe('charactersTokenizer', () => {
  const tokenizer = charactersTokenizer(['a', '春', '😀', ' ']);
  test('there and back', () => {
    assert.deepEqual([...tokenizer.encode('😀春 a')], [2, 1, 3, 0]);
    assert.equal(tokenizer.decode([2, 1, 3, 0]), '😀春 a');
    assert.equal(tokenizer.decode([9, -1]), '\ufffd\ufffd');
  });
  test('what it cannot do is refused', () => {
    expectThrows(() => tokenizer.encode('ab'), 'encode', 'invalid_argument', 'the text has "b"');
    for (const [call, ...says] of [
      [() => charactersTokenizer('abc'), '"abc"'],
      [() => charactersTokenizer(['a', 'bc']), '[a,bc]'],
      [() => charactersTokenizer(['a', '']), '[a,]'],
      [() => charactersTokenizer(['a', 1]), '[a,1]'],
      [() => charactersTokenizer(['a', 'b', 'a']), '1 of the characters'],
    ]) {
      expectThrows(call, 'charactersTokenizer', 'invalid_argument', ...says);
    }
  });
});

describe('huggingFaceTokenizer', () => {
  test('takes what has encode and decode', () => {
    const asked = [];
    const tokenizer = huggingFaceTokenizer({
      encode: (text) => ({ ids: [text.length], tokens: [text] }),
      decode(ids, options) {
        asked.push([ids, options]);
        return 'text';
      },
    });
    assert.deepEqual(tokenizer.encode('four'), [4]);
    assert.equal(tokenizer.decode(Object.freeze([1, 2])), 'text');
    assert.deepEqual(asked, [[[1, 2], { skip_special_tokens: true }]]);
    for (const given of [null, undefined, {}, { encode: () => 1 }, 'x']) {
      expectThrows(() => huggingFaceTokenizer(given), 'load', 'invalid_argument', 'tokenizer is');
    }
  });
});

describe('decodeStream', () => {
  /** As byte fallback decodes in tokenizers of Hugging Face: bytes that are no letters are one sign each, together. */
  const fallback = {
    decode(ids) {
      const text = new TextDecoder().decode(Uint8Array.from(ids));
      return text.includes('\ufffd') ? '\ufffd'.repeat(ids.length) : text.replace(/^ /, '');
    },
  };
  test('a decoder that drops the first space, and tells bytes of open letters one by one', () => {
    const text = 'a 中文 b 😀😀 é c';
    const ids = [...new TextEncoder().encode(text)];
    const stream = decodeStream(fallback, ids.slice(0, 1));
    const parts = ids.slice(1).map((id) => stream.push(id));
    assert.equal(parts.join('') + stream.end(), text.slice(1));
    assert.ok(parts.every((part) => !part.includes('\ufffd')));
  });
});

const list = (values, kind) => gguf.list(values.map(gguf[kind]));
const { tensors, metadata } = ggufModels.gemma();
/** The tokenizer of a file with such metadata. */
async function tokenizerOf(own) {
  const pairs = Object.entries(own).map(([key, value]) => [`tokenizer.ggml.${key}`, value]);
  const opened = await openModel({ weights: ggufFile([...metadata, ...pairs], tensors) });
  opened.close();
  return opened;
}

describe('openModel: tokenizers of GGUF', () => {
  const hex = Array.from(
    { length: 256 },
    (_, i) => `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const pieces = [
    '<unk>',
    '<s>',
    '</s>',
    ...hex,
    '\u2581',
    'h',
    'i',
    'hi',
    '\u2581hi',
    '<turn>',
    '<turn>x',
  ];
  const types = pieces.map((text, id) =>
    id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : text.startsWith('<turn>') ? 3 : 1,
  );
  const scores = pieces.map((_, i) => -i);
  const llama = {
    ...{ model: gguf.text('llama'), tokens: list(pieces, 'text'), scores: list(scores, 'f32') },
    ...{ token_type: list(types, 'i32'), bos_token_id: gguf.u32(1), eos_token_id: gguf.u32(2) },
  };
  const idOf = (text) => pieces.indexOf(text);

  test('pieces with scores', async () => {
    const { tokenizer, endTokens } = await tokenizerOf(llama);
    assert.deepEqual(endTokens, [2]);
    assert.deepEqual([...tokenizer.encode('hi hi')], [1, idOf('\u2581hi'), idOf('\u2581hi')]);
    const special = [...tokenizer.encode('hi<turn>xhi<turn>hi')];
    assert.deepEqual(special, [
      1,
      idOf('\u2581hi'),
      idOf('<turn>x'),
      idOf('\u2581hi'),
      idOf('<turn>'),
      idOf('\u2581hi'),
    ]);
    for (const text of ['hi hi', 'é中 hi', ' hi']) {
      assert.equal(tokenizer.decode([...tokenizer.encode(text)]), text);
    }
  });

  test('a word and a piece that no call can spread', async () => {
    const long = 'x'.repeat(300_000);
    const more = { tokens: list([...pieces, long], 'text'), scores: list([...scores, 1], 'f32') };
    const { tokenizer } = await tokenizerOf({ ...llama, ...more });
    assert.equal(tokenizer.decode([pieces.length]), long);
    assert.equal(tokenizer.decode([...tokenizer.encode(long)]), long);
    const special = { ...more, token_type: list([...types, 3], 'i32') };
    assert.equal((await tokenizerOf({ ...llama, ...special })).tokenizer, undefined);
  });

  test('a letter that neither pieces nor all of its bytes can spell is one unknown token', async () => {
    const few = ['<unk>', '<s>', '</s>', '\u2581', 'a', 'b', '<0xE4>'];
    const { tokenizer } = await tokenizerOf({
      ...{ ...llama, tokens: list(few, 'text'), scores: list(few.map(() => 0), 'f32') },
      token_type: list([2, 3, 3, 1, 1, 1, 6], 'i32'),
    }); // prettier-ignore
    assert.deepEqual([...tokenizer.encode('a中b')], [1, 3, 4, 0, 5]);
    assert.deepEqual([...tokenizer.encode('é😀')], [1, 3, 0, 0]);
    assert.equal(tokenizer.begin, 1);
  });

  test('pieces without what goes before a text', async () => {
    const bare = { add_bos_token: gguf.bool(false), add_space_prefix: gguf.bool(false) };
    const { tokenizer } = await tokenizerOf({ ...llama, ...bare });
    assert.deepEqual([...tokenizer.encode('hi hi')], [idOf('hi'), idOf('\u2581hi')]);
  });

  /** The letters of bytes, as GPT-2's encoder.py makes them. */
  const letters = (() => {
    const seen = [[33, 126], [161, 172], [174, 255]].flatMap(([a, b]) => Array.from({ length: b - a + 1 }, (_, i) => a + i));
    const map = new Map(seen.map((byte) => [byte, String.fromCodePoint(byte)]));
    let next = 0;
    for (let byte = 0; byte < 256; ++byte) if (!map.has(byte)) map.set(byte, String.fromCodePoint(256 + next++));
    return Array.from({ length: 256 }, (_, byte) => map.get(byte));
  })(); // prettier-ignore
  const merges = ['h e', 'l l', 'he ll', 'hell o', '\u0120 w', '1 2', '12 3', '\u0120 \u0120'];
  const tokens = [...letters, ...merges.map((pair) => pair.replace(' ', '')), '<|end|>', '<|im|>'];
  const kinds = tokens.map((text) => (text.startsWith('<|') ? 3 : 1));
  const gpt2 = {
    ...{ model: gguf.text('gpt2'), tokens: list(tokens, 'text'), merges: list(merges, 'text') },
    ...{ token_type: list(kinds, 'i32'), bos_token_id: gguf.u32(tokens.length - 2) },
  };
  const spelt = (ids) => ids.map((id) => tokens[id]);

  for (const [pre, text, expected] of [
    ['gpt-2', 'hello hell w1234', ['hello', '\u0120', 'hell', '\u0120w', '123', '4']],
    ['gpt-2', "it's", ['i', 't', "'", 's']],
    ['gpt-2', 'a   b', ['a', '\u0120\u0120', '\u0120', 'b']],
    ['llama-bpe', '1234', ['<|end|>', '123', '4']],
    ['qwen2', '1234', ['1', '2', '3', '4']],
    ['qwen2', 'hello<|im|>hello', ['hello', '<|im|>', 'hello']],
  ]) {
    test(`pairs of bytes, ${pre}: ${text}`, async () => {
      const { tokenizer } = await tokenizerOf({ ...gpt2, pre: gguf.text(pre) });
      assert.deepEqual(spelt([...tokenizer.encode(text)]), expected);
    });
  }

  for (const pre of ['llama-bpe', 'llama3', 'llama-v3', 'gpt-2']) {
    test(`pairs of bytes, ${pre}: a word that is a token before any merge, or not`, async () => {
      const whole = { tokens: list([...tokens, 'ell'], 'text') };
      const { tokenizer } = await tokenizerOf({ ...gpt2, ...whole, pre: gguf.text(pre) });
      const ids = [...tokenizer.encode('ell hell')];
      const words = ids.map((id) => [...tokens, 'ell'][id]);
      const [begin, first] = pre === 'gpt-2' ? [[], ['e', 'll']] : [['<|end|>'], ['ell']];
      assert.deepEqual(words, [...begin, ...first, '\u0120', 'hell']);
      assert.equal(tokenizer.begin, pre === 'gpt-2' ? undefined : tokens.length - 2);
    });
  }

  test('pairs of bytes: a token of the user is decoded as it is written', async () => {
    const more = { tokens: list([...tokens, 'é<a>'], 'text'), token_type: list([...kinds, 4], 'i32') }; // prettier-ignore
    const { tokenizer } = await tokenizerOf({ ...gpt2, ...more, pre: gguf.text('qwen2') });
    assert.deepEqual([...tokenizer.encode('é<a>')], [tokens.length]);
    assert.equal(tokenizer.decode([tokens.length]), 'é<a>');
    assert.equal(tokenizer.decode([...tokenizer.encode('é')]), 'é');
  });

  test('a token to begin with that is none is not added', async () => {
    for (const [own, adds] of [[llama, 'add_bos_token'], [gpt2, 'add_bos_token']]) {
      for (const bos of [2 ** 32 - 1, 10_000]) {
        const changed = { ...own, bos_token_id: gguf.u32(bos), [adds]: gguf.bool(true) };
        const { tokenizer } = await tokenizerOf(changed);
        assert.ok([...tokenizer.encode('hi')].every((id) => id < 1000), `${bos}`);
        assert.equal(tokenizer.begin, undefined);
      }
    }
  }); // prettier-ignore

  test('pairs of bytes: there and back', async () => {
    const { tokenizer } = await tokenizerOf({ ...gpt2, pre: gguf.text('qwen2') });
    for (const text of [
      'hello  world\n\n x',
      '中文 é 😀',
      '\t\u00a0\u0000',
      "I'LL",
      '12345 678',
      '',
    ]) {
      const ids = [...tokenizer.encode(text)];
      assert.equal(tokenizer.decode(ids), text);
      const stream = decodeStream(tokenizer);
      assert.equal(ids.map((id) => stream.push(id)).join('') + stream.end(), text);
    }
    assert.equal(tokenizer.decode([tokens.length - 1, 10 ** 7, -1]), '');
  });

  for (const [what, own] of [
    ['none', {}],
    ['another kind', { ...llama, model: gguf.text('bert') }],
    ['another way to cut', { ...gpt2, pre: gguf.text('tekken') }],
    ['no scores', { ...llama, scores: list([1], 'f32') }],
    ['scores that are texts', { ...llama, scores: list(pieces, 'text') }],
    ['tokens that are numbers', { ...llama, tokens: list([1, 2], 'u32') }],
    ['no pairs', { ...gpt2, merges: list([1], 'u32') }],
  ]) {
    test(`no tokenizer: ${what}`, async () => {
      assert.equal((await tokenizerOf(own)).tokenizer, undefined);
    });
  }

  test('the one that is given goes first', async () => {
    const own = { encode: () => [], decode: () => '' };
    const pairs = Object.entries(llama).map(([key, value]) => [`tokenizer.ggml.${key}`, value]);
    const opened = await openModel({
      weights: ggufFile([...metadata, ...pairs], tensors),
      tokenizer: own,
    });
    assert.equal(opened.tokenizer, own);
    opened.close();
  });
});

describe('openModel: the tokenizer in files of ours', () => {
  const letters = ['\n', ' ', 'a', '春', '"', 'b', 'c', 'd', '😀'];
  const json = (changes) => JSON.stringify({ type: 'characters', tokens: letters, ...changes });
  const open = (tokenizer, metadata = ownMetadata(), more = {}) =>
    openModel({
      weights: safetensors(ownModel().tensors, { ...metadata, ...(tokenizer && { tokenizer }) }),
      ...more,
    });

  test('the place of a letter is its number', async () => {
    const { tokenizer, close } = await open(json());
    close();
    assert.deepEqual([...tokenizer.encode('a春 😀\n')], [2, 3, 1, 8, 0]);
    assert.equal(tokenizer.decode([8, 4, 2]), '😀"a');
    assert.throws(() => tokenizer.encode('z'), { code: 'invalid_argument' });
  });

  for (const [what, text] of [
    ['none', undefined],
    ['one of another type', json({ type: 'spelling' })],
    ['what is no JSON', '{'],
    ['what is no object', '3'],
    ['null', 'null'],
  ]) {
    test(`no tokenizer: ${what}`, async () => {
      const { tokenizer, close } = await open(text);
      close();
      assert.equal(tokenizer, undefined);
    });
  }

  for (const [what, tokens, said] of [
    ['no list', 'ab', 'characters are "ab"'],
    ['a token of two letters', ['a', 'bc'], 'characters are [a,bc]'],
    ['a letter twice', ['a', 'a'], '1 of the characters'],
    ['nothing', undefined, 'characters are undefined'],
  ]) {
    test(`characters that are ${what} are refused`, async () => {
      await assert.rejects(open(json({ tokens })), ({ code, message }) => {
        assert.equal(code, 'invalid_argument');
        assert.ok(message.startsWith('load: ') && message.includes(said), message);
        return true;
      });
    });
  }

  test('the one that is given goes first, whatever is in the file', async () => {
    const own = { encode: () => [], decode: () => '' };
    const opened = await open(json({ tokens: 3 }), ownMetadata(), { tokenizer: own });
    opened.close();
    assert.equal(opened.tokenizer, own);
  });
});
