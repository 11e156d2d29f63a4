// @build any
// Trainers as safetensors files: what is in them, and what a stranger's file may not do.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { randomArray } from '../../support/js/arrays.js';
import { expectThrows } from '../../support/js/check.js';

/** What files say of a config: what there is to choose for a trainer. */
const ofTrainers = (config) =>
  Object.fromEntries(
    Object.entries(config).filter(
      ([name]) =>
        !/^(family|qkvBiases|attentionScale|logitSoftcap|postNorms|tokenTypes|embeddingNorm|head)$/.test(
          name,
        ),
    ),
  );

const engine = await init({ variant: 'simd' });
after(() => engine.dispose());

const config = {
  vocabulary: 5,
  numLayers: 1,
  dModel: 40,
  numHeads: 2,
  dFeedForward: 0,
  maxLength: 4,
};
const make = () => engine.languageModel(config, { deviation: 0.5, seed: 2 });

/** A file as its parts: the header, and the bytes of the elements. */
function parse(file) {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length)));
  return { header, data: file.slice(8 + length), begin: 8 + length };
}

/** The bytes of a file with this header, written as JSON unless it is a text. */
function build(header, data) {
  const text = new TextEncoder().encode(
    typeof header === 'string' ? header : JSON.stringify(header),
  );
  const file = new Uint8Array(8 + text.length + data.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(text.length), true);
  file.set(text, 8);
  file.set(data, 8 + text.length);
  return file;
}

describe('Trainer.save', () => {
  test('Trainer.save: the file is safetensors: aligned, without holes, with the config in it', () => {
    const trainer = make();
    const { header, data, begin } = parse(trainer.save());
    assert.equal(begin % 8, 0);
    const { __metadata__: metadata, ...arrays } = header;
    assert.deepEqual(metadata, {
      ...{ format: 'qkv', kind: 'language_model' },
      // Files of before there were models that are only run have the same.
      config: JSON.stringify(ofTrainers(trainer.model.config)),
    });
    const { names, value } = trainer.parameters();
    assert.deepEqual(Object.keys(arrays), names);
    let at = 0;
    for (const name of names) {
      const { dtype, shape, data_offsets: offsets } = arrays[name];
      const { data: numbers, shape: expected } = value(name);
      assert.deepEqual([dtype, shape, offsets[0]], ['F32', expected, at]);
      at += 4 * numbers.length;
      assert.equal(offsets[1], at);
      assert.deepEqual(new Float32Array(data.slice(...offsets).buffer), numbers);
    }
    assert.equal(at, data.length);
    trainer.dispose();
  });

  test('Trainer.save: bf16 is the nearest number of its kind, and an even one of two', () => {
    const trainer = make();
    const { set } = trainer.parameters();
    const cases = [
      ...[[1, 0x3f80], [1 + 2 ** -8, 0x3f80], [1 + 3 * 2 ** -8, 0x3f82], [-3.3895314e38, 0xff7f]],
      ...[[3.4e38, 0x7f80], [NaN, 0x7fc0], [-0, 0x8000], [2 ** -149, 0], [2 ** -133, 1], [Infinity, 0x7f80]],
    ]; // prettier-ignore
    const embedding = randomArray([5, 40], 1);
    cases.forEach(([x], i) => (embedding.data[i] = x));
    set('embedding', embedding);
    const file = trainer.save({ format: 'bf16' });
    const { header, data } = parse(file);
    assert.equal(header.embedding.dtype, 'BF16');
    assert.equal(header['norm.gamma'].dtype, 'F32', 'gains are kept as they are');
    const halves = new Uint16Array(data.slice(...header.embedding.data_offsets).buffer);
    cases.forEach(([x, bits], i) => assert.equal(halves[i], bits, `${x}`));
    trainer.load(file);
    const read = trainer.parameters().value('embedding').data;
    const bits = new Uint32Array(read.buffer);
    halves.forEach((half, i) => assert.equal(bits[i], half * 2 ** 16, `${i}`));
    trainer.dispose();
  });

  test('Trainer.save: int8 is within half a step of its block', () => {
    const trainer = make();
    const { set, value } = trainer.parameters();
    const embedding = randomArray([5, 40], 1);
    embedding.data.fill(0, 40, 72); // a block of zeros
    embedding.data.forEach((x, i) => (embedding.data[i] = x * 2 ** (i >> 5)));
    set('embedding', embedding);
    const file = trainer.save({ format: 'int8' });
    const { header } = parse(file);
    assert.deepEqual(header['embedding.scale'].shape, [5, 2]);
    assert.equal(header.embedding.dtype, 'I8');
    trainer.load(file);
    const read = value('embedding').data;
    for (let i = 0; i < read.length; ++i) {
      const row = Math.floor(i / 40);
      const begin = row * 40 + (i % 40 < 32 ? 0 : 32);
      const block = embedding.data.subarray(begin, Math.min(begin + 32, 40 * row + 40));
      const step = Math.max(...block.map(Math.abs)) / 127;
      assert.ok(Math.abs(read[i] - embedding.data[i]) <= step * (0.5 + 2 ** -16), `${i}`);
    }
    // What has been rounded once stays what it is.
    const again = parse(trainer.save({ format: 'int8' }));
    assert.deepEqual(again.data, parse(file).data);
    trainer.dispose();
  });

  test('Trainer.save: what it cannot write is refused', () => {
    const trainer = make();
    for (const [given, ...says] of [
      [{ format: 'f16' }, 'format is "f16"', "'f32' or 'bf16' or 'int8'"],
      [{ optimizer: 1 }, 'optimizer is 1', 'a boolean'],
      [{ optimiser: true }, "unknown key 'optimiser'", "'optimizer'"],
      [null, 'options is null'],
    ]) {
      expectThrows(() => trainer.save(given), 'Trainer.save', 'invalid_argument', ...says);
    }
    trainer.dispose();
  });
});

