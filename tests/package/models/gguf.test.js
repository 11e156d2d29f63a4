// @build any
// GGUF files: every family and type, every kind of metadata, and what a stranger's file may not do.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { expectRejects } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { typesOf } from './support/types-of.js';
import { concat, gguf, ggufFile, ggufInfo } from './support/files.js';
import { ggufModels, ggufOthers } from './support/gguf-models.js';
import { expectModel } from './support/truth.js';

const { openModel } = models;
const open = (weights, options) => openModel({ weights }, options);

for (const [name, make] of Object.entries(ggufModels)) {
  for (const type of typesOf(name, ['F32', 'F16', 'BF16', 'Q8_0'])) {
    test(`openModel: ${name} from GGUF of ${type}`, async () => {
      const { truth, tensors, metadata, expected } = make();
      const typed = Object.fromEntries(
        Object.entries(tensors).map(([key, tensor]) => [
          key,
          // A row of biases by distance is shorter than a block.
          { ...tensor, type: tensor.shape.length > 1 && tensor.shape.at(-1) >= 32 ? type : 'F32' },
        ]),
      );
      const opened = await open(ggufFile(metadata, typed));
      assert.deepEqual(opened.config, expected);
      assert.equal(
        opened.kept.format,
        { F32: 'f32', F16: 'f16', BF16: 'bf16', Q8_0: 'int8' }[type],
      );
      await expectModel(opened, truth);
    });
  }
}

for (const [name, make] of Object.entries(ggufOthers)) {
  test(`openModel: ${name} from GGUF`, async () => {
    const made = make();
    const opened = await open(ggufFile(made.metadata, made.tensors));
    for (const [field, value] of Object.entries(made.expected))
      assert.deepEqual(opened.config[field], value, field);
    await expectModel(opened, made.truth);
  });
}

const { truth, tensors, metadata } = ggufModels.llama();
const withMetadata = (...more) => ggufFile([...metadata, ...more], tensors);
const good = ggufFile(metadata, tensors);

