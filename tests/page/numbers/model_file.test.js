// What the page itself reads of a file of weights, in Node: its header, its kinds of numbers, its characters and its embeddings,
// each against bytes that are written by the definition of the format; and what it leaves alone.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { concat, safetensorsOf } from '../../package/models/support/files.js';
import { fromFloat16 } from '../../support/js/half.js';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{safetensors,sorted_files}',
  'features/model/shared/token_label',
  'features/model/page/dropped_files',
);

const bytesOf = (Kind, ...values) => new Uint8Array(Kind.from(values).buffer);
const fileOf = (header, data = new Uint8Array()) => new Blob([safetensorsOf(header, data)]);

describe('model: the header of a file', () => {
  test('has metadata that are texts, and arrays by their places in the file', async () => {
    const header = {
      __metadata__: { format: 'qkv', count: 3, nothing: null },
      a: { dtype: 'F32', shape: [2, 3], data_offsets: [0, 24] },
      scalar: { dtype: 'I64', shape: [], data_offsets: [24, 32] },
      nowhere: { dtype: 'F32', shape: [0], data_offsets: [] },
    };
    const from = 8 + JSON.stringify(header).length;
    const { metadata, places } = await web.headerOf(fileOf(header, new Uint8Array(32)));
    assert.deepEqual(metadata, { format: 'qkv' });
    assert.deepEqual(
      [...places],
      [
        ['a', { dtype: 'F32', shape: [2, 3], begin: from, end: from + 24 }],
        ['scalar', { dtype: 'I64', shape: [], begin: from + 24, end: from + 32 }],
        ['nowhere', { dtype: 'F32', shape: [0], begin: from, end: from }],
      ],
    );
  });

  test('what is no place of an array is left out', async () => {
    const right = { dtype: 'F32', shape: [2], data_offsets: [0, 8] };
    const wrong = [
      ...[null, 'F32', 7, []],
      ...[
        { ...right, dtype: 1 },
        { ...right, shape: 2 },
        { ...right, shape: ['2'] },
      ],
      ...[
        { ...right, shape: [-1] },
        { ...right, shape: [1.5] },
        { ...right, shape: [2, 2 ** 53] },
      ],
      ...[
        { ...right, data_offsets: [0, -8] },
        { ...right, data_offsets: undefined },
      ],
      { ...right, data_offsets: { 0: 0, 1: 8 } },
    ];
    const header = Object.fromEntries(wrong.map((entry, i) => [`wrong${i}`, entry]));
    const read = await web.headerOf(fileOf({ ...header, right }));
    assert.deepEqual([...read.places.keys()], ['right']);
    assert.deepEqual(read.metadata, {});
  });

  for (const [what, text, length, isHeader] of [
    ['nothing in it', '{}', 2, true],
    ['one letter', '7', 1, false],
    ['no letter', '', 0, false],
    ['as many letters as there are', '{"a":1}', 7, true],
    ['one letter more than there are', '{"a":1}', 8, false],
    ['no JSON', '{"a":}', 6, false],
    ['JSON that is no object', 'null', 4, true],
  ]) {
    test(`with ${what} is ${isHeader ? 'one' : 'none'}`, async () => {
      const bytes = concat(bytesOf(BigUint64Array, BigInt(length)), new TextEncoder().encode(text));
      const found = await web.headerOf(new Blob([bytes]));
      assert.deepEqual(found && [found.metadata, found.places.size], isHeader ? [{}, 0] : null);
    });
  }

  test('of a file of less than eight bytes there is none', async () => {
    for (const size of [0, 7])
      assert.equal(await web.headerOf(new Blob([new Uint8Array(size)])), null);
  });

  test('longer than 2^24 bytes is for the package alone', async () => {
    const asked = [];
    /** A file of a gigabyte, of which nobody reads so much. */
    const large = (length) => ({
      size: 2 ** 30,
      slice: (begin, end) => ({
        async arrayBuffer() {
          asked.push([begin, end]);
          return bytesOf(BigUint64Array, BigInt(length)).buffer;
        },
        async text() {
          asked.push([begin, end]);
          return '{}';
        },
      }),
    });
    assert.notEqual(await web.headerOf(large(2 ** 24)), null);
    assert.equal(await web.headerOf(large(2 ** 24 + 1)), null);
    assert.deepEqual(asked, [
      [0, 8],
      [8, 8 + 2 ** 24],
      [0, 8],
    ]);
  });
});

