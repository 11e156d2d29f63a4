// @build any
// Small files that ask for much, or are odd in a way of their own: each is refused in these words, before memory is asked
// for, and the engine goes on. Files with faults anywhere are in structures.test.js; what each format refuses, in
// tests/package/models.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { create, load } from 'qkv/models';
import { expectQkvError } from '../../support/js/check.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { families } from '../models/support/families.js';
import { concat, gguf, ggufFile, ggufInfo, llama2cFile, safetensors, safetensorsOf, safetensorsParts } from '../models/support/files.js'; // prettier-ignore
import { ggufModels } from '../models/support/gguf-models.js';
import { ownMetadata, ownModel } from '../models/support/own.js';
import { allocations } from './support/allocations.js';
import { long, objectText, unprintable } from './support/json.js';
import { expectNoPollution, expectRefusal } from './support/reading.js';
import { onWeb } from './support/web.js';

const engine = await init();
after(() => engine.dispose());
// What an engine takes once, it keeps.
create(engine, kinds.llama, randomWeights(kinds.llama, 1)).dispose();
const folder = mkdtempSync(join(tmpdir(), 'qkv-hostile-'));
after(() => rmSync(folder, { recursive: true }));
const put = (name, bytes) => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};

const invalid = 'invalid_argument';
const most = 2 ** 31 - 1;
/** Lists within lists, deeper than a function can call itself. */
const nested = '['.repeat(100_000) + ']'.repeat(100_000);

const { tensors, config } = families.llama();
const { header, data } = safetensorsParts(tensors);
const [norm, q] = ['model.norm.weight', 'model.layers.0.self_attn.q_proj.weight'];
const llama = (change) => ({ config: { ...config, ...change }, weights: safetensors(tensors) });
const of = (family, change) => {
  const model = families[family]();
  return { config: { ...model.config, ...change }, weights: safetensors(model.tensors) };
};
/** The file with another entry for one array, as an object or as text. */
const entry = (name, change) => {
  const pairs = Object.entries(header).map(([own, value]) => [own, JSON.stringify(value)]);
  const text = typeof change === 'string' ? change : JSON.stringify({ ...header[name], ...change });
  pairs.find(([own]) => own === name)[1] = text;
  return { config, weights: safetensorsOf(objectText(pairs), data) };
};
const raw = (text) => ({ config, weights: safetensorsOf(text, data) });
const withPairs = (...more) => {
  const pairs = Object.entries(header).map(([own, value]) => [own, JSON.stringify(value)]);
  return raw(objectText([...pairs, ...more]));
};
const own = (change, metadata = {}) => {
  const text = objectText([
    ...Object.entries(JSON.parse(ownMetadata().config)).map(([name, value]) => [name, JSON.stringify(value)]),
    ...Object.entries(change),
  ]); // prettier-ignore
  return { weights: safetensors(ownModel().tensors, { ...ownMetadata(), config: text, ...metadata }) }; // prettier-ignore
};
const characters = (tokens) =>
  own({}, { tokenizer: JSON.stringify({ type: 'characters', tokens }) });

const { tensors: arrays, metadata } = ggufModels.llama();
const withMetadata = (...more) => ({ weights: ggufFile([...metadata, ...more], arrays) });
/** A GGUF file of a family with other metadata for a key. */
const ggufOf = (family, key, value) => {
  const model = ggufModels[family]();
  const pairs = model.metadata.map(([name, old]) => [name, name === key ? value : old]);
  return { weights: ggufFile(pairs, model.tensors) };
};
/** A file whose arrays say this of themselves. */
const told = (...infos) => {
  const head = ggufFile(metadata, {}, { counts: [infos.length], alignment: 1 });
  return { weights: concat(head, ...infos, new Uint8Array(128)) };
};
const info = (name, shape, type = 'F32', offset = 0) => ggufInfo(name, { shape, type }, offset);
const lists = (depth) => concat(...Array(depth).fill(list(9, 1).bytes), list(0, 0).bytes);
const list = (type, count) => ({
  type: 9,
  bytes: concat(gguf.u32(type).bytes, gguf.u64(count).bytes),
});
const notText = Uint8Array.of(0xff, 0xfe, 0xc0);
const named = (bytes) => concat(gguf.u64(bytes.length).bytes, bytes);
const vector = (name, offset = 0) => concat(named(name), gguf.u32(1).bytes, gguf.u64(8).bytes, gguf.u32(0).bytes, gguf.u64(offset).bytes); // prettier-ignore

