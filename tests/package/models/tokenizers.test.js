// @build any
// Tokenizers of characters, of @huggingface/tokenizers by structure, and out of files of GGUF and of ours.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectThrows } from '../../support/js/check.js';
import { unreadable } from '../../support/js/unreadable.js';
import { models } from './support/bundle.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { charMapBytes } from './support/char-map.js';
import { ownMetadata, ownModel } from './support/own.js';

const { openModel, charactersTokenizer, huggingFaceTokenizer, decodeStream } = models;

describe('charactersTokenizer', () => {
  const tokenizer = charactersTokenizer(['a', '春', '😀', ' ']);
  test('there and back', () => {
    assert.deepEqual([...tokenizer.encode('😀春 a')], [2, 1, 3, 0]);
    assert.equal(tokenizer.decode([2, 1, 3, 0]), '😀春 a');
    assert.equal(tokenizer.decode([9, -1]), '\ufffd\ufffd');
    assert.equal(tokenizer.decode(Int32Array.of(2, 1)), '😀春');
    assert.deepEqual([...tokenizer.encodePlain('春')], [1]);
    assert.deepEqual([...tokenizer.bytesOf(1)], [0xe6, 0x98, 0xa5]);
    assert.deepEqual([tokenizer.bytesOf(4), tokenizer.bytesOf(-1)], [undefined, undefined]);
    assert.equal(charactersTokenizer(['\ud800']).bytesOf(0), undefined);
  });
  test('what it cannot do is refused', () => {
    expectThrows(() => tokenizer.encode('ab'), 'encode', 'invalid_argument', 'the text has "b"');
    for (const [call, ...says] of [
      [() => charactersTokenizer('abc'), '"abc"'],
      [() => charactersTokenizer(['a', 'bc']), '[a,bc]'],
      [() => charactersTokenizer(['a', '']), '[a,]'],
      [() => charactersTokenizer(['a', 1]), '[a,1]'],
      [() => charactersTokenizer(['a', 'b', 'a']), 'characters have duplicates (1)'],
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
    assert.equal(tokenizer.decode(Int32Array.of(3)), 'text');
    assert.equal(tokenizer.decode([]), '');
    // What was told of a stream cannot be changed by the tokens that follow.
    const options = { skip_special_tokens: true, clean_up_tokenization_spaces: false };
    assert.deepEqual(asked, [[[1, 2], options], [[3], options]]); // prettier-ignore
    for (const given of [null, undefined, {}, { encode: () => 1 }, 'x']) {
      expectThrows(() => huggingFaceTokenizer(given), 'load', 'invalid_argument', 'tokenizer is');
    }
    expectThrows(() => huggingFaceTokenizer(unreadable()), 'load', 'invalid_argument', 'tokenizer cannot be read'); // prettier-ignore
  });
});

describe('huggingFaceTokenizer: the token that begins a text', () => {
  for (const [what, before, after, begin] of [
    ['one before', [5], [], 5],
    ['none', [], [], undefined],
    ['one after', [], [6], undefined],
    ['one before and one after', [5], [6], undefined],
  ]) {
    test(`${what}`, () => {
      const tokenizer = huggingFaceTokenizer({
        encode: (text) => ({ ids: [...before, ...Array.from(text, () => 1), ...after] }),
        decode: () => '',
      });
      assert.equal(tokenizer.begin, begin);
      assert.equal(tokenizer.begin, begin);
    });
  }
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

  /** Bytes, one sign for those of a letter that is not whole. */
  const bytes = {
    decode: (ids) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(ids)),
  };
  /** Halves of surrogate pairs. */
  const halves = { decode: (ids) => String.fromCharCode(...ids) };
  const utf8 = (text) => [...new TextEncoder().encode(text)];
  const utf16 = (text) => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  const told = (tokenizer, prompt, ids) => {
    const stream = decodeStream(tokenizer, prompt);
    return [...ids.map((id) => stream.push(id)), stream.end()];
  };

  for (const [what, tokenizer, idsOf] of [
    ['bytes', bytes, utf8],
    ['bytes told one by one', fallback, utf8],
    ['halves of letters', halves, utf16],
  ]) {
    test(`${what}: a prompt may end in any letter, which is told once it is whole`, () => {
      for (const text of ['aé中😀b', '中文中文中文中文中文', '😀😁😀😁😀😁😀', 'éééé a 中']) {
        const ids = idsOf(text);
        for (let cut = 1; cut <= ids.length; ++cut) {
          const parts = told(tokenizer, ids.slice(0, cut), ids.slice(cut));
          // The letters that do not end in the prompt.
          const whole = Array.from(text).filter((_, i, all) => idsOf(all.slice(0, i + 1).join('')).length > cut); // prettier-ignore
          assert.equal(parts.join(''), whole.join(''), `${text} ${cut}`);
          for (const part of parts) assert.ok(!/\p{Surrogate}|\ufffd/u.test(part), `${text} ${cut} ${part}`); // prettier-ignore
        }
      }
    });
  }

  test('a letter of the prompt that stays open is not told', () => {
    const [first] = utf8('中');
    assert.deepEqual(told(bytes, [first], []), ['']);
    assert.equal(told(bytes, [97, first], utf8('bc')).join(''), 'bc');
  });

  test('bytes of no letter are told as signs, and what follows them whole', () => {
    const parts = told(bytes, [97], [...Array(14).fill(0xff), ...utf8('😀'), ...utf8('b')]);
    assert.equal(parts.join(''), `${'\ufffd'.repeat(14)}😀b`);
  });

  test('a decoder that takes spaces away before what follows: no letter is lost, none is told twice', () => {
    const words = ['do', ' n', "'t", ' ', '.', ' x', ' ', '?', ' y'];
    const cleaned = (text) => text.replace(/ ([.?])/g, '$1').replace(" n't", "n't");
    const decode = (ids) => cleaned(ids.map((id) => words[id]).join(''));
    const text = told({ decode }, [0], [1, 2, 3, 4, 5, 6, 7, 8]).join('');
    assert.equal(text.replaceAll(' ', ''), "n't.x?y");
  });
});

const list = (values, kind) => gguf.list(values.map(gguf[kind]));
const { tensors, metadata } = ggufModels.gemma();
/** The tokenizer of a file with such metadata. */
async function tokenizerOf(own, model = { metadata, tensors }) {
  const pairs = Object.entries(own).map(([key, value]) => [`tokenizer.ggml.${key}`, value]);
  const weights = ggufFile([...model.metadata, ...pairs], model.tensors);
  const opened = await openModel({ weights });
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

  /** Bytes of tokens, and what they decode to between others that have a text. */
  const bytesIn = (tokenizer, ids) =>
    ids.map((id) => {
      const bytes = tokenizer.bytesOf(id);
      return bytes && [...bytes];
    });
  const utf8 = (text) => [...new TextEncoder().encode(text)];

  test('bytes of tokens: what each adds in the middle of a text, and none of those that are no text', async () => {
    const { tokenizer } = await tokenizerOf(llama);
    assert.deepEqual(
      bytesIn(tokenizer, [
        0,
        1,
        2,
        3 + 0xe4,
        idOf('\u2581'),
        idOf('\u2581hi'),
        idOf('<turn>'),
        10_000,
      ]),
      [undefined, undefined, undefined, [0xe4], [0x20], utf8(' hi'), undefined, undefined],
    );
    const pairs = (await tokenizerOf({ ...gpt2, pre: gguf.text('qwen2') })).tokenizer;
    const text = "x hello 中文 é 😀\n12 I'LL";
    const ids = [...pairs.encode(text)];
    assert.deepEqual(bytesIn(pairs, ids).flat(), utf8(text));
    assert.deepEqual(bytesIn(pairs, [tokens.length - 1, 10 ** 7]), [undefined, undefined]);
    const hi = [...tokenizer.encode('hi é中 hi')].slice(2);
    assert.deepEqual(bytesIn(tokenizer, hi).flat(), utf8(' é中 hi'));
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
    assert.equal(tokenizer.decode([idOf('\u2581hi')]), ' hi');
  });

  test('pieces with a space before a text and no token: there and back', async () => {
    const { tokenizer } = await tokenizerOf({ ...llama, add_bos_token: gguf.bool(false) });
    for (const text of ['hi', ' hi', 'hi hi', 'é', '']) {
      const ids = [...tokenizer.encode(text)];
      assert.equal(tokenizer.decode(ids), text);
      assert.equal(tokenizer.decode(Int32Array.from(ids)), text);
    }
    // Whoever puts the token there has the space taken away too.
    assert.equal(tokenizer.decode([1, idOf('\u2581hi')]), 'hi');
  });

  test('the token after a text, if the file says so', async () => {
    for (const [own, flag, end] of [
      [llama, true, [2]],
      [llama, false, []],
      [{ ...llama, eos_token_id: gguf.u32(10_000) }, true, []],
      [{ ...gpt2, eos_token_id: gguf.u32(7), pre: gguf.text('qwen2') }, true, [7]],
    ]) {
      const plain = await tokenizerOf(own);
      const { tokenizer } = await tokenizerOf({ ...own, add_eos_token: gguf.bool(flag) });
      for (const text of ['hi', '']) {
        const ids = [...plain.tokenizer.encode(text)];
        assert.deepEqual([...tokenizer.encode(text)], [...ids, ...end]);
        assert.deepEqual([...tokenizer.encodePlain(text)], [...ids, ...end]);
      }
    }
  });

  test('pieces: the text of the unknown token is that token', async () => {
    const { tokenizer } = await tokenizerOf(llama);
    const hi = idOf('\u2581hi');
    assert.deepEqual([...tokenizer.encode('hi<unk>hi')], [1, hi, 0, hi]);
    assert.equal(tokenizer.decode([1, hi, 0, hi]), 'hi hi');
  });

  test('pieces: U+2581 in a text is a space, which it stands for in pieces', async () => {
    const { tokenizer } = await tokenizerOf(llama);
    for (const [a, b] of [['hi\u2581hi', 'hi hi'], ['\u2581', ' ']]) {
      assert.deepEqual([...tokenizer.encode(a)], [...tokenizer.encode(b)]);
    }
  }); // prettier-ignore

  test('half a surrogate pair is U+FFFD, of every kind', async () => {
    const sign = { tokens: list([...pieces, '\ufffd'], 'text'), scores: list([...scores, 1], 'f32') };
    const { tokenizer } = await tokenizerOf({ ...llama, ...sign });
    const id = pieces.length;
    assert.deepEqual([...tokenizer.encode('\ud83dhi\ude00')], [1, idOf('\u2581'), id, idOf('hi'), id]);
    assert.deepEqual([...tokenizer.encode('\ud83d\ude00')].length, 2 + 4);
    const pairs = await tokenizerOf({ ...gpt2, pre: gguf.text('deepseek-v3') });
    for (const half of ['\ud83d', '\ude00']) {
      // With the space before it, as a sign that it is.
      assert.deepEqual(
        [...pairs.tokenizer.encode(`a ${half}`)],
        [...pairs.tokenizer.encode('a \ufffd')],
      );
    }
  }); // prettier-ignore

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

  test('pairs of bytes: letters and marks are composed for Qwen, as in its tokenizer.json, and for nobody who does not say so', async () => {
    for (const [pre, composes] of [['qwen2', true], ['qwen35', true], ['olmo', true], ['gpt-2', false], ['llama-bpe', false], ['deepseek-r1-qwen', false]]) {
      const { tokenizer } = await tokenizerOf({ ...gpt2, pre: gguf.text(pre) });
      const [apart, one] = ['e\u0301', '\u00e9'];
      assert.notEqual(apart, one);
      assert.equal(tokenizer.decode([...tokenizer.encode(apart)]), composes ? one : apart, pre);
    }
  }); // prettier-ignore

  test('pairs of bytes: what pairs make that is no token is spelt in bytes', async () => {
    const few = { tokens: list([...letters], 'text'), token_type: list(letters.map(() => 1), 'i32') };
    const { tokenizer } = await tokenizerOf({ ...gpt2, ...few, pre: gguf.text('gpt-2') });
    assert.equal(tokenizer.decode([...tokenizer.encode('hello')]), 'hello');
  }); // prettier-ignore

  describe('control texts that a user wrote', () => {
    const typed = 'hello<|im|>hello';
    test('are tokens for encode, and text for encodePlain', async () => {
      for (const [own, text] of [[{ ...gpt2, pre: gguf.text('qwen2') }, typed], [llama, 'hi<turn>hi<unk>']]) {
        const { tokenizer } = await tokenizerOf(own);
        const [control, plain] = [[...tokenizer.encode(text)], [...tokenizer.encodePlain(text)]];
        assert.notEqual(tokenizer.decode(control), text);
        assert.equal(tokenizer.decode(plain), text);
        const types = own === llama ? [2, 3] : [3];
        const all = own === llama ? pieces.map((_, id) => (id === 0 ? 2 : id < 3 ? 3 : id < 259 ? 6 : 3)) : kinds;
        const begins = tokenizer.begin === undefined ? 0 : 1;
        if (own !== llama) assert.ok(plain.slice(begins).every((id) => !types.includes(all[id])));
        assert.deepEqual(plain.slice(0, begins), control.slice(0, begins));
      }
    });
    test('are tokens too where the file names one as the end and calls it ordinary, if it is a text of an end', async () => {
      const end = tokens.length;
      const more = { tokens: list([...tokens, '</s>', '<x>'], 'text'), token_type: list([...kinds, 1, 1], 'i32') };
      const named = async (fields) => (await tokenizerOf({ ...gpt2, ...more, ...fields, pre: gguf.text('qwen2') })).tokenizer;
      for (const name of ['eos', 'eot', 'eom']) {
        const tokenizer = await named({ [`${name}_token_id`]: gguf.u32(end) });
        assert.deepEqual(spelt([...tokenizer.encode('h</s>')]), ['h', undefined], name);
        assert.equal(tokenizer.decode([...tokenizer.encode('h</s>')]), 'h');
        assert.equal(tokenizer.decode([...tokenizer.encodePlain('h</s>')]), 'h</s>');
      }
      const others = [{}, { eos_token_id: gguf.u32(end + 1) }, { eos_token_id: gguf.u32(2 ** 32 - 1) }];
      for (const fields of others) assert.deepEqual(spelt([...(await named(fields)).encode('</s><x>')]), [...'</s><x>']);
    });
    test('that a token of the user has are this token, which is text', async () => {
      const more = { tokens: list([...tokens, '<think>'], 'text'), token_type: list([...kinds, 4], 'i32') };
      const { tokenizer } = await tokenizerOf({ ...gpt2, ...more, pre: gguf.text('qwen2') });
      assert.deepEqual([...tokenizer.encodePlain('<think>')], [tokens.length]);
      assert.equal(tokenizer.decode([tokens.length]), '<think>');
    });
  }); // prettier-ignore

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

  describe('the unigram model', () => {
    // "ab" as one piece is worth less than "a" and "b" by themselves, unlike "bc".
    const pieces = ['<pad>', '</s>', '<unk>', '\u2581', 'a', 'b', 'c', 'ab', 'bc', '\u2581a', '<x>', 'fi'];
    const scores = [0, 0, 0, -2, -2, -2, -2, -5, -3, -3, 0, -1];
    const types = pieces.map((_, id) => ({ 0: 3, 1: 3, 2: 2, 10: 4 })[id] ?? 1);
    const rules = charMapBytes({ '\ufb01': 'fi', '\u00a0': ' ', 'a\u0301': 'c' });
    const t5 = {
      ...{ model: gguf.text('t5'), tokens: list(pieces, 'text'), scores: list(scores, 'f32') },
      ...{ token_type: list(types, 'i32'), precompiled_charsmap: list([...rules], 'u8') },
      add_space_prefix: gguf.bool(true),
    };
    const of = (more) => tokenizerOf({ ...t5, ...more });
    const merged = { remove_extra_whitespaces: gguf.bool(true) };
    for (const [what, more, text, expected] of [
      ['the likeliest pieces, and a token after them', {}, 'abc', [9, 8, 1]],
      ['spaces stay', {}, 'b  a', [3, 5, 3, 9, 1]],
      ['or are one', merged, ' b   a ', [3, 5, 9, 1]],
      ['nothing before a text', { add_space_prefix: gguf.bool(false) }, 'b', [5, 1]],
      ['letters by the longest rule', {}, '\ufb01\u00a0a\u0301a', [3, 11, 3, 6, 4, 1]],
      ['unknown letters are one token', {}, 'xy\u00e9b', [3, 2, 5, 1]],
      ['a token of the user', {}, 'b<x>b', [3, 5, 10, 3, 5, 1]],
      ['no token after', { add_eos_token: gguf.bool(false) }, 'b', [3, 5]],
      ['a token before', { add_bos_token: gguf.bool(true), bos_token_id: gguf.u32(0) }, 'b', [0, 3, 5, 1]],
      ['rules in int8', { precompiled_charsmap: list([...new Int8Array(rules)], 'i8') }, '\ufb01', [3, 11, 1]],
      ['no rules', { precompiled_charsmap: gguf.list([], 0) }, 'b', undefined],
    ]) {
      test(`${what}`, async () => {
        if (!expected) return assert.rejects(of(more), /has 0 bytes and a trie of 0/);
        const { tokenizer } = await of(more);
        assert.deepEqual([...tokenizer.encode(text)], expected);
      });
    }
    test('there and back, of what the rules leave as it is', async () => {
      const { tokenizer } = await of(merged);
      for (const text of ['abc a', 'b', 'fi b<x>', '']) assert.equal(tokenizer.decode([...tokenizer.encode(text)]), text);
    });
    test('bytes of tokens', async () => {
      const { tokenizer } = await of();
      assert.deepEqual(
        bytesIn(tokenizer, [0, 1, 2, 3, 9, 10, 99]),
        [undefined, undefined, undefined, [0x20], utf8(' a'), utf8('<x>'), undefined],
      );
    });
    test('no tokenizer without a score for each', async () => {
      const { tokenizer, tokenizerProblem } = await of({ scores: list([1], 'f32') });
      assert.equal(tokenizer, undefined);
      assert.match(tokenizerProblem, /12 tokens of the kind t5 and not as many scores/);
    });
  }); // prettier-ignore

  const remedy = ": pass `tokenizer`, such as the address of the model's tokenizer.json";
  const long = { tokens: list(['x'.repeat(300_000)], 'text'), scores: list([1], 'f32'), token_type: list([3], 'i32') }; // prettier-ignore
  for (const [what, own, problem] of [
    ['none', {}, 'the file has no tokenizer'],
    ['another kind', { ...llama, model: gguf.text('plamo2') }, "the file's tokenizer is of the kind plamo2, which is not known here"], // prettier-ignore
    ['another kind with a cut', { ...llama, model: gguf.text('rwkv'), pre: gguf.text('x') }, "the file's tokenizer is of the kind rwkv/x, which is not known here"], // prettier-ignore
    ['another way to cut', { ...gpt2, pre: gguf.text('kimi-k2') }, "the file's tokenizer is of the kind gpt2/kimi-k2, which is not known here"], // prettier-ignore
    ['no scores', { ...llama, scores: list([1], 'f32') }, `the file has ${pieces.length} tokens of the kind llama and not as many scores`], // prettier-ignore
    ['scores that are texts', { ...llama, scores: list(pieces, 'text') }, `the file has ${pieces.length} tokens of the kind llama and not as many scores`], // prettier-ignore
    ['tokens that are numbers', { ...llama, tokens: list([1, 2], 'u32') }, "the file's tokenizer is of the kind llama and has no list of tokens"], // prettier-ignore
    ['no pairs', { ...gpt2, pre: gguf.text('gpt-2'), merges: list([1], 'u32') }, "the file's tokenizer is of the kind gpt2/gpt-2 and has no list of merges"], // prettier-ignore
    ['special texts beyond measure', { ...llama, ...long }, 'the special tokens of the file have 300000 letters, more than 131072'], // prettier-ignore
  ]) {
    test(`no tokenizer, and why: ${what}`, async () => {
      const { tokenizer, tokenizerProblem } = await tokenizerOf(own);
      assert.equal(tokenizer, undefined);
      assert.equal(tokenizerProblem, problem + remedy);
    });
  }

  for (const [what, pre] of [['is missing', {}], ['is "default"', { pre: gguf.text('default') }]]) {
    test(`a way to cut that ${what} is that of llama.cpp by default, which is said`, async () => {
      const { tokenizer, tokenizerProblem } = await tokenizerOf({ ...gpt2, ...pre });
      // Digits in threes, without the space before them.
      assert.deepEqual(spelt([...tokenizer.encode(' 1234')]), ['\u0120', '123', '4']);
      assert.equal(
        tokenizerProblem,
        `tokenizer.ggml.pre ${what}, so that texts are cut as llama.cpp does by default, which may not be how the model learnt it${remedy}`,
      );
    });
  } // prettier-ignore

  test('where nothing is wrong, or a tokenizer is given, there is no problem', async () => {
    assert.equal((await tokenizerOf(llama)).tokenizerProblem, undefined);
    assert.equal((await tokenizerOf({ ...gpt2, pre: gguf.text('qwen2') })).tokenizerProblem, undefined);
  }); // prettier-ignore

  test('the one that is given goes first', async () => {
    const own = { encode: () => [], decode: () => '' };
    const pairs = Object.entries(llama).map(([key, value]) => [`tokenizer.ggml.${key}`, value]);
    const opened = await openModel({
      weights: ggufFile([...metadata, ...pairs], tensors),
      tokenizer: own,
    });
    assert.equal(opened.tokenizer, own);
    assert.equal(opened.tokenizerProblem, undefined);
    opened.close();
  });
});