test('model: numbers of a file are counted by their type, those of most numbers first', () => {
  const place = (dtype, ...shape) => ({ dtype, shape, begin: 0, end: 0 });
  const typesOf = (...places) =>
    web.typesOf([{ places: new Map(places.map((of, i) => [`${i}`, of])) }]);
  assert.deepEqual(typesOf(), []);
  const header = { places: new Map([['a', place('F32', 2)]]) };
  assert.deepEqual(web.typesOf([header, header]), [['F32', 4]], 'of all files of a model');
  assert.deepEqual(web.typesOf([]), []);
  assert.deepEqual(
    typesOf(place('F32', 2, 3), place('I8', 4, 5), place('F32'), place('F16', 7), place('F32', 0)),
    [
      ['I8', 20],
      ['F32', 7],
      ['F16', 7],
    ],
  );
});

test('model: the tokens of a file are a list of texts in its metadata', () => {
  const of = (tokenizer) =>
    web.tokensOf({ metadata: tokenizer === undefined ? {} : { tokenizer } });
  const tokens = ['\n', 'a'];
  for (const type of ['characters', 'pieces']) {
    assert.deepEqual(of(JSON.stringify({ type, tokens })), { type, tokens });
    assert.deepEqual(of(JSON.stringify({ type, tokens: [] })), { type, tokens: [] });
  }
  for (const other of [
    ...[undefined, 'null', '{', JSON.stringify({ type: 'bytes', tokens })],
    ...[{ tokens }, { type: 'characters' }, { type: 'characters', tokens: 'ab' }].map((x) =>
      JSON.stringify(x),
    ),
    JSON.stringify({ type: 'characters', tokens: ['a', 1] }),
  ]) {
    assert.equal(of(other), null, other);
  }
});

// ---- embeddings ----

/** The header of a file of one array, or of it and its scales, and the file. */
async function arrays(entries) {
  let at = 0;
  const header = {};
  for (const [name, { dtype, shape, bytes }] of Object.entries(entries)) {
    header[name] = { dtype, shape, data_offsets: [at, (at += bytes.length)] };
  }
  const file = fileOf(header, concat(...Object.values(entries).map(({ bytes }) => bytes)));
  return [file, await web.headerOf(file)];
}
const embeddingOf = async (entries, shape) => web.embeddingOf(...(await arrays(entries)), shape);