let count = 0;
const index = (map) =>
  ({ config, weights: put(`index-${count++}.json`, `{"weight_map": ${map}}`) }); // prettier-ignore
const checkpoint = (...numbers) => ({ weights: llama2cFile(numbers, [new Float32Array(64)]) });

/** What it is, the source, the code, and what the message says. */
const rows = [
  // safetensors
  ['an array of 2^40 bytes', entry(q, { shape: [2 ** 20, 2 ** 18], data_offsets: [0, 2 ** 40] }), invalid, 'the offsets 0 and 1099511627776'],
  ['extents whose product is past 2^53', entry(q, { shape: [2 ** 27 + 1, 2 ** 27 - 1, 2] }), invalid, `for [${2 ** 27 + 1},${2 ** 27 - 1},2]`],
  ['an array of 8 axes of 2^53 - 1', entry(q, { shape: Array(8).fill(2 ** 53 - 1) }), invalid, 'bytes for'],
  ['offsets that are not whole', entry(q, { data_offsets: [0.5, 4.5] }), invalid, 'the offsets 0.5 and 4.5'],
  ['an entry of lists within lists', entry(q, nested), invalid, 'the type undefined'],
  ['a type of lists within lists', entry(q, `{"dtype":${nested}}`), invalid, 'the type an array'],
  ['extents that are lists within lists', entry(q, `{"dtype":"F32","shape":${nested}}`), invalid, 'no shape'],
  ['an entry that inherits', entry(q, `{"__proto__":${JSON.stringify(header[q])}}`), invalid, 'the type undefined'],
  ['metadata that inherit', withPairs(['__metadata__', '{"__proto__":{"format":"qkv"}}']), invalid, 'metadata of another kind'],
  ['metadata of lists within lists', withPairs(['__metadata__', `{"format":${nested}}`]), invalid, 'metadata of another kind'],
  ['the same array twice, and once otherwise', withPairs([norm, JSON.stringify(header[q])]), invalid, 'overlap'],
  ['an array whose name has 100,000 letters', withPairs([long, '{"dtype":"U8","shape":[0],"data_offsets":[0,0]}']), invalid, 'weights have "xxx'],
  ['50,000 empty arrays', withPairs(...Array.from({ length: 50_000 }, (_, i) => [`a${i}`, '{"dtype":"U8","shape":[0],"data_offsets":[0,0]}'])), invalid, 'and 49995 more'],
  ['100,000 objects in one another', raw('{"a":'.repeat(100_000) + '1' + '}'.repeat(100_000)), invalid, 'the type undefined'],

  // configs of the hub
  ...['mistral', 'gemma2', 'qwen2'].map((family) => [`2^31 - 1 layers of ${family}`, of(family, { num_hidden_layers: most }), invalid, `${most} layers`]),
  ['2^31 - 1 layers of a decoder', of('t5', { num_decoder_layers: most }), invalid, `${most + 2} layers`],
  ['2^31 - 1 experts', of('olmoe', { num_experts: most }), invalid, `${most} experts in each of 2 layers`],
  ['2^31 - 1 heads', of('gpt_neox', { num_attention_heads: most, head_dim: 1 }), invalid, `${most} heads`],
  ['a size that is an object without a text', llama({ hidden_size: unprintable }), invalid, 'hidden_size is Object'],
  ['a family that is an object without a text', llama({ model_type: unprintable }), invalid, 'model_type is Object'],
  ['a family of lists within lists', llama({ model_type: JSON.parse(nested) }), invalid, 'model_type is an array'],
  ['a config by its prototype', { ...llama(), config: JSON.parse(`{"__proto__": ${JSON.stringify(config)}}`) }, invalid, 'config.model_type is undefined'],
  ['a config of lists within lists', { ...llama(), config: put('nested.json', nested) }, invalid, 'config is an array'],
  ['a config that is no text', { ...llama(), config: put('bytes.json', notText) }, invalid, 'cannot be read', 'JSON'],
  ['a scalar that has no root', of('gemma2', { query_pre_attn_scalar: -1 }), invalid, 'attentionScale is NaN'],

  // our own
  ['an activation of lists within lists', own({ activation: nested }), invalid, 'config.activation is an array'],
  ['an activation that is an object without a text', own({ activation: '{"toString":1}' }), invalid, 'config.activation is Object'],
  ['experts that are a text', own({ numExperts: '"9"' }), invalid, 'config.numExperts is "9"'],
  ['a family that is an object', own({ family: '{"toString":1}' }), invalid, 'config.family is Object'],
  ['a window for a million layers', own({ window: `[${Array(1e6).fill(1)}]` }), 'shape_mismatch', 'window has 1000000 elements'],
  ['a maxLength of 2^53', own({ maxLength: `${2 ** 53}` }), invalid, 'config.maxLength is 9007199254740992'],
  ['a field that nobody knows', own({ ['__proto__']: '{"causal":true}', x: '1' }), invalid, 'unknown key'],
  ['a token of 100,000 letters', characters(['a', long]), invalid, 'a list of single letters'],
  ['tokens of lists within lists', own({}, { tokenizer: `{"type":"characters","tokens":${nested}}` }), invalid, 'characters are'],

  // GGUF
  ['2^31 - 1 layers of gemma2', ggufOf('gemma2', 'gemma2.block_count', gguf.u32(most)), invalid, `${most} layers`],
  ['a list of 2^31 bytes', withMetadata(['x', list(0, 2 ** 31)]), invalid, 'the length of "x"', 'at most 8388608'],
  ['a list of 2^23 texts that are not there', withMetadata(['x', list(8, 2 ** 23)]), invalid],
  ['a list of 2^23 lists that are not there', withMetadata(['x', list(9, 2 ** 23)]), invalid],
  ['lists within lists 50,000 deep', withMetadata(['x', { type: 9, bytes: lists(50_000) }]), invalid, 'nested deeper than 3'],
  ['2^32 - 1 axes', told(concat(named(new Uint8Array(1)), gguf.u32(2 ** 32 - 1).bytes)), invalid, '4294967295 axes'],
  ['extents whose product is past 2^53', told(info('a', [2 ** 31, 2 ** 31])), invalid, 'less than 2^53'],
  ['an array of 2^40 bytes', told(info('a', [2 ** 20, 2 ** 18])), invalid, '"a" at 0 to 1099511627776'],
  ['an offset of 2^64 - 1', told(info('a', [1], 'F32', 2n ** 64n - 1n)), invalid, 'the offset'],
  ['an alignment of 2^31', withMetadata(['general.alignment', gguf.u32(2 ** 31)]), invalid, 'a power of two up to 2^20'],
  ['an alignment that is a list', withMetadata(['general.alignment', gguf.list([gguf.u32(32)])]), invalid, 'general.alignment'],
  ['an alignment past the end', withMetadata(['general.alignment', gguf.u32(2 ** 20)]), invalid, 'at most 0'],
  ['two names that are no text', told(vector(notText), vector(notText, 32)), invalid, 'twice'],
  ['a name of a million letters', told(vector(new Uint8Array(1e6).fill(97))), invalid, 'the length of the name of an array', 'at most 65536'],
  ['a vocabulary of none', { weights: ggufFile(metadata, { ...arrays, 'token_embd.weight': { shape: [0, 64], values: [] }, 'output.weight': { shape: [0, 64], values: [] } }) }, 'out_of_range', 'vocabulary is 0'],
  ['a first token that is a text', withMetadata(['tokenizer.ggml.model', gguf.text('gpt2')], ['tokenizer.ggml.merges', gguf.list([gguf.text('a b')])], ['tokenizer.ggml.tokens', gguf.list([gguf.text('a')])], ['tokenizer.ggml.bos_token_id', gguf.text('1')]), invalid, 'bos_token_id is "1"'],

  // indexes of shards
  ['a place of lists within lists', index(`{"${norm}": ${nested}}`), invalid, `an array for "${norm}"`],
  ['a place that is an object without a text', index(`{"${norm}": {"toString": 1}}`), invalid, 'Object for'],
  ['a place of 100,000 letters', index(`{"${norm}": "${long}"}`), invalid, 'the name of a file in the same folder'],
  ['1001 files', index(JSON.stringify(Object.fromEntries(Array.from({ length: 1001 }, (_, i) => [`a${i}`, `f${i}`])))), invalid, 'names 1001 files', 'at most 1000'],
  ['a map that is a list', index('["model.safetensors"]'), invalid, 'no weight_map'],
  ['an index of lists within lists', { config, weights: put('lists.json', `{"weight_map": ${nested}}`) }, invalid, 'no weight_map'],
  ['a map by its prototype', { config, weights: put('proto.json', '{"__proto__": {"weight_map": {"a": "b"}}}') }, invalid, 'no weight_map'],

  // llama2.c
  ['2^24 - 1 of everything', checkpoint(...Array(7).fill(2 ** 24 - 1)), invalid, 'bytes'],
  ['4097 layers, and all of their numbers', { weights: llama2cFile([2, 1, 4097, 1, 1, 2, 2], [new Float32Array(4 + 4097 * 26 + 2 + 4)]) }, invalid, '4097 layers', 'at most 4096'],
  ['65,537 layers', checkpoint(2, 1, 65_537, 1, 1, 2, 2), invalid, 'bytes'],
  ['a width of 2^31 - 1', checkpoint(most, 1, 1, 1, 1, 1, 1), invalid, 'starts with'],

  // where it is
  ['a path of 100,000 letters', { config, weights: join(folder, long) }, 'load_failed', 'cannot be read'],
  ['an address of 100,000 letters', { config, weights: `data:,${long}` }, invalid, 'starts with'],
  ['a folder', { config, weights: folder }, 'load_failed', 'EISDIR'],
  ['a device without an end', { config, weights: '/dev/zero' }, invalid, 'ends at byte 0'],
]; // prettier-ignore