describe('openModel: pieces of words out of GGUF', () => {
  const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '\u2581un', 'aff', 'able', '\u2581a', '\u2581!', '\u2581\u4e2d', '\u2581etude', '\u2581E', 'e', '\u2581\u03c3\u03c3', '\u2581\u00e9'];
  const idOf = (text) => words.indexOf(text);
  const bert = {
    ...{ model: gguf.text('bert'), tokens: list(words, 'text') },
    token_type: list(words.map((_, id) => (id === 1 ? 2 : id < 4 ? 3 : 1)), 'i32'),
    ...{ unknown_token_id: gguf.u32(1), bos_token_id: gguf.u32(2), seperator_token_id: gguf.u32(3) },
  };
  const un = [idOf('\u2581un'), idOf('aff'), idOf('able')];
  for (const [what, text, ids] of [
    ['the longest pieces, from the front', 'unaffable', un],
    ['capital letters are small ones', 'UNaffABLE', un],
    ['a word that cannot be spelt is one unknown token', 'unaffx a', [1, idOf('\u2581a')]],
    ['a piece within a word begins none', 'aff', [1]],
    ['signs and Han letters are words', 'a!\u4e2da', ['\u2581a', '\u2581!', '\u2581\u4e2d', '\u2581a'].map(idOf)],
    ['accents are taken away, composed or not', '\u00e9tude e\u0301tude', [idOf('\u2581etude'), idOf('\u2581etude')]],
    ['spaces of every kind part words, and controls are nothing', '\u3000a\u00a0a\u0000\u200b\t', [idOf('\u2581a'), idOf('\u2581a')]],
    ['a sigma is the same at the end of a word', '\u03a3\u03a3', [idOf('\u2581\u03c3\u03c3')]],
    ['a word of 101 letters is unknown', 'a'.repeat(101), [1]],
    ['the mark of pieces in a text is no mark', 'un\u2581a', [1]],
    ['special texts', 'a[SEP]a', [idOf('\u2581a'), 3, idOf('\u2581a')]],
    ['nothing', '', []],
  ]) {
    test(`${what}`, async () => {
      const { tokenizer, tokenizerProblem } = await tokenizerOf(bert);
      assert.equal(tokenizerProblem, undefined);
      assert.deepEqual([...tokenizer.encode(text)], [2, ...ids, 3]);
    });
  }
  test('back as words with one space between, without what is no text', async () => {
    const { tokenizer } = await tokenizerOf(bert);
    assert.equal(tokenizer.decode([...tokenizer.encode('UNaffable  a !')]), 'unaffable a !');
    assert.equal(tokenizer.begin, 2);
    // What a piece adds depends on where it stands.
    assert.equal('bytesOf' in tokenizer, false);
  });
  test('with capital letters and accents, and without the tokens around, if the file says so', async () => {
    const { tokenizer } = await tokenizerOf({
      ...bert,
      'normalizer.lowercase': gguf.bool(false),
      add_bos_token: gguf.bool(false),
      add_sep_token: gguf.bool(false),
    });
    assert.deepEqual([...tokenizer.encode('Ee \u00e9')], [idOf('\u2581E'), idOf('e'), idOf('\u2581\u00e9')]);
  });
  test('special texts that a user wrote are signs and words', async () => {
    const { tokenizer } = await tokenizerOf(bert);
    assert.ok([...tokenizer.encodePlain('a[SEP]a')].slice(1, -1).every((id) => id !== 3));
  });
  test('encoders have pairs of texts and the mask; decoders have none', async () => {
    const named = { ...bert, mask_token_id: gguf.u32(0) };
    const { tokenizer } = await tokenizerOf(named, ggufModels.bert());
    const [a, sign] = ['\u2581a', '\u2581!'].map(idOf);
    const pair = { ids: [2, a, a, 3, sign, 3], types: [0, 0, 0, 0, 1, 1], isCut: false };
    assert.deepEqual(tokenizer.encodePair('a A', '!'), pair);
    assert.deepEqual([...tokenizer.encodePair('a a', '!', 5).ids], [2, a, 3, sign, 3]);
    assert.equal(tokenizer.mask, 0);
    const bare = await tokenizerOf({ ...named, add_sep_token: gguf.bool(false) }, ggufModels.bert());
    assert.equal('encodePair' in bare.tokenizer, false);
    assert.equal('encodePair' in (await tokenizerOf(named)).tokenizer, false);
  });
  test('tokens of BERT where the file does not name them', async () => {
    const many = Array.from({ length: 104 }, (_, id) => `\u2581w${id}`);
    const { tokenizer } = await tokenizerOf({ model: gguf.text('bert'), tokens: list(many, 'text') });
    assert.deepEqual([...tokenizer.encode('w5 x')], [101, 5, 100, 102]);
  });
}); // prettier-ignore

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

  test('pieces: the longest at each place, and at the beginning without its space', async () => {
    const tokens = ['\n', ' Mary', ' M', 'ary', ' and', 'M', '，', '玛丽', '玛'];
    const { tokenizer, close } = await open(json({ type: 'pieces', tokens }));
    close();
    for (const [text, ids] of [
      ['Mary and Mary', [1, 4, 1]],
      [' Mary\nMary', [1, 0, 5, 3]],
      ['玛丽，玛', [7, 6, 8]],
      ['', []],
    ]) {
      assert.deepEqual([...tokenizer.encode(text)], ids, text);
      assert.deepEqual([...tokenizer.encodePlain(text)], ids, text);
    }
    assert.equal(tokenizer.decode([1, 4, 9, 7]), ' Mary and\ufffd玛丽');
    assert.equal(new TextDecoder().decode(tokenizer.bytesOf(4)), ' and');
    assert.equal(tokenizer.bytesOf(9), undefined);
    expectThrows(
      () => tokenizer.encode('Mary or'),
      'encode',
      'invalid_argument',
      'the text has " or"',
    );
  });

  for (const [what, tokens, said] of [
    ['no list', 'ab', 'pieces are "ab"'],
    ['an empty one', ['a', ''], 'pieces are [a,]'],
    ['one twice', ['ab', 'ab'], 'pieces are [ab,ab]'],
  ]) {
    test(`pieces that are ${what} are refused`, async () => {
      await assert.rejects(open(json({ type: 'pieces', tokens })), ({ code, message }) => {
        assert.equal(code, 'invalid_argument');
        assert.ok(message.startsWith('load: ') && message.includes(said), message);
        return true;
      });
    });
  }

  for (const [what, text] of [
    ['none', undefined],
    ['one of another type', json({ type: 'spelling' })],
    ['what is no JSON', '{'],
    ['what is no object', '3'],
    ['null', 'null'],
  ]) {
    test(`no tokenizer: ${what}`, async () => {
      const { tokenizer, tokenizerProblem, close } = await open(text);
      close();
      assert.equal(tokenizer, undefined);
      const said = text === undefined ? 'have no tokenizer' : 'which is not known here';
      assert.ok(tokenizerProblem.includes(said), tokenizerProblem);
      assert.ok(tokenizerProblem.endsWith("of the model's tokenizer.json"), tokenizerProblem);
    });
  }

  for (const [what, tokens, said] of [
    ['no list', 'ab', 'characters are "ab"'],
    ['a token of two letters', ['a', 'bc'], 'characters are [a,bc]'],
    ['a letter twice', ['a', 'a'], 'characters have duplicates (1)'],
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
