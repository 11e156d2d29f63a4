// @build any
// Checkpoints of llama2.c and their tokenizer, and the trained one beside the project where it is there.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { extraFolder } from '../../support/js/files.js';
import { llama2cFile, llama2cTokens } from './support/files.js';
import { expectModel, newTruth, turned } from './support/truth.js';

const { openModel, llama2cTokenizer, decodeStream } = models;
const [V, d, f, T] = [7, 64, 40, 6];
const width = 16;

/** { truth, file } of a small checkpoint, with its head tied or not. */
function checkpoint(isTied) {
  const truth = newTruth();
  const { array } = truth;
  const both = (of) => [0, 1].flatMap((n) => [...of(`layers.${n}`)]);
  const map = (name, from, to) => both((at) => turned(array(`${at}.${name}`, [from, to])).values);
  const gains = (name) => both((at) => array(`${at}.${name}.gamma`, [d]).values);
  const arrays = [
    array('embedding', [V, d]).values,
    gains('norm1'),
    ...[map('attention.wq', d, d), map('attention.wk', d, 32), map('attention.wv', d, 32)],
    ...[map('attention.wo', d, d), gains('norm2'), map('feedForward.wGate', d, f)],
    ...[map('feedForward.w2', f, d), map('feedForward.w1', d, f)],
    array('norm.gamma', [d]).values,
    new Float32Array(T * width), // sines and cosines, which nobody reads
    ...(isTied ? [] : [turned(array('head', [d, V])).values]),
  ];
  return { truth, file: llama2cFile([d, f, 2, 4, 2, isTied ? V : -V, T], arrays) };
}

describe('openModel: llama2.c', () => {
  for (const isTied of [true, false]) {
    test(`a head that is ${isTied ? '' : 'not '}tied`, async () => {
      const { truth, file } = checkpoint(isTied);
      const opened = await openModel({ weights: file });
      assert.deepEqual(opened.config, {
        ...{ family: 'llama', vocabulary: V, tiedEmbeddings: isTied, numLayers: 2, dModel: d },
        ...{ numHeads: 4, numKvHeads: 2, dFeedForward: f, maxLength: T, normType: 'rms' },
        ...{ epsilon: 1e-5, activation: 'swiglu', positions: 'rotary' },
        rotary: { base: 10_000, interleaved: true },
      });
      await expectModel(opened, truth);
    });
  }

  test('a width whose bytes are the beginning of a pickle', async () => {
    for (const wide of [384, 640]) {
      const floats = wide + wide + 4 * wide * wide + wide + 3 * wide + wide + wide;
      const bytes = llama2cFile([wide, 1, 1, 1, 1, 1, 1], [new Float32Array(floats)]);
      assert.deepEqual([...bytes.subarray(0, 2)], [0x80, wide >> 8]);
      const opened = await openModel({ weights: bytes });
      opened.close();
      assert.equal(opened.config.dModel, wide);
    }
  });

  const { file } = checkpoint(true);
  const withNumber = (i, value) => {
    const bytes = file.slice();
    new DataView(bytes.buffer).setInt32(4 * i, value, true);
    return bytes;
  };
  for (const [what, bytes, ...says] of [
    ['a byte too many', new Uint8Array([...file, 0]), `${file.length + 1} bytes`, `${file.length}`],
    ['cut short', file.slice(0, -4), `${file.length - 4} bytes`],
    ['a header alone', file.slice(0, 28), '28 bytes'],
    ['less than a header', file.slice(0, 27), 'starts with'],
    ['no width', withNumber(0, 0), 'starts with'],
    ['a width below 0', withNumber(0, -64), 'starts with'],
    ['2^31 - 1 layers', withNumber(2, 2 ** 31 - 1), 'starts with'],
    ['2^23 layers', withNumber(2, 2 ** 23), 'bytes'],
    ['heads that do not divide', withNumber(3, 5), 'starts with'],
    ['heads of keys that do not divide', withNumber(4, 3), 'starts with'],
    ['a vocabulary of -2^31', withNumber(5, -(2 ** 31)), 'starts with'],
    ['a vocabulary of 0', withNumber(5, 0), 'starts with'],
  ]) {
    test(what, () =>
      expectRejects(openModel({ weights: bytes }), 'load', 'invalid_argument', ...says),
    );
  }
});