// What a call is given lies in memory that grows with the largest of them and is kept.
(await load(engine, withMetadata())).dispose();

/** The error with which a source is refused, of which nothing is left. */
async function refusalOf(source, code, ...says) {
  const { handles, usedBytes } = engine.memory();
  const error = await load(engine, source).then(
    () => assert.fail('it was loaded'),
    (caught) => caught,
  );
  expectQkvError(error, 'load', code, ...says);
  expectRefusal(error);
  expectNoPollution();
  const now = engine.memory();
  assert.deepEqual([now.handles, now.usedBytes], [handles, usedBytes]);
}

describe('hostile files', () => {
  for (const [what, source, code, ...says] of rows) {
    test(`load: ${what}`, async () => {
      const bytes = source.weights.length ?? 0;
      const { largest, grown } = await allocations(engine, () => refusalOf(source, code, ...says));
      // A piece of a file, and what its header is made of.
      assert.ok(largest <= 2 ** 21 + 4 * bytes, `${largest} at once for a file of ${bytes} bytes`);
      assert.ok(grown <= 2 ** 20, `WebAssembly memory grew by ${grown} bytes`);
    });
  }
});

describe('files of a server that does not say how long they are', () => {
  /** The header of a model as large as nobody sent it, and its config: `d` is its width. */
  function wideFile(d) {
    const extents = new Map([[64, d], [32, d / 2]]); // prettier-ignore
    let end = 0;
    const entries = Object.entries(header).map(([name, { dtype, shape: small }]) => {
      const shape = small.map((extent) => extents.get(extent) ?? extent);
      const begin = end;
      end += 4 * shape.reduce((n, extent) => n * extent, 1);
      return [name, { dtype, shape, data_offsets: [begin, end] }];
    });
    return {
      bytes: safetensorsOf(Object.fromEntries(entries), new Uint8Array(64)),
      config: { ...config, hidden_size: d },
    };
  }
  const loadWide = (d, ...refusal) => {
    const { bytes, config: wide } = wideFile(d);
    const source = { config: wide, weights: 'https://models.test/model.safetensors' };
    return onWeb(
      new Map(),
      () => bytes,
      () => refusalOf(source, ...refusal),
      { tellsLength: false },
    );
  };

  test('load: more than WebAssembly can have is refused before anything is asked for', async () => {
    const { largest, grown } = await allocations(engine, () =>
      loadWide(2 ** 20, 'out_of_memory', 'bytes could not be allocated'),
    );
    assert.ok(largest <= 2 ** 21 && grown === 0, `${largest} at once, ${grown} grown`);
  });

  test('load: less than that is believed, until the file ends', () =>
    loadWide(2 ** 9, 'invalid_argument', 'ends at byte'));
});