describe('openModel: GGUF', () => {
  test('version 2, another alignment, and every kind of metadata', async () => {
    const { u8, i8, u16, i16, u32, i32, f32, bool, text, u64, i64, f64, list } = gguf;
    const values = [u8(1), i8(-1), u16(2), i16(-2), u32(3), i32(-3), f32(0.5), bool(true), text('a'), u64(4), i64(-4), f64(0.25)]; // prettier-ignore
    const all = [
      ...values.map((value, i) => [`more.${i}`, value]),
      ...values.map((value, i) => [`lists.${i}`, list([value, value, value])]),
      ['more.lists', list([list([u8(1)]), list([], 8)])],
      ['general.alignment', u32(64)],
    ];
    const opened = await open(
      ggufFile([...metadata, ...all], tensors, { version: 2, alignment: 64 }),
    );
    await expectModel(opened, truth);
  });

  test('the scaling of Llama 3 is found in its factors', async () => {
    // As the converter computes them, for factor 32, low 1, high 4, 8192 tokens and base 500,000.
    const factors = Array.from({ length: 8 }, (_, i) => {
      const wavelength = 2 * Math.PI * 500_000 ** ((2 * i) / 16);
      if (wavelength < 8192 / 4) return 1;
      if (wavelength > 8192) return 32;
      const smooth = (8192 / wavelength - 1) / 3;
      return 1 / ((1 - smooth) / 32 + smooth);
    });
    assert.ok(
      factors.some((x) => x > 1 && x < 32),
      'one lies between',
    );
    const file = (values) =>
      ggufFile(metadata, { 'rope_freqs.weight': { shape: [values.length], values }, ...tensors });
    const opened = await open(file(factors));
    const scaling = {
      type: 'llama3',
      factor: 32,
      lowFrequencyFactor: 1,
      highFrequencyFactor: 4,
      originalLength: 8192,
    };
    assert.deepEqual(opened.config.rotary, { base: 500_000, interleaved: true, scaling });
    await expectModel(opened, truth);
    assert.equal((await open(file(Array(8).fill(1)))).config.rotary.scaling, undefined);
    await expectRejects(
      open(file([...factors.slice(1), 32])),
      'load',
      'unsupported',
      'rope_freqs.weight',
    );
    await expectRejects(
      open(file(factors.slice(1))),
      'load',
      'invalid_argument',
      'rope_freqs.weight is [7]',
      '[8]',
    );
  });

  test('a factor of the scaling is linear where no type is told, by its old name too', async () => {
    const { f32, text } = gguf;
    const scalingOf = async (...pairs) => {
      const all = pairs.map(([key, value]) => [`llama.rope.${key}`, value]);
      const opened = await open(withMetadata(...all));
      opened.close();
      return opened.config.rotary.scaling;
    };
    const linear = { type: 'linear', factor: 4 };
    const [factor, old] = [['scaling.factor', f32(4)], ['scale_linear', f32(4)]]; // prettier-ignore
    const type = (name) => ['scaling.type', text(name)];
    assert.deepEqual(await scalingOf(factor), linear);
    assert.deepEqual(await scalingOf(old), linear);
    assert.deepEqual(await scalingOf(type('linear'), old), linear);
    assert.deepEqual(await scalingOf(['scale_linear', f32(2)], factor), linear);
    for (const none of [
      [],
      [['scaling.factor', f32(0)]],
      [type('linear')],
      [type('none'), factor],
      [type('none'), old],
    ]) {
      assert.equal(await scalingOf(...none), undefined);
    }
  });

  test('factors of the scaling of Llama 3 in another type are refused', async () => {
    const values = Array(8).fill(8);
    const factors = { 'rope_freqs.weight': { shape: [8], values, type: 'F16' } };
    const file = ggufFile(metadata, { ...factors, ...tensors });
    const both = ggufFile([...metadata, ['llama.rope.scaling.factor', gguf.f32(4)]], {
      ...{ 'rope_freqs.weight': { shape: [8], values }, ...tensors },
    });
    await expectRejects(open(both), 'load', 'unsupported', 'another scaling');
    await expectRejects(open(file), 'load', 'unsupported', '"rope_freqs.weight" is F16', 'F32');
  });

  const entries = Object.entries(tensors);
  const thirds = [entries.slice(0, 7), entries.slice(7, 12), entries.slice(12)];

  test('parts: metadata of the first, arrays of all, in any order', async () => {
    const parts = thirds.map((some, i) =>
      ggufFile(i === 0 ? metadata : [], Object.fromEntries(some)),
    );
    await expectModel(await open(parts), truth);
    await expectModel(await open([parts[2], parts[0], parts[1]]), truth);
  });

  test('parts are known by their numbers, and all of them are there', async () => {
    // As llama-gguf-split writes them; a program may leave the architecture in all.
    const parts = thirds.map((some, i) => {
      const split = [['split.no', gguf.u16(i)], ['split.count', gguf.u16(3)], ['split.tensors.count', gguf.i32(entries.length)]]; // prettier-ignore
      const first = i === 0 ? metadata : [['general.architecture', gguf.text('llama')]];
      return ggufFile([...first, ...split], Object.fromEntries(some));
    });
    for (const order of [[0, 1, 2], [1, 0, 2], [2, 1, 0]]) {
      await expectModel(await open(order.map((i) => parts[i])), truth);
    } // prettier-ignore
    const refused = (some, ...says) =>
      expectRejects(open(some), 'load', 'invalid_argument', ...says);
    await refused(parts[0], 'weights are 1 of the 3 parts of a GGUF file without 2, 3', 'in any order'); // prettier-ignore
    await refused([parts[2], parts[1]], '2 of the 3 parts', 'without 1');
    await refused([...parts, parts[0]], '4 of the 3 parts');
  });

  test('the head of a re-ranker is told', async () => {
    const bert = ggufModels.bert();
    const cls = { shape: [1, 64], values: new Float32Array(64) };
    const bias = { shape: [1], values: [0] };
    const opened = await open(
      ggufFile(bert.metadata, { ...bert.tensors, 'cls.output.weight': cls, 'cls.bias': bias }),
    );
    assert.deepEqual(opened.ignored, ['cls.output.weight', 'cls.bias']);
    await expectModel(opened, bert.truth);
    assert.deepEqual((await open(good)).ignored, []);
  });

  test('the format is that of most numbers, not of most bytes', async () => {
    // Rows that are no multiple of 32 stay float32: fewer numbers, and more bytes.
    const matrices = entries.filter(([, { shape }]) => shape.length === 2);
    const size = ({ shape: [rows, columns] }) => rows * columns;
    const total = matrices.reduce((sum, [, tensor]) => sum + size(tensor), 0);
    let left = 0.4 * total;
    const mixed = entries.map(([name, tensor]) => {
      if (tensor.shape.length !== 2) return [name, tensor];
      left -= size(tensor);
      return [name, { ...tensor, type: left > 0 ? 'F32' : 'Q8_0' }];
    });
    const bytes = { F32: 4, Q8_0: 34 / 32 };
    const of = (type) =>
      mixed.reduce((sum, [, t]) => (t.type === type ? sum + bytes[type] * size(t) : sum), 0);
    assert.ok(of('F32') > of('Q8_0'), 'most bytes are of float32');
    const opened = await open(ggufFile(metadata, Object.fromEntries(mixed)));
    assert.equal(opened.kept.format, 'int8');
    opened.close();
  });

  // Every type that ggml has had, by its number.
  const types =
    'F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S ' +
    'IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16 Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 IQ4_NL_4_4 IQ4_NL_4_8 IQ4_NL_8_8 MXFP4';
  const read =
    'F32 F16 BF16 I8 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS'.split(' ');
  for (const [number, type] of types.split(' ').entries()) {
    if (read.includes(type)) continue;
    test(`an array of ${type} is refused by that name, and the way out is told`, () =>
      expectRejects(
        open(only([info('blk.0.attn_q.weight', [1, 256], number, 0)])),
        'load',
        'unsupported',
        `"blk.0.attn_q.weight" is ${type}, expected F32, F16, BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K to Q6_K, IQ4_NL or IQ4_XS`,
        'take the Q4_K_M or Q8_0 file of the same model, or make one with',
        'llama-quantize --allow-requantize in.gguf out.gguf Q4_K_M',
      ));
  }
});