describe('Trainer.load', () => {
  const trainer = make();
  const good = trainer.save();
  const { header, data } = parse(good);
  const first = header.embedding;
  /** The file with another entry for "embedding". */
  const entry = (change) => build({ ...header, embedding: { ...first, ...change } }, data);
  const metadata = (change) =>
    build({ ...header, __metadata__: { ...header.__metadata__, ...change } }, data);
  const without = (name) =>
    Object.fromEntries(Object.entries(header).filter(([key]) => key !== name));
  const lengthOf = (length) => {
    const file = good.slice();
    new DataView(file.buffer).setBigUint64(0, length, true);
    return file;
  };
  const moved = Object.fromEntries(
    Object.entries(header).map(([name, { data_offsets: offsets, ...rest }]) => [
      name,
      offsets ? { ...rest, data_offsets: offsets.map((at) => at + 4) } : rest,
    ]),
  );
  const invalid = 'invalid_argument';
  const [last] = Object.keys(header).slice(-1);

  /** What is wrong, the file, the code, and what the message tells. */
  const hostile = [
    ['no bytes', 'text', invalid, 'bytes is "text"', 'Uint8Array'],
    ['another kind of array', new Float32Array(8), invalid, 'Float32Array', 'Uint8Array'],
    ['empty', new Uint8Array(0), invalid, 'are 0', 'at least 8'],
    ['seven bytes', good.slice(0, 7), invalid, 'are 7'],
    ['a header longer than the file', lengthOf(2n ** 40n), invalid, 'a header of 1099511627776 bytes'],
    ['a header of 2^63 bytes', lengthOf(2n ** 63n), invalid, 'a header of 9223372036854776000 bytes'],
    ['a header of 2^64 - 1 bytes', lengthOf(2n ** 64n - 1n), invalid, 'expected at most'],
    ['an empty header', lengthOf(0n), invalid, 'header that cannot be read'],
    ['a header cut short', lengthOf(20n), invalid, 'header that cannot be read', 'JSON'],
    ['a header that is no UTF-8', build('{"\u0000', data).fill(0xff, 8, 11), invalid, 'cannot be read'],
    ['a header that is a list', build([], data), invalid, 'an array as header', 'an object'],
    ['a header that is null', build('null', data), invalid, 'null as header'],
    ['lists within lists', build('['.repeat(50_000), data), invalid, 'header that cannot be read'],
    ['an entry that is a number', build({ ...header, embedding: 7 }, data), invalid, '7 for "embedding"'],
    ['an entry that is null', build({ ...header, embedding: null }, data), invalid, 'null for "embedding"'],
    ['no type', entry({ dtype: undefined }), invalid, 'the type undefined for "embedding"', 'F32'],
    ['a type that nobody knows', entry({ dtype: 'F8_E4M3' }), invalid, '"F8_E4M3"'],
    ['the type of a prototype', entry({ dtype: 'constructor' }), invalid, '"constructor"'],
    ['no shape', entry({ shape: undefined }), invalid, 'no shape for "embedding"'],
    ['extents below 0', entry({ shape: [-5, -40] }), invalid, 'no shape for "embedding"'],
    ['an extent of 2^63', entry({ shape: [2 ** 63, 40] }), invalid, 'no shape for "embedding"'],
    ['extents whose product is 0 modulo 2^64', entry({ shape: [2 ** 32, 2 ** 32] }), invalid, '800 bytes'],
    ['halves as extents', entry({ shape: [2.5, 80] }), invalid, 'no shape'],
    ['too many axes', entry({ shape: Array(9).fill(1) }), invalid, 'no shape', 'at most 8'],
    ['no offsets', entry({ data_offsets: undefined }), invalid, 'the offsets undefined'],
    ['offsets in disorder', entry({ data_offsets: [800, 0] }), invalid, 'the offsets 800 and 0'],
    ['offsets below 0', entry({ data_offsets: [-800, 0] }), invalid, 'the offsets -800'],
    ['offsets past the end', entry({ data_offsets: [0, 2 ** 53] }), invalid, 'for "embedding"'],
    ['offsets that are words', entry({ data_offsets: ['0', '800'] }), invalid, 'the offsets "0"'],
    ['offsets of another size', entry({ data_offsets: [0, 796] }), invalid, '796 bytes', '800'],
    ['arrays that overlap', build({ ...header, more: first }, data), invalid, 'overlap'],
    ['a hole at the start', build(moved, new Uint8Array([0, 0, 0, 0, ...data])), invalid, 'a hole'],
    ['a hole at the end', build(header, new Uint8Array([...data, 0])), invalid, `${data.length + 1} bytes`],
    ['elements cut short', good.slice(0, -1), invalid, 'offsets'],
    ['metadata that are numbers', metadata({ steps: 3 }), invalid, 'metadata of another kind'],
    ['metadata that is a list', build({ ...header, __metadata__: ['a'] }, data), invalid, 'metadata'],
    ['another kind of model', metadata({ kind: 'seq2seq' }), invalid, 'are of a seq2seq', 'language_model'],
    ['another config', metadata({ config: '{"dModel":40}' }), invalid, 'the config {"dModel":40}'],
    ['steps that are no number', metadata({ steps: '1e3' }), invalid, "'1e3' as steps"],
    ['steps without moments', metadata({ steps: '3' }), invalid, 'have no optimizer.first.embedding'],
    ['an array that is missing', build(without(last), data.slice(0, header[last].data_offsets[0])), invalid, `have no ${last}`],
    ['an array too many', build({ ...header, 'a.b': { dtype: 'U8', shape: [0], data_offsets: [0, 0] } }, data), invalid, 'have a.b'],
    ['a name of a prototype', build(JSON.stringify(header).replace('{', '{"__proto__":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'), data), invalid, 'have __proto__'],
    ['another shape', entry({ shape: [40, 5] }), 'shape_mismatch', 'embedding is [40,5]', 'expected [5,40]'],
    ['another type', entry({ dtype: 'I32' }), invalid, 'embedding as I32', 'F32, BF16 or I8'],
    ['int8 without scales', entry({ dtype: 'I8', shape: [5, 160] }), 'shape_mismatch', '[5,160]'],
    ['scales for floats', build({ ...header, 'embedding.scale': { dtype: 'F32', shape: [0], data_offsets: [0, 0] } }, data), invalid, 'embedding as F32 and scales'],
  ]; // prettier-ignore

  for (const [what, bytes, code, ...says] of hostile) {
    test(`Trainer.load: ${what}`, () => {
      expectThrows(() => trainer.load(bytes), 'Trainer.load', code, ...says);
      assert.deepEqual(trainer.save(), good);
    });
  }

  test('Trainer.load: a file of another hand: no metadata, arrays in another order, at any address', () => {
    const turned = Object.fromEntries(Object.entries(without('__metadata__')).reverse());
    const file = build(turned, data);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    const other = engine.languageModel(config, { seed: 9 });
    other.load(shifted.subarray(3));
    assert.deepEqual(other.save(), good);
    other.dispose();
  });
});