describe('model: embeddings of a file', () => {
  const f32 = {
    dtype: 'F32',
    shape: [2, 3],
    bytes: bytesOf(Float32Array, 1, -2, 3.5, 0.1, 1e30, -0),
  };

  test('of float32 are the numbers that are written', async () => {
    assert.deepEqual(
      await embeddingOf({ before: { ...f32, shape: [6] }, embedding: f32 }, [2, 3]),
      Float32Array.of(1, -2, 3.5, 0.1, 1e30, -0),
    );
  });

  test('of float16 are what each of its bits means', async () => {
    const words = Uint16Array.from({ length: 65536 }, (_, i) => i);
    const bytes = new Uint8Array(words.buffer);
    const found = await embeddingOf(
      { embedding: { dtype: 'F16', shape: [256, 256], bytes } },
      [256, 256],
    );
    assert.ok(words.every((bits) => Object.is(found[bits], fromFloat16(bits))));
  });

  test('of bfloat16 are the upper halves of float32', async () => {
    const values = [1, -1, 3.140625, 2 ** -126, 2 ** 127, 0, -0, Infinity];
    const upper = values.map((x) => new Uint32Array(Float32Array.of(x).buffer)[0] >>> 16);
    const table = { dtype: 'BF16', shape: [4, 2], bytes: bytesOf(Uint16Array, ...upper) };
    assert.deepEqual(await embeddingOf({ embedding: table }, [4, 2]), Float32Array.from(values));
  });

  test('of int8 are multiples of a scale for every 32 of a row', async () => {
    for (const width of [31, 32, 33, 70]) {
      const rows = 3;
      const blocks = Math.ceil(width / 32);
      const units = Int8Array.from({ length: rows * width }, (_, i) => ((i * 37) % 255) - 127);
      const scales = Uint16Array.from({ length: rows * blocks }, (_, i) => 0x3c00 + (i << 8));
      const entries = {
        'wte.weight': { dtype: 'I8', shape: [rows, width], bytes: new Uint8Array(units.buffer) },
        'wte.weight.scale': {
          ...{ dtype: 'F16', shape: [rows, blocks], bytes: new Uint8Array(scales.buffer) },
        },
      };
      const found = await embeddingOf(entries, [rows, width]);
      const wanted = Array.from(units, (unit, i) => {
        const [row, column] = [Math.floor(i / width), i % width];
        return Math.fround(unit * fromFloat16(scales[row * blocks + (column >> 5)]));
      });
      assert.deepEqual([...found], wanted, `width ${width}`);
    }
  });

  test('of int8 without the scales that belong to it are not read', async () => {
    const table = { dtype: 'I8', shape: [2, 40], bytes: new Uint8Array(80) };
    const scale = { dtype: 'F16', shape: [2, 2], bytes: new Uint8Array(8) };
    const read = (change, changed = {}) =>
      embeddingOf(
        { embedding: { ...table, ...changed }, 'embedding.scale': { ...scale, ...change } },
        [2, 40],
      );
    assert.deepEqual(await read({}), new Float32Array(80));
    assert.equal(await embeddingOf({ embedding: table }, [2, 40]), null);
    for (const change of [
      ...[{ dtype: 'F32' }, { shape: [2, 1] }, { shape: [1, 2] }, { shape: [4] }],
      ...[{ bytes: new Uint8Array(6) }, { bytes: new Uint8Array(10) }],
    ]) {
      assert.equal(await read(change), null, JSON.stringify(change));
    }
    for (const size of [79, 81])
      assert.equal(await read({}, { bytes: new Uint8Array(size) }), null);
  });

  test('are not read of another shape, another type, or of fewer or more bytes', async () => {
    for (const [change, shape = [2, 3]] of [
      ...[[{}, [3, 2]], [{}, [6, 1]], [{ dtype: 'F64' }], [{ dtype: 'toString' }]],
      ...[[{ bytes: new Uint8Array(23) }], [{ bytes: new Uint8Array(25) }], [{ shape: [6] }]],
    ]) {
      assert.equal(await embeddingOf({ embedding: { ...f32, ...change } }, shape), null);
    }
  });

  test('have the names of the trainers and of the families', async () => {
    for (const [name, isTable] of [
      ...['embedding', 'wte.weight', 'transformer.wte.weight', 'gpt_neox.embed_in.weight'].map(
        (known) => [known, true],
      ),
      ...['model.embed_tokens.weight', 'bert.embeddings.word_embeddings.weight'].map((known) => [
        known,
        true,
      ]),
      ...['embeddings', 'layers.0.embedding', 'wpe.weight', 'lm_head.weight'].map((known) => [
        known,
        false,
      ]),
    ]) {
      assert.equal((await embeddingOf({ [name]: f32 }, [2, 3])) !== null, isTable, name);
    }
  });

  test('of more than 2^22 numbers are left alone', async () => {
    let reads = 0;
    const file = {
      slice: () => ({ arrayBuffer: async () => (reads++, new ArrayBuffer(0)) }),
    };
    const readsOf = async (...shape) => {
      const before = reads;
      const places = new Map([['embedding', { dtype: 'F32', shape, begin: 0, end: 0 }]]);
      assert.equal(await web.embeddingOf(file, { places }, shape), null);
      return reads - before;
    };
    assert.equal(await readsOf(2 ** 11, 2 ** 11), 1);
    assert.equal(await readsOf(2 ** 22 + 1, 1), 0);
    assert.equal(await readsOf(2 ** 11, 2 ** 11 + 1), 0);
  });
});

// ---- words and names ----

test('model: a token is written with signs for white space, or as its number', () => {
  const tokens = ['', '\n', 'a b  c', '\t\t', 'x\n\ny', '猫'];
  const label = web.labelsOf({
    decode: ([id, ...more]) => (assert.deepEqual(more, []), tokens[id]),
  });
  assert.deepEqual(
    tokens.map((_, id) => label(id)),
    ['∅', '↵', 'a␣b␣␣c', '⇥⇥', 'x↵↵y', '猫'],
  );
  assert.equal(web.labelsOf(undefined)(12), '12');
});

test('model: which of the reader’s files is what', async () => {
  for (const [names, weights, config, tokenizer] of [
    ['', '', null, null],
    ['a.gguf', 'a.gguf', null, null],
    ['a.safetensors b.safetensors config.json', 'a.safetensors b.safetensors', 'config.json', null],
    ['stories15M.bin tokenizer.bin', 'stories15M.bin', null, 'tokenizer.bin'],
    ['stories260K.bin tok512.bin', 'stories260K.bin', null, 'tok512.bin'],
    ['tok.bin TOKENIZER_v2.BIN', '', null, 'tok.bin'],
    ['stock.bin', 'stock.bin', null, null],
    ['tok512.bin.old', 'tok512.bin.old', null, null],
    ['tokenizer_config.json generation_config.json My.Config.JSON', '', 'My.Config.JSON', null],
    ['tokenizer.json vocab.json', '', null, null],
    ['config.json config2.json', '', 'config.json', null],
  ]) {
    const files = names
      .split(' ')
      .filter(Boolean)
      .map((name) => new File(['x'], name));
    const found = await web.sortFiles(files);
    assert.deepEqual(
      [found.weights.map(({ name }) => name).join(' '), found.config?.name ?? null],
      [weights, config],
      names,
    );
    assert.equal(found.tokenizer?.name ?? null, tokenizer, names);
  }
});