/** The metadata with other values for some keys, or without them. */
const changed = (changes) =>
  metadata
    .map(([key, value]) => [key, changes[key] ?? value])
    .filter(([key]) => changes[key] !== null);
const other = (changes) => ggufFile(changed(changes), tensors);
/** A file with other arrays, of which there are no more than `size` bytes. */
const only = (infos, size = 64) => {
  const head = concat(ggufFile(metadata, {}, { counts: [infos.length], alignment: 1 }), ...infos);
  return concat(head, new Uint8Array((32 - (head.length % 32)) % 32), new Uint8Array(size));
};
const info = (name, shape, type, offset) => ggufInfo(name, { shape, type }, offset);
const [invalid, unsupported] = ['invalid_argument', 'unsupported'];
const first = 'token_embd.weight';
const retyped = (type) => ggufFile(metadata, { ...tensors, [first]: { ...tensors[first], type } });
const reshaped = (name, shape) =>
  ggufFile(metadata, {
    ...tensors,
    [name]: { shape, values: new Float32Array(shape.reduce((n, e) => n * e, 1)) },
  });
const without = (name) =>
  ggufFile(metadata, Object.fromEntries(Object.entries(tensors).filter(([key]) => key !== name)));
const nested = (depth) => (depth === 0 ? gguf.list([gguf.u8(1)]) : gguf.list([nested(depth - 1)]));
const cutList = { type: 9, bytes: concat(gguf.u32(4).bytes, gguf.u64(2n ** 63n).bytes) };
const longText = { type: 8, bytes: gguf.u64(2n ** 62n).bytes };