/** A vocabulary with the 256 bytes, as SentencePiece has it. */
const bytes = Array.from({ length: 256 }, (_, i) => [
  `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`,
  0,
]);
const vocabulary = [
  ...[['<unk>', 0], ['\n<s>\n', 0], ['\n</s>\n', 0], ...bytes],
  ...[[' ', -9], ['a', -1], ['b', -2], ['c', -3], ['ab', -4], ['bc', -5], ['abc', -6], [' a', -7], [' abc', -8], ['é', -10], ['cab', -3.5]],
]; // prettier-ignore
const idOf = (text) => vocabulary.findIndex(([own]) => own === text);
const tokenizer = llama2cTokenizer(llama2cTokens(vocabulary));

/** run.c of llama2.c: in each round the neighbours whose piece has the best score, the first of several. */
function byRounds(text) {
  const ids = Array.from(text === '' ? '' : ` ${text}`).flatMap((letter) =>
    idOf(letter) >= 0
      ? [idOf(letter)]
      : [...new TextEncoder().encode(letter)].map((byte) => byte + 3),
  );
  for (;;) {
    let best = { score: -1e10 };
    for (let i = 0; i + 1 < ids.length; ++i) {
      const id = idOf(vocabulary[ids[i]][0] + vocabulary[ids[i + 1]][0]);
      if (id >= 0 && vocabulary[id][1] > best.score) best = { score: vocabulary[id][1], id, i };
    }
    if (best.id === undefined) return [1, ...ids];
    ids.splice(best.i, 2, best.id);
  }
}