describe('model: a folder of the hub', () => {
  const gguf = (name) => new File(['GGUF\x03\0\0\0'], name);
  const tensors = (name) => new File([safetensorsOf({}, new Uint8Array())], name);
  const text = (name, what = 'x') => new File([what], name);
  const sorted = async (files) => {
    const { weights, config, tokenizer, unread } = await web.sortFiles(files);
    const names = weights.map(({ name }) => name);
    return [names.join(' '), config?.name ?? null, tokenizer?.name ?? null, unread?.name ?? null];
  };
  const around = [
    ...['README.md', '.gitattributes', 'LICENSE', 'merges.txt', 'vocab.json', 'vocab.txt'],
    ...['special_tokens_map.json', 'tokenizer_config.json', 'generation_config.json', 'tokenizer.json'],
    ...['preprocessor_config.json', 'config_sentence_transformers.json', 'sentence_bert_config.json'],
  ].map((name) => text(name)); // prettier-ignore

  test('is its weights in one format, its config and nothing else', async () => {
    const others = ['pytorch_model.bin', 'tf_model.h5', 'flax_model.msgpack', 'model.onnx'];
    const files = [...around, ...others.map((name) => text(name)), tensors('model.safetensors')];
    const wanted = ['model.safetensors', 'config.json', null, 'tokenizer.json'];
    assert.deepEqual(await sorted([...files, text('config.json')]), wanted);
    assert.deepEqual(await sorted([text('config.json'), ...files.reverse()]), wanted);
  });

  test('in parts is those that its index names', async () => {
    const map = { a: 'model-1-of-2.safetensors', b: 'model-2-of-2.safetensors' };
    const index = text('model.safetensors.index.json', JSON.stringify({ weight_map: map }));
    const parts = Object.values(map).map(tensors);
    const files = [tensors('consolidated.safetensors'), ...parts, ...around];
    const [names] = await sorted([...files, index]);
    assert.equal(names, 'model-1-of-2.safetensors model-2-of-2.safetensors');
    for (const none of ['{', '{}', '{"weight_map":{"a":"elsewhere"}}', 'null']) {
      const broken = text('model.safetensors.index.json', none);
      assert.equal((await sorted([...parts, broken]))[0], names, none);
    }
  });

  test('knows weights by what they begin with', async () => {
    assert.equal((await sorted([gguf('model.bin'), text('notes.txt')]))[0], 'model.bin');
    assert.equal((await sorted([tensors('weights'), text('photo.png')]))[0], 'weights');
    assert.equal(
      (await sorted([text('photo.png')]))[0],
      'photo.png',
      'the package says what it is',
    );
    assert.equal((await sorted([text('model.onnx')]))[0], 'model.onnx');
    assert.equal((await sorted(around))[0], '');
  });

  test('is read from what is dropped: its own files, or those of its only folders', async () => {
    const file = (name) => ({ isFile: true, isDirectory: false, file: (done) => done(text(name)) });
    const folder = (...inside) => ({
      ...{ isFile: false, isDirectory: true },
      createReader() {
        const rest = [...inside];
        // A few at a time, as browsers do.
        return { readEntries: (done) => done(rest.splice(0, 2)) };
      },
    });
    const dropped = async (entries, files = []) => {
      const items = entries.map((entry) => ({ webkitGetAsEntry: () => entry }));
      const all = await web.droppedFiles({ dataTransfer: { items, files } });
      return all.map(({ name }) => name).join(' ');
    };
    const model = folder(file('a'), file('b'), folder(file('deep')), file('c'));
    assert.equal(await dropped([model]), 'a b c');
    assert.equal(await dropped([folder(model)]), 'a b c');
    assert.equal(await dropped([folder()]), '');
    assert.equal(await dropped([file('a')], [text('given')]), 'given');
    assert.equal(await dropped([null], [text('given')]), 'given', 'where nobody knows of folders');
    assert.deepEqual(await web.droppedFiles({ dataTransfer: null }), []);
  });
});