/** What is wrong, the file, the code, and what the message tells. */
const hostile = [
  ['nothing', new Uint8Array(0), invalid, 'ends at byte 0'],
  ['five bytes', good.slice(0, 5), invalid, 'ends at byte 5'],
  ['another mark', ggufFile(metadata, tensors, { magic: 'GGML' }), invalid, 'starts with', 'GGUF'],
  ['version 1', ggufFile(metadata, tensors, { version: 1 }), unsupported, 'version 1', '2 or 3'],
  ['version 4', ggufFile(metadata, tensors, { version: 4 }), unsupported, 'version 4'],
  ['the high bytes first', ggufFile(metadata, tensors, { version: 3 << 24 }), unsupported, 'is big-endian GGUF', 'little-endian'],
  ['2^63 arrays', ggufFile(metadata, tensors, { counts: [2n ** 63n] }), invalid, 'the number of arrays'],
  ['2^63 metadata', ggufFile(metadata, tensors, { counts: [1, 2n ** 63n] }), invalid, 'the number of metadata'],
  ['more metadata than there are', ggufFile(metadata, tensors, { counts: [1, 500] }), invalid],
  ['more arrays than there are', ggufFile(metadata, tensors, { counts: [500] }), invalid],
  ['a text of 2^62 bytes', withMetadata(['more', longText]), invalid, '4611686018427388000'],
  ['a list of 2^63 numbers', withMetadata(['more', cutList]), invalid, '9223372036854776000'],
  ['lists within lists within lists', withMetadata(['more', nested(8)]), invalid, 'nested deeper than 3'],
  ['a value of type 13', withMetadata(['more', { type: 13, bytes: new Uint8Array(8) }]), invalid, 'type 13'],
  ['metadata twice', withMetadata(metadata[1]), invalid, 'block_count" twice'],
  ['an alignment of 0', withMetadata(['general.alignment', gguf.u32(0)]), invalid, 'general.alignment'],
  ['an alignment of 24', withMetadata(['general.alignment', gguf.u32(24)]), invalid, 'a power of two'],
  ['an alignment that is a text', withMetadata(['general.alignment', gguf.text('32')]), invalid],
  ['a file cut short', good.slice(0, -8), invalid, 'at most'],
  ['a header cut short', good.slice(0, 500), invalid, 'ends at byte 500'],
  ['no axis', only([info(first, [], 'F32', 0)]), invalid, '0 axes'],
  ['five axes', only([info(first, [1, 1, 1, 1, 1], 'F32', 0)]), invalid, '5 axes'],
  ['an extent of 2^63', only([info(first, [2n ** 63n], 'F32', 0)]), invalid, 'an extent'],
  ['extents whose product is 0 modulo 2^64', only([info(first, [2 ** 32, 2 ** 32], 'F32', 0)]), invalid, '2^53'],
  ['an offset of 2^63', only([info(first, [2], 'F32', 2n ** 63n)]), invalid, 'the offset'],
  ['an offset of 4', only([info(first, [2], 'F32', 4)]), invalid, 'a multiple of 32'],
  ['an offset past the end', only([info(first, [2], 'F32', 64)]), invalid, 'at most 64'],
  ['arrays that overlap', only([info('a', [16], 'F32', 0), info('b', [2], 'F32', 32)]), invalid, 'overlaps'],
  ['an array twice', only([info('a', [8], 'F32', 0), info('a', [8], 'F32', 32)]), invalid, '"a" twice'],
  ['rows of 31 in Q8_0', only([info('a', [1, 31], 'Q8_0', 0)]), invalid, 'rows of 31', '32'],
  ['rows of 32 in Q4_K', only([info('a', [1, 32], 'Q4_K', 0)]), invalid, 'rows of 32', 'as Q4_K', '256'],
  ['blocks cut short', only([info('a', [1, 256], 'Q6_K', 0)]), invalid, '"a" at 0 to 210', 'at most 64'],
  ['IQ2_XS', only([info('blk.0.attn_q.weight', [1, 256], 17, 0)]), unsupported, 'blk.0.attn_q.weight', 'IQ2_XS'],
  ['a type that nobody knows', only([info('a', [1], 999, 0)]), unsupported, '"a" is of type 999'],
  ['a gain in Q8_0', ggufFile(metadata, { ...tensors, 'output_norm.weight': { ...tensors['output_norm.weight'], type: 'Q8_0' } }), unsupported, 'output_norm.weight', 'Q8_0'],
  ['int8 without scales', retyped('I8'), unsupported, first],
  ['no architecture', other({ 'general.architecture': null }), invalid, 'general.architecture is undefined'],
  ['another architecture', other({ 'general.architecture': gguf.text('unheard') }), unsupported, 'unheard', 'llama'],
  ['an architecture of the hub', other({ 'general.architecture': gguf.text('mistral') }), unsupported, 'mistral'],
  ['the architecture of a prototype', other({ 'general.architecture': gguf.text('__proto__') }), unsupported, '__proto__'],
  ['a number as architecture', other({ 'general.architecture': gguf.u32(1) }), invalid, 'general.architecture is 1'],
  ['no layers', other({ 'llama.block_count': null }), invalid, 'llama.block_count is undefined'],
  ['2^31 - 1 layers', other({ 'llama.block_count': gguf.u32(2 ** 31 - 1) }), invalid, '2147483647 layers'],
  ['more layers than arrays', other({ 'llama.block_count': gguf.u32(30) }), invalid, '30 layers'],
  ['three layers of two', other({ 'llama.block_count': gguf.u32(3) }), invalid, 'have no "blk.2.attn_norm.weight"'],
  ['one layer of two', other({ 'llama.block_count': gguf.u32(1) }), invalid, 'weights have "blk.1.'],
  ['another width', other({ 'llama.embedding_length': gguf.u32(32) }), invalid, `"${first}" is [11,64]`, '[11,32]'],
  ['a width that heads do not divide', other({ 'llama.embedding_length': gguf.u32(63) }), invalid, '15.75'],
  ['heads that do not divide', other({ 'llama.attention.head_count_kv': gguf.u32(3) }), invalid, 'a divisor of 4'],
  ['heads of one layer of two', other({ 'llama.attention.head_count_kv': gguf.list([gguf.u32(2)]) }), invalid, 'head_count_kv has 1 layers', '2'],
  ['heads that differ by layer', other({ 'llama.attention.head_count_kv': gguf.list([gguf.u32(2), gguf.u32(1)]) }), unsupported, 'metadata.llama.attention.head_count_kv has 2 and 1', 'the same number in every layer'],
  ['widths that differ by layer', other({ 'llama.feed_forward_length': gguf.list([gguf.u32(96), gguf.u32(64)]) }), unsupported, 'feed_forward_length has 96 and 64'],
  ['an adapter', withMetadata(['general.type', gguf.text('adapter')]), unsupported, 'metadata.general.type is "adapter"', '"model"'],
  ['a field that nobody knows', withMetadata(['llama.residual_dropout', gguf.u32(1)]), unsupported, 'metadata.llama.residual_dropout is 1', 'a file without it'],
  ['a field by the name of a prototype', withMetadata(['llama.toString', gguf.u32(1)]), unsupported, 'metadata.llama.toString is 1', 'a file without it'],
  ['a pooling of 9', withMetadata(['llama.pooling_type', gguf.u32(9)]), unsupported, 'pooling_type is 9', '0, 1, 2, 3, 4'],
  ['2^31 - 1 heads', other({ 'llama.attention.head_count': gguf.u32(2 ** 31 - 1) }), invalid],
  ['experts', withMetadata(['llama.expert_count', gguf.u32(8)]), unsupported, 'expert_count is 8'],
  ['long scaling', withMetadata(['llama.rope.scaling.type', gguf.text('longrope')]), unsupported, 'rope.scaling.type is "longrope"', 'yarn'],
  ['another width of values', withMetadata(['llama.attention.value_length', gguf.u32(8)]), unsupported, 'value_length is 8'],
  ['an array that is missing', without('blk.1.ffn_up.weight'), invalid, 'have no "blk.1.ffn_up.weight"'],
  ['an array too many', ggufFile(metadata, { ...tensors, 'blk.0.attn_q_norm.weight': { shape: [16], values: new Float32Array(16) } }), invalid, 'have "blk.0.attn_q_norm.weight"'],
  ['a name of a prototype', ggufFile(metadata, { ...tensors, ['__proto__']: { shape: [1], values: [0] } }), invalid, '__proto__'],
  ['a bias in one layer of two', ggufFile(metadata, { ...tensors, 'blk.0.attn_q.bias': { shape: [64], values: new Float32Array(64) } }), invalid, 'have no "blk.1.attn_q.bias"'],
  ['another shape', reshaped('blk.0.ffn_up.weight', [64, 96]), invalid, '"blk.0.ffn_up.weight" is [64,96]', '[96,64]'],
  ['another rank', reshaped('blk.0.ffn_norm.weight', [64, 1]), invalid, 'is [64,1]', '[64]'],
]; // prettier-ignore

