// @build any
// Trainers as safetensors files: what is in them, and what a stranger's file may not do.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { randomArray } from '../../support/js/arrays.js';
import { expectThrows } from '../../support/js/check.js';
import { float16, fromFloat16 } from '../../support/js/half.js';
import { partsOf } from '../../support/js/safetensors.js';
import { safetensorsOf } from '../models/support/files.js';

/** What a trainer has no choice of. */
const ofModels = (
  'classes headTransform headNorm headPooling family qkvBiases attentionScale logitSoftcap postNorms tokenTypes embeddingNorm head headBias qkNormOf firstNorm ' +
  'symmetricWindow relativeBuckets relativeMaxDistance encoderLayers startToken numExperts expertsPerToken normalizedExperts'
).split(' ');
/** What files say of a config: what there is to choose for a trainer. */
const ofTrainers = (config) =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !ofModels.includes(name)));

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

describe('Trainer.save', () => {
  test('Trainer.save: rotary options are those of the call, and keys may have any order', () => {
    const of = (scaling) =>
      engine.languageModel({ ...config, positions: 'rotary', rotary: { scaling } }, { seed: 2 });
    for (const [one, ...more] of [
      [
        { type: 'linear', factor: 2 },
        { factor: 2, type: 'linear' },
      ],
      [
        { type: 'yarn', factor: 2, originalLength: 4, betaSlow: 1 },
        { betaSlow: 1, originalLength: 4, factor: 2, type: 'yarn', betaFast: undefined },
        Object.create({ betaSlow: 1, originalLength: 4, factor: 2, type: 'yarn' }),
      ],
    ]) {
      const trainer = of(one);
      const file = trainer.save();
      const { rotary } = trainer.model.config;
      assert.ok(Object.isFrozen(rotary) && Object.isFrozen(rotary.scaling));
      const text = JSON.stringify(one);
      one.factor = 9;
      assert.equal(JSON.stringify(rotary.scaling), text);
      assert.deepEqual(trainer.save(), file);
      for (const scaling of more) {
        const same = of(scaling);
        same.load(file);
        assert.deepEqual(same.save(), file);
        same.dispose();
      }
      trainer.dispose();
    }
  });

  test('Trainer.save: the file is safetensors: aligned, without holes, with the config in it', () => {
    const trainer = make();
    const { header, data, begin } = partsOf(trainer.save());
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
    // The smallest NaN, of whose bits none is in the upper half.
    new Uint32Array(embedding.data.buffer, embedding.data.byteOffset)[cases.length] = 0x7f800001;
    set('embedding', embedding);
    const file = trainer.save({ format: 'bf16' });
    const { header, data } = partsOf(file);
    assert.equal(header.embedding.dtype, 'BF16');
    assert.equal(header['norm.gamma'].dtype, 'F32', 'gains are kept as they are');
    const halves = new Uint16Array(data.slice(...header.embedding.data_offsets).buffer);
    cases.forEach(([x, bits], i) => assert.equal(halves[i], bits, `${x}`));
    assert.equal(halves[cases.length], 0x7fc0, 'NaN stays NaN');
    trainer.load(file);
    const read = trainer.parameters().value('embedding').data;
    const bits = new Uint32Array(read.buffer);
    halves.forEach((half, i) => assert.equal(bits[i], half * 2 ** 16, `${i}`));
    trainer.dispose();
  });

  /** What of an array has one scale: the blocks, as lists of places, along this axis. */
  function blocksOf([rows, columns], axis) {
    const [lines, length] = axis === 1 ? [rows, columns] : [columns, rows];
    const perLine = Math.ceil(length / 32);
    return Array.from({ length: lines * perLine }, (_, b) => {
      // Scales are in row-major order, whichever axis is divided.
      const [line, part] =
        axis === 1
          ? [Math.floor(b / perLine), b % perLine]
          : [b % columns, Math.floor(b / columns)];
      const along = Array.from(
        { length: Math.min(32, length - 32 * part) },
        (_, i) => 32 * part + i,
      );
      return along.map((i) => (axis === 1 ? line * columns + i : i * columns + line));
    });
  }

  for (const [name, axis, scales] of [
    ['embedding', 1, [5, 2]],
    ['positions', 1, [4, 2]],
    ['layers.0.attention.wq', 0, [2, 40]],
    ['head', 0, [2, 5]],
  ]) {
    test(`Trainer.save: int8 has blocks of 32 along axis ${axis} of ${name}`, () => {
      const trainer = make();
      const { set, value } = trainer.parameters();
      const { shape } = value(name);
      const given = randomArray(shape, 1);
      const blocks = blocksOf(shape, axis);
      assert.equal(blocks.flat().length, given.data.length);
      blocks.forEach((places, b) => {
        // Sizes from 2^-30 to 2^6, most of which have a subnormal scale, and a block of zeros.
        for (const i of places) given.data[i] *= b === 3 ? 0 : 2 ** ((b % 37) - 30);
      });
      set(name, given);
      const file = trainer.save({ format: 'int8' });
      const { header, data } = partsOf(file);
      const { dtype, shape: kept } = header[name];
      const stored = header[`${name}.scale`];
      assert.deepEqual([dtype, kept, stored.dtype, stored.shape], ['I8', shape, 'F16', scales]);
      const bits = new Uint16Array(data.slice(...stored.data_offsets).buffer);
      trainer.load(file);
      const read = value(name).data;
      blocks.forEach((places, b) => {
        const step = Math.max(...places.map((i) => Math.abs(given.data[i]))) / 127;
        const near = float16(step);
        const up = near < 0x400 && fromFloat16(near) < step ? 1 : 0;
        assert.equal(bits[b], near + up, `scale ${b}`);
        const bound = fromFloat16(bits[b]) / 2;
        for (const i of places) {
          assert.ok(Math.abs(read[i] - given.data[i]) <= bound, `${name}[${i}] of block ${b}`);
        }
      });
      trainer.dispose();
    });
  }

  test('Trainer.save: what int8 has rounded once stays what it is', () => {
    const trainer = make();
    const file = trainer.save({ format: 'int8' });
    trainer.load(file);
    assert.deepEqual(trainer.save({ format: 'int8' }), file);
    trainer.dispose();
  });

  test('Trainer.save: int8 refuses by name what has no scale, and keeps what is just below', () => {
    const trainer = make();
    const { set, value } = trainer.parameters();
    for (const odd of [NaN, Infinity, -Infinity, 127 * 65520, -1e7]) {
      const embedding = randomArray([5, 40], 1);
      embedding.data[33] = odd;
      set('embedding', embedding);
      expectThrows(
        () => trainer.save({ format: 'int8' }),
        'Trainer.save',
        'invalid_argument',
        `embedding has ${odd}, expected numbers below 8.3e6 in magnitude`,
        "use format 'f32' or 'bf16'",
      );
      trainer.load(trainer.save({ format: 'bf16' }));
      assert.ok(Object.is(value('embedding').data[33], odd) || Math.abs(odd) < Infinity);
    }
    const embedding = randomArray([5, 40], 1);
    embedding.data[1] = 127 * 65504;
    set('embedding', embedding);
    trainer.load(trainer.save({ format: 'int8' }));
    assert.equal(value('embedding').data[1], 127 * 65504);
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
  const { header, data } = partsOf(good);
  const first = header.embedding;
  /** The file with another entry for "embedding". */
  const entry = (change) => safetensorsOf({ ...header, embedding: { ...first, ...change } }, data);
  const metadata = (change) =>
    safetensorsOf({ ...header, __metadata__: { ...header.__metadata__, ...change } }, data);
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

  const { header: int8, data: int8Data } = partsOf(trainer.save({ format: 'int8' }));
  /** The file in int8 with another entry for the scales of an array. */
  const scales = (name, change) =>
    safetensorsOf(
      { ...int8, [`${name}.scale`]: { ...int8[`${name}.scale`], ...change } },
      int8Data,
    );

  /** The file with the gain as int8, whose scales are as many as a vector would have rows of blocks, and no columns. */
  const vectors = (() => {
    const { 'norm.gamma': gamma, ...others } = header;
    const [begin, end] = gamma.data_offsets;
    const cut = new Uint8Array([
      ...data.subarray(0, begin),
      ...data.subarray(end),
      ...Array(40).fill(1),
    ]);
    const back = (at) => (at >= end ? at - (end - begin) : at);
    const kept = Object.entries(others).map(([name, { data_offsets: at, ...rest }]) => [
      name,
      at ? { ...rest, data_offsets: at.map(back) } : rest,
    ]);
    const last = cut.length - 40;
    return safetensorsOf(
      {
        ...Object.fromEntries(kept),
        'norm.gamma': { dtype: 'I8', shape: [40], data_offsets: [last, last + 40] },
        'norm.gamma.scale': { dtype: 'F16', shape: [2, 0], data_offsets: [last + 40, last + 40] },
      },
      cut,
    );
  })();

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
    ['a header that is no UTF-8', safetensorsOf('{"\u0000', data).fill(0xff, 8, 11), invalid, 'cannot be read'],
    ['a header that is a list', safetensorsOf([], data), invalid, 'an array as header', 'an object'],
    ['a header that is null', safetensorsOf('null', data), invalid, 'null as header'],
    ['lists within lists', safetensorsOf('['.repeat(50_000), data), invalid, 'header that cannot be read'],
    ['an entry that is a number', safetensorsOf({ ...header, embedding: 7 }, data), invalid, '7 for "embedding"'],
    ['an entry that is null', safetensorsOf({ ...header, embedding: null }, data), invalid, 'null for "embedding"'],
    ['no type', entry({ dtype: undefined }), invalid, 'the type undefined for "embedding"', 'a text'],
    ['a type that nobody knows', entry({ dtype: 'F8_E4M3' }), invalid, 'embedding as F8_E4M3', 'F32'],
    ['the type of a prototype', entry({ dtype: 'constructor' }), invalid, 'embedding as constructor'],
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
    ['arrays that overlap', safetensorsOf({ ...header, more: first }, data), invalid, 'overlap'],
    ['a hole at the start', safetensorsOf(moved, new Uint8Array([0, 0, 0, 0, ...data])), invalid, 'a hole'],
    ['a hole at the end', safetensorsOf(header, new Uint8Array([...data, 0])), invalid, `${data.length + 1} bytes`],
    ['elements cut short', good.slice(0, -1), invalid, 'offsets'],
    ['metadata that are numbers', metadata({ steps: 3 }), invalid, 'metadata of another kind'],
    ['metadata that is a list', safetensorsOf({ ...header, __metadata__: ['a'] }, data), invalid, 'metadata'],
    ['another kind of model', metadata({ kind: 'seq2seq' }), invalid, 'hold a seq2seq', 'language_model'],
    ['another config', metadata({ config: '{"dModel":40}' }), invalid, 'the config {"dModel":40}'],
    ['steps that are no number', metadata({ steps: '1e3' }), invalid, "the steps '1e3'"],
    ['steps without moments', metadata({ steps: '3' }), invalid, 'hold no optimizer.first.embedding'],
    ['an array that is missing', safetensorsOf(without(last), data.slice(0, header[last].data_offsets[0])), invalid, `hold no ${last}`],
    ['an array too many', safetensorsOf({ ...header, 'a.b': { dtype: 'U8', shape: [0], data_offsets: [0, 0] } }, data), invalid, 'hold a.b'],
    ['a name of a prototype', safetensorsOf(JSON.stringify(header).replace('{', '{"__proto__":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},'), data), invalid, 'hold __proto__'],
    ['another shape', entry({ shape: [40, 5] }), 'shape_mismatch', 'embedding is [40,5]', 'expected [5,40]'],
    ['another type', entry({ dtype: 'I32' }), invalid, 'embedding as I32', 'F32, BF16 or I8'],
    ['int8 without scales', entry({ dtype: 'I8', shape: [5, 160] }), 'shape_mismatch', '[5,160]'],
    ['a vector in int8', vectors, invalid, 'norm.gamma as I8', 'F32 or BF16'],
    ['scales for floats', safetensorsOf({ ...header, 'embedding.scale': { dtype: 'F32', shape: [0], data_offsets: [0, 0] } }, data), invalid, 'embedding as F32 with scales'],
    ['scales of another type', scales('embedding', { dtype: 'BF16' }), invalid, 'embedding.scale as BF16', 'F16'],
    ['scales along the other axis', scales('layers.0.attention.wq', { shape: [40, 2] }), 'shape_mismatch', 'wq.scale is [40,2]', 'expected [2,40]'],
  ]; // prettier-ignore

  for (const [what, bytes, code, ...says] of hostile) {
    test(`Trainer.load: ${what}`, () => {
      expectThrows(() => trainer.load(bytes), 'Trainer.load', code, ...says);
      assert.deepEqual(trainer.save(), good);
    });
  }

  test('Trainer.load: a file of another hand: no metadata, arrays in another order, at any address', () => {
    const turned = Object.fromEntries(Object.entries(without('__metadata__')).reverse());
    const file = safetensorsOf(turned, data);
    const shifted = new Uint8Array(file.length + 3);
    shifted.set(file, 3);
    const other = engine.languageModel(config, { seed: 9 });
    other.load(shifted.subarray(3));
    assert.deepEqual(other.save(), good);
    other.dispose();
  });
});