describe('odd files that are read', () => {
  const tokens = ['<unk>', '<s>', 'a', 'b', 'ab', '\u2581', '<|end|>'];
  const types = [2, 3, 1, 1, 1, 1, 3];
  const ggml = (pairs) => Object.entries(pairs).map(([key, value]) => [`tokenizer.ggml.${key}`, value]); // prettier-ignore
  const texts = (all) => gguf.list(all.map(gguf.text));
  const modelOf = async (pairs) => {
    const model = await load(engine, withMetadata(...ggml(pairs)));
    model.dispose();
    return model;
  };
  const llamaTokens = (more = {}) => ({
    ...{ model: gguf.text('llama'), tokens: texts(tokens), bos_token_id: gguf.u32(1) },
    ...{ scores: gguf.list(tokens.map((_, i) => gguf.f32(-i))) },
    ...{ token_type: gguf.list(types.map(gguf.i32)), ...more },
  });

  for (const score of [NaN, Infinity, -Infinity]) {
    test(`load: a score of ${score} leaves a model without a tokenizer`, async () => {
      const scores = gguf.list(tokens.map((_, i) => gguf.f32(i === 4 ? score : -i)));
      assert.equal((await modelOf(llamaTokens({ scores }))).tokenizer, undefined);
      assert.notEqual((await modelOf(llamaTokens())).tokenizer, undefined);
    });
  }

  test('load: a special token of 131,000 letters is found in a text', async () => {
    const special = '<'.repeat(131_000);
    const { tokenizer } = await modelOf(
      llamaTokens({ tokens: texts([...tokens.slice(0, 6), special]) }),
    );
    assert.deepEqual(tokenizer.encode(`${special}ab<`).slice(1), [6, 5, 4, 0]);
  });

  test('load: pairs of what is no token are spelt by those that are', async () => {
    const pairs = { tokens: texts(tokens), merges: texts(['a b', 'b ab', 'x y', 'a', ' ', '']) };
    const { tokenizer } = await modelOf({ model: gguf.text('gpt2'), ...pairs });
    assert.deepEqual(tokenizer.encode('ab bab!'), [4, 3, 2, 3]);
    assert.equal(tokenizer.decode([4, 99, -1]), 'ab');
  });
});