for (const [what, file, code, ...says] of hostile) {
  test(`openModel: GGUF with ${what}`, () => expectRejects(open(file), 'load', code, ...says));
}

describe('lists of texts, decoded where somebody asks for them', () => {
  const utf8 = (text) => [...new TextEncoder().encode(text)];
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const listed = (all) => concat(...all.flatMap((bytes) => [gguf.u64(bytes.length).bytes, Uint8Array.from(bytes)]));
  const whole = ['a', '', '\u0120b', '\u4e2d\u00e9', '\ud83d\ude00x', '\ufeffa', '\ufffd', 'longer than a few letters'].map(utf8);
  /** A list that comes in pieces of so many bytes, texts that are cut as cut ones. */
  function grown(all, size) {
    const list = new models.GrowingTextList();
    const bytes = listed(all);
    let taken = 0;
    for (let end = size; list.length < all.length; end += size) {
      const there = Uint8Array.from(bytes.subarray(taken, end));
      taken += list.addWhole(there, all.length - list.length);
      if (list.length === all.length || end % 3 > 0) continue;
      list.add(Uint8Array.from(all[list.length]));
      taken += 8 + all[list.length - 1].length;
    }
    assert.equal(taken, bytes.length);
    return list.done();
  }
  for (const [what, all] of [
    ['letters of every length', whole],
    ['bytes that are no letters', [...whole, [0xff, 0x61], [0xe4, 0xb8], [0x61]]],
    ['a letter of which two texts have a part each', [[0x61, 0xc3], [0xa9, 0x62]]],
    ['a part of a letter at the end', [[0x61], [0xe4, 0xb8]]],
    ['half a surrogate pair', [[0xed, 0xa0, 0xbd], [0xed, 0xb8, 0x80]]],
    ['none', []],
  ]) {
    test(`${what}`, () => {
      const expected = all.map((each) => decoder.decode(Uint8Array.from(each)));
      for (const size of [1, 2, 7, 1000]) {
        const list = grown(all, size);
        assert.equal(list.length, all.length);
        const one = () => assert.deepEqual([-1, ...expected.keys(), all.length, 0.5, NaN].map((i) => list.text(i)), [undefined, ...expected, undefined, undefined, undefined]);
        one();
        assert.deepEqual(list.all(), expected);
        one();
      }
      for (const isWanted of [() => false, (i) => i === 0, () => true]) {
        assert.deepEqual(grown(all, 5).where(isWanted), expected.map((text, i) => [text, i]).filter(([, i]) => isWanted(i)));
      }
    });
  }
  test('not more than are asked for, no text of which a byte has not come, and no length of 64 bits', () => {
    const list = new models.GrowingTextList();
    const bytes = listed(whole);
    assert.equal(list.addWhole(bytes, 1), 9);
    assert.equal(list.addWhole(bytes.subarray(9, -1), 99), bytes.length - 9 - 8 - whole.at(-1).length);
    assert.equal(list.length, whole.length - 1);
    assert.equal(list.addWhole(concat(gguf.u64(2n ** 40n).bytes, Uint8Array.from(utf8('abc'))), 1), 0);
  });
}); // prettier-ignore