describe('llama2cTokenizer', () => {
  test('merges as run.c does', () => {
    const texts = [
      '',
      'abc',
      'cabcab',
      ' abc abc',
      'ééa',
      'x',
      '中a中',
      '\n',
      'abcabcabcab',
      '\ud800a',
    ];
    let state = 1;
    for (let i = 0; i < 200; ++i) {
      let text = '';
      for (let j = 0; j < i % 40; ++j) {
        state = (state * 1103515245 + 12345) % 2 ** 31;
        text += 'abc é中'[Math.floor(state / 1000) % 6];
      }
      texts.push(text);
    }
    for (const text of texts) assert.deepEqual([...tokenizer.encode(text)], byRounds(text), text);
  });

  test('what is encoded is decoded', () => {
    for (const text of ['abc', ' abc', 'a  b', '中文 and é', '😀', '', 'x\ny']) {
      assert.equal(tokenizer.decode([...tokenizer.encode(text)]), text);
    }
  });

  test('a space goes after token 1 alone; tokens 1 and 2 are no text, and no token is none', () => {
    const [abc, a] = [idOf(' abc'), idOf('a')];
    assert.equal(tokenizer.decode([abc, abc]), ' abc abc');
    assert.equal(tokenizer.decode([1, abc, 2, abc, a, 10 ** 6, -1]), 'abc abca');
  });

  test('a text of 200,000 letters takes no square of them', () => {
    const text = 'abc '.repeat(50_000);
    const ids = tokenizer.encode(text);
    assert.equal(ids.length, 1 + 50_000 + 1);
  });

  test('token by token: a letter comes when it is whole', () => {
    const text = 'abc 中é😀 a';
    const ids = [...tokenizer.encode(text)];
    const stream = decodeStream(tokenizer, [1]);
    const parts = ids.slice(1).map((id) => stream.push(id));
    assert.equal(parts.join('') + stream.end(), text);
    assert.ok(parts.filter((part) => part === '').length >= 5, 'bytes wait for their letter');
    assert.ok(parts.every((part) => !part.includes('\ufffd')));
  });

  test('token by token: bytes that are no letter are told at the end, or after a while', () => {
    const stream = decodeStream(tokenizer);
    assert.equal(stream.push(3 + 0xe4), '');
    assert.equal(stream.end(), '\ufffd');
    assert.equal(stream.end(), '');
    const long = decodeStream(tokenizer);
    const told = Array.from({ length: 40 }, () => long.push(3 + 0x80)).join('');
    assert.ok(told.length >= 40 - 16, `${told.length}`);
    assert.equal((told + long.end()).length, 40);
  });

  const good = llama2cTokens(vocabulary);
  const handedOn = () => {
    const { buffer } = good.slice();
    structuredClone(buffer, { transfer: [buffer] });
    return buffer;
  };
  const whole = (longest) => {
    const file = good.slice();
    new DataView(file.buffer).setInt32(0, longest, true);
    return file;
  };
  const broken = (at, value) => {
    const file = good.slice();
    new DataView(file.buffer).setInt32(at, value, true);
    return file;
  };
  for (const [what, file, ...says] of [
    ['nothing', new Uint8Array(0), '0 bytes'],
    ['three bytes', new Uint8Array(3), '0 bytes'],
    ['another kind', 'text', '"text"'],
    ['floats', new Float32Array(3), 'Float32Array'],
    ['what was handed on', handedOn(), 'tokenizer cannot be read'],
    ['a longest token of 0', whole(0), 'tokens of 0 bytes'],
    ['a longest token below 0', whole(-1), 'tokens of -1 bytes'],
    ['a longest token of 2^31 - 1', whole(2 ** 31 - 1), '2147483647'],
    ['a token longer than that', whole(3), 'token 0 of 5 bytes', '0 to 3'],
    ['a length below 0', broken(8, -5), 'token 0 of -5 bytes'],
    ['a length past the end', broken(good.length - 3 - 4, 32), 'cut short'],
    ['a score that is NaN', broken(4, 0x7fc00000), 'the score NaN'],
    ['a token cut short', good.slice(0, -1), 'cut short'],
    ['a length cut short', good.slice(0, 4 + 13 + 6), 'cut short'],
  ]) {
    test(`refuses ${what}`, () => expectThrows(() => llama2cTokenizer(file), 'load', 'invalid_argument', ...says));
  } // prettier-ignore
});

const folder = extraFolder('QKV_MODELS', 'models');
const found = existsSync(join(folder, 'stories260K.bin'));
const message = `SKIPPED: no stories260K.bin at ${folder}; name its folder in QKV_MODELS`;
if (!found) console.error(message);

test('openModel: stories260K, and its tokenizer', { skip: found ? false : message }, async () => {
  const opened = await openModel({ weights: join(folder, 'stories260K.bin') });
  const {
    vocabulary: size,
    dModel,
    numLayers,
    numHeads,
    numKvHeads,
    dFeedForward,
    maxLength,
  } = opened.config;
  const sizes = [size, dModel, numLayers, numHeads, numKvHeads, dFeedForward, maxLength];
  assert.deepEqual(sizes, [512, 64, 5, 8, 4, 172, 512]);
  const arrays = await collect(opened);
  for (const [name, { data }] of Object.entries(arrays)) {
    const size2 = data.reduce((sum, x) => sum + x * x, 0) / data.length;
    assert.ok(size2 > 1e-4 && size2 < 100, `${name}: ${size2}`);
  }
  const own = llama2cTokenizer(readFileSync(join(folder, 'tok512.bin')));
  const text =
    'Once upon a time, there was a little girl named Lily. She loved to play outside in the park.';
  const ids = [...own.encode(text)];
  assert.equal(ids[0], 1);
  assert.ok(ids.length < text.length / 2, `${ids.length} tokens`);
  assert.equal(own.decode(ids), text);
});
