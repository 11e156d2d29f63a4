// @build any
// safetensors: of ours with int8, shards and their index, and what a stranger's file, index or config may not do.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { expectRejects } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { families } from './support/families.js';
import { safetensors, safetensorsOf, safetensorsParts } from './support/files.js';
import { ownMetadata, ownModel } from './support/own.js';
import { expectModel } from './support/truth.js';

const { openModel } = models;
const open = (config, weights, options) => openModel({ config, weights }, options);
const [invalid, unsupported] = ['invalid_argument', 'unsupported'];

const folder = mkdtempSync(join(tmpdir(), 'qkv-shards-'));
after(() => rmSync(folder, { recursive: true }));
const put = (name, bytes) => {
  writeFileSync(join(folder, name), bytes);
  return join(folder, name);
};

const { truth, tensors, config } = families.llama();
const good = safetensors(tensors);
const { header, data } = safetensorsParts(tensors);

describe('openModel: files of ours', () => {
  for (const format of ['f32', 'bf16', 'int8']) {
    for (const scalesFirst of [false, true]) {
      test(`${format}, scales ${scalesFirst ? 'before' : 'behind'}`, async () => {
        const own = ownModel({ format, scalesFirst });
        const opened = await open(undefined, safetensors(own.tensors, ownMetadata()));
        assert.equal(opened.kept.format, format);
        assert.deepEqual(opened.config, own.config);
        await expectModel(opened, own.truth);
      });
    }
  }

  test('int8 that comes in two pieces, each with its scales', async () => {
    const vocabulary = 20_001;
    const own = ownModel({ format: 'int8', vocabulary });
    const file = safetensors(own.tensors, ownMetadata({ vocabulary }));
    await expectModel(await open(undefined, file), own.truth);
  });

  test("the optimizer's arrays are left where they are", async () => {
    const own = ownModel();
    const moments = Object.entries(own.tensors).map(([name, tensor]) => [
      `optimizer.first.${name}`,
      tensor,
    ]);
    const file = safetensors({ ...own.tensors, ...Object.fromEntries(moments) }, ownMetadata());
    await expectModel(await open(undefined, file), own.truth);
  });

  const own = (changes, more = {}, format = 'int8') =>
    safetensors({ ...ownModel({ format }).tensors, ...more }, { ...ownMetadata(), ...changes });
  const scale = (tensor) =>
    own({}, { 'head.scale': { ...ownModel({ format: 'int8' }).tensors['head.scale'], ...tensor } });
  for (const [what, file, code, ...says] of [
    ['another kind', own({ kind: 'seq2seq' }), invalid, 'seq2seq', 'language_model'],
    ['a config that is no JSON', own({ config: '{' }), invalid, 'config is undefined', 'an object'],
    ['a config that is a list', own({ config: '[]' }), invalid, 'config is an array'],
    ['2^31 layers', own(ownMetadata({ numLayers: 2 ** 31 - 1 })), invalid, '2147483647 layers'],
    ['half a layer', own(ownMetadata({ numLayers: 0.5 })), invalid, 'numLayers is 0.5'],
    ['no heads', own(ownMetadata({ numHeads: undefined })), invalid, 'numHeads is undefined'],
    ['heads that do not divide', own(ownMetadata({ numHeads: 3 })), invalid, 'a whole number'],
    ['scales in float32', scale({ type: 'F32' }), unsupported, 'head.scale', 'F32', 'F16'],
    ['scales of another shape', scale({ shape: [9, 2] }), invalid, '"head.scale" is [9,2]', '[2,9]'],
    ['scales of floats', own({}, { 'norm.gamma.scale': { shape: [1], values: [1], type: 'F16' } }), invalid, 'norm.gamma.scale'],
    ['no scales', safetensors(Object.fromEntries(Object.entries(ownModel({ format: 'int8' }).tensors).filter(([name]) => name !== 'head.scale')), ownMetadata()), invalid, 'have no "head.scale"'],
  ]) {
    test(what, () => expectRejects(open(undefined, file), 'load', code, ...says));
  } // prettier-ignore
});

describe('openModel: shards', () => {
  const entries = Object.entries(tensors);
  const parts = [entries.slice(0, 4), entries.slice(4, 9), entries.slice(9)];
  const files = parts.map((some) => safetensors(Object.fromEntries(some)));
  const map = Object.fromEntries(
    parts.flatMap((some, i) => some.map(([name]) => [name, `part-${i}.safetensors`])),
  );
  files.forEach((bytes, i) => put(`part-${i}.safetensors`, bytes));
  let count = 0;
  const index = (weightMap, rest = {}) =>
    put(
      `index-${count++}.json`,
      JSON.stringify({ metadata: { total_size: 1 }, weight_map: weightMap, ...rest }),
    );

  test('in any order', async () => {
    await expectModel(await open(config, [files[2], files[0], files[1]]), truth);
  });
  test('by their index, as a path and as a URL', async () => {
    const path = index(map);
    await expectModel(await open(config, path), truth);
    await expectModel(await open(config, pathToFileURL(path)), truth);
    await expectModel(await open(config, [`${pathToFileURL(path)}`]), truth);
  });
  test('by their index, in a folder whose name has letters that end an address', async () => {
    const inner = join(folder, 'shards #1?');
    mkdirSync(inner);
    files.forEach((bytes, i) => writeFileSync(join(inner, `part-${i}.safetensors`), bytes));
    const path = join(inner, 'index.json');
    writeFileSync(path, JSON.stringify({ weight_map: map }));
    await expectModel(await open(config, path), truth);
    await expectModel(await open(config, pathToFileURL(path)), truth);
  });
  test('with the config where it is', async () => {
    const path = put('config.json', JSON.stringify(config));
    await expectModel(await open(path, index(map)), truth);
  });

  const withFile = (file) => index({ ...map, 'model.norm.weight': file });
  for (const [what, weights, code, ...says] of [
    ['an array in two of them', () => [...files, files[0]], invalid, 'in two files'],
    ['one that is missing', () => files.slice(1), invalid, 'weights have no'],
    ['none', () => [], invalid, 'empty list'],
    ['an index among them', () => [index(map), files[0]], invalid, 'JSON'],
    ['an index that is a Blob', () => new Blob([JSON.stringify({ weight_map: map })]), invalid, 'JSON', 'index'],
    ['an index without a map', () => index(undefined), invalid, 'weight_map'],
    ['a map that is a text', () => index('map'), invalid, 'weight_map'],
    ['a map of numbers', () => withFile(3), invalid, '3 for "model.norm.weight"'],
    ['a file above', () => withFile('../config.json'), invalid, '../config.json'],
    ['a file of another folder', () => withFile('a/b.safetensors'), invalid, 'a/b.safetensors'],
    ['a file of the machine', () => withFile('file:///etc/passwd'), invalid, 'file:///etc/passwd'],
    ['a file of another server', () => withFile('http://localhost/x'), invalid, 'http://localhost/x'],
    ['a file that is hidden', () => withFile('.hidden'), invalid, '.hidden'],
    ['a file that is not there', () => withFile('none.safetensors'), 'load_failed', 'none.safetensors'],
    ['an array in another file than it says', () => withFile('part-0.safetensors'), invalid, 'part-0.safetensors has no "model.norm.weight"'],
    ['itself in the index', () => put('self.json', JSON.stringify({ weight_map: { a: 'self.json' } })), invalid, 'self.json'],
    ['a name of a prototype', () => put('proto.json', '{"weight_map": {"__proto__": "part-0.safetensors"}}'), invalid, '__proto__'],
    ['JSON that is cut', () => put('cut.json', '{"weight_map": {"a": "part-0'), invalid, 'cut.json cannot be read', 'JSON'],
    ['two formats', () => [files[0], safetensors({}), new Uint8Array(40).fill(1)], invalid, 'starts with'],
  ]) {
    test(what, () => expectRejects(open(config, weights()), 'load', code, ...says));
  } // prettier-ignore
});

describe('openModel: safetensors of strangers', () => {
  const name = 'model.norm.weight';
  const first = header[name];
  const entry = (change) => safetensorsOf({ ...header, [name]: { ...first, ...change } }, data);
  const lengthOf = (length) => {
    const file = good.slice();
    new DataView(file.buffer).setBigUint64(0, length, true);
    return file;
  };
  const retyped = (change) => safetensors({ ...tensors, [name]: { ...tensors[name], ...change } });
  const q = 'model.layers.0.self_attn.q_proj.weight';
  const without = (key) =>
    safetensors(Object.fromEntries(Object.entries(tensors).filter(([own]) => own !== key)));
  const more = (key) => safetensors({ ...tensors, [key]: { shape: [1], values: [0] } });
  for (const [what, file, code, ...says] of [
    ['nothing', new Uint8Array(0), invalid, 'weights ends at byte 0'],
    ['eight bytes', good.slice(0, 8), invalid, 'ends at byte 8'],
    ['a header longer than the file', lengthOf(2n ** 32n), invalid, 'a header of 4294967296 bytes'],
    ['a header of 2^63 bytes', lengthOf(2n ** 63n), invalid, 'a header of 9223372036854776000 bytes'],
    ['a header cut short', lengthOf(20n), invalid, 'header that cannot be read', 'JSON'],
    ['lists within lists', safetensorsOf('{"a":'.repeat(50_000), data), invalid, 'header that cannot be read'],
    ['no offsets', entry({ data_offsets: undefined }), invalid, 'the offsets undefined'],
    ['offsets past the end', entry({ data_offsets: [first.data_offsets[0], 2 ** 53] }), invalid, 'offsets'],
    ['arrays that overlap', safetensorsOf({ ...header, more: first }, data), invalid, 'overlap'],
    ['a hole at the end', new Uint8Array([...good, 0]), invalid, `${data.length + 1} bytes`],
    ['elements cut short', good.slice(0, -1), invalid, 'offsets'],
    ['a file of PyTorch', new TextEncoder().encode('PK\x03\x04 archive/data.pkl'), unsupported, 'weights is a file of PyTorch', 'model.safetensors', 'save_pretrained()'],
    ['an older file of PyTorch', Uint8Array.of(0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8), unsupported, 'file of PyTorch'],
    ['a type of GGUF', entry({ dtype: 'Q8_0' }), unsupported, 'is Q8_0', 'F32, F16 or BF16'],
    ['a type that nobody knows', entry({ dtype: 'F8_E4M3' }), unsupported, 'F8_E4M3'],
    ['a type that is no text', entry({ dtype: 8 }), invalid, 'the type 8'],
    ['integers', retyped({ type: 'I8' }), unsupported, name, 'I8', 'F32'],
    ['int8 without scales', safetensors({ ...tensors, [q]: { ...tensors[q], type: 'I8' } }), unsupported, q, 'I8'],
    ['another shape', retyped({ shape: [8, 8] }), invalid, `"${name}" is [8,8]`, '[64]'],
    ['an array that is missing', without(q), invalid, 'have no "layers.0.self_attn.q_proj.weight"'],
    ['a name of a prototype', more('__proto__'), invalid, '"__proto__"'],
    ['the name constructor', more('constructor'), invalid, '"constructor"'],
    ['an array by two names', more('norm.weight'), invalid, 'under two names'],
    ['an array too many', more('model.layers.0.self_attn.q_proj.bias'), invalid, 'q_proj.bias'],
  ]) {
    test(what, () => expectRejects(open(config, file), 'load', code, ...says));
  } // prettier-ignore

  test('no config', () =>
    expectRejects(open(undefined, good), 'load', invalid, 'config is missing'));
  test('weights that are none', async () => {
    for (const weights of [undefined, null, 7, {}, [null], new Float32Array(8)]) {
      await expectRejects(open(config, weights), 'load', invalid, 'weights is');
    }
    await expectRejects(openModel({ weights: good, wieghts: 1 }), 'load', invalid, 'wieghts');
  });
});

describe('openModel: configs', () => {
  const llama = (changes) => [families.llama, changes];
  const scaling = (change) =>
    llama({ rope_scaling: { ...families.llama().config.rope_scaling, ...change } });
  for (const [what, [make, changes], code, ...says] of [
    ['no family', llama({ model_type: undefined }), invalid, 'config.model_type is undefined'],
    ['an unknown family', llama({ model_type: 'unheard' }), unsupported, 'unheard', 'llama'],
    ['the family of a prototype', llama({ model_type: 'toString' }), unsupported, 'toString'],
    ['an unknown activation', llama({ hidden_act: 'relu2' }), unsupported, 'hidden_act is "relu2"', 'silu'],
    ['an activation that is a number', llama({ hidden_act: 1 }), invalid, 'hidden_act is 1'],
    ['no biases of attention', llama({ attention_bias: true }), invalid, 'have no "layers.0.self_attn.q_proj.bias"'],
    ['no biases of the feed-forward part', llama({ mlp_bias: true }), invalid, 'have no "layers.0.mlp.up_proj.bias"'],
    ['weights of GPTQ', llama({ quantization_config: { quant_method: 'gptq', bits: 4 } }), unsupported, 'config.quantization_config is {"quant_method":"gptq","bits":4}', 'take the model in BF16 or F16', 'Q8_0'],
    ['weights of MLX', llama({ quantization: { group_size: 64, bits: 4 } }), unsupported, 'config.quantization is {"group_size":64', 'Q8_0'],
    ['dynamic scaling', scaling({ rope_type: 'dynamic' }), unsupported, 'rope_type is "dynamic"', 'llama3'],
    ['scaling without a factor', scaling({ factor: undefined }), invalid, 'factor is undefined'],
    ["the scaling of DeepSeek's scores", llama({ rope_scaling: { rope_type: 'yarn', factor: 2, mscale: 0.7 } }), unsupported, 'mscale is 0.7'],
    ['that of all dimensions', llama({ rope_scaling: { rope_type: 'yarn', factor: 2, mscale_all_dim: 1 } }), unsupported, 'mscale_all_dim is 1'],
    ['a range that is not cut to whole pairs', llama({ rope_scaling: { rope_type: 'yarn', factor: 2, truncate: false } }), unsupported, 'truncate is false'],
    ['a scaling that is a text', llama({ rope_scaling: 'linear' }), invalid, 'rope_scaling is "linear"'],
    ['a base that is no number', llama({ rope_theta: '10000' }), invalid, 'rope_theta is "10000"'],
    ['a size that is a text', llama({ hidden_size: '64' }), invalid, 'hidden_size is "64"'],
    ['a size below 1', llama({ vocab_size: 0 }), invalid, 'vocab_size is 0'],
    ['a size of 2^53', llama({ vocab_size: 2 ** 53 }), invalid, 'vocab_size is 9007199254740992'],
    ['2^31 - 1 layers', llama({ num_hidden_layers: 2 ** 31 - 1 }), invalid, '2147483647 layers'],
    ['another vocabulary', llama({ vocab_size: 12 }), invalid, 'embed_tokens.weight" is [11,64]', '[12,64]'],
    ['a tie that is a text', llama({ tie_word_embeddings: 'no' }), invalid, 'tie_word_embeddings is "no"'],
    ['windows of other layers', [families.mistral, { layer_types: ['full_attention'] }], invalid, '1 layers', '2'],
    ['windows of another kind', [families.mistral, { layer_types: ['full_attention', 'chunked_attention'] }], unsupported, 'layer_types has "chunked_attention"', 'sliding_attention'],
    ['layers that slide nobody tells how far', llama({ layer_types: ['full_attention', 'sliding_attention'] }), unsupported, 'layer_types has "sliding_attention"', 'a window'],
    ['windows to both sides', [families.mistral, { is_causal: false }], unsupported, 'config.is_causal is false and there are windows'],
    ['long scaling', llama({ rope_scaling: { type: 'longrope', short_factor: [1], long_factor: [2] } }), unsupported, 'type is "longrope"', 'yarn'],
    ['scaling by sections', llama({ rope_scaling: { type: 'mrope', rope_type: 'default', mrope_section: [1] } }), unsupported, 'type is "mrope"'],
    ['scalings of two kinds', scaling({ type: 'linear' }), invalid, 'rope_type is "llama3" and', 'type is "linear"', 'the same in both'],
    ['a number of the scaling that nobody knows', scaling({ new_factor: 3 }), unsupported, 'config.rope_scaling.new_factor is 3', 'a file without it'],
    ['bases that differ', llama({ rope_parameters: { rope_theta: 7 }, rope_scaling: null }), invalid, 'rope_parameters.rope_theta is 7 and config.rope_theta is 500000', 'the same in both'],
    ['shares that differ', llama({ rope_parameters: { partial_rotary_factor: 0.5 }, rope_scaling: null, partial_rotary_factor: 0.25 }), invalid, 'partial_rotary_factor is 0.5 and config.partial_rotary_factor is 0.25'],
    ['a share of nothing', llama({ partial_rotary_factor: 0 }), invalid, 'config.partial_rotary_factor is 0', '(0, 1]'],
    ['two objects for the rotation', llama({ rope_parameters: { rope_theta: 500_000 } }), invalid, 'config.rope_parameters and config.rope_scaling differ'],
    ['rotations that differ by layer', llama({ rope_scaling: null, rope_theta: null, rope_parameters: { full_attention: { rope_theta: 1e6 }, sliding_attention: { rope_theta: 1e4 } } }), unsupported, 'config.rope_parameters differs in full_attention and sliding_attention'],
    ['code of its own', llama({ auto_map: { AutoModelForCausalLM: 'modeling.Model' } }), unsupported, 'config.auto_map is {"AutoModelForCausalLM":"modeling.Model"}: code of the model', 'give the config without it if you know that the model computes as llama'],
    ['heads of each layer that differ', llama({ num_key_value_heads: [2, 1] }), unsupported, 'num_key_value_heads has 2 and 1', 'the same number in every layer'],
    ['a window of 0', [families.mistral, { sliding_window: 0 }], invalid, 'sliding_window is 0'],
    ['scores of another kind', [families.gpt2, { scale_attn_by_inverse_layer_idx: true }], unsupported, 'scale_attn_by_inverse_layer_idx'],
    ['a width that is not the usual one', [families.gpt2, { n_inner: null }], invalid, 'mlp.c_fc.weight" is [64,96]', '[64,256]'],
    ['a share of rotation that nobody told', [families.gpt_neox, { rotary_pct: undefined }], invalid, 'rotary_pct is undefined'],
    ['an epsilon that nobody told', llama({ rms_norm_eps: undefined }), invalid, 'rms_norm_eps is undefined'],
    ['positions of another kind', [families.bert, { position_embedding_type: 'relative_key' }], unsupported, 'relative_key'],
    ['a decoder of BERT', [families.bert, { is_decoder: true }], unsupported, 'is_decoder'],
    ['2^31 - 1 heads', [families.gpt_neox, { num_attention_heads: 2 ** 31 - 1 }], invalid],
  ]) {
    test(what, () => {
      const model = make();
      const found = open({ ...model.config, ...changes }, safetensors(model.tensors));
      return expectRejects(found, 'load', code, ...says);
    });
  } // prettier-ignore

  test('configs that are none', async () => {
    for (const given of [7, true, [], null]) {
      await expectRejects(open(given, good), 'load', invalid, 'config is');
    }
    const thrower = Object.defineProperty({}, 'model_type', {
      enumerable: true,
      get() {
        throw new Error('mine');
      },
    });
    await expectRejects(open(thrower, good), 'load', invalid, 'config cannot be read', 'mine');
    // Also with a file that does not need it.
    const ours = safetensors(ownModel().tensors, ownMetadata());
    await expectRejects(open(thrower, ours), 'load', invalid, 'config cannot be read', 'mine');
    const thenable = { then: () => assert.fail('nobody waits for a config') };
    await expectModel(await open(thenable, ours), ownModel().truth);
  });

  test('what nothing hangs on is not asked for', async () => {
    const extra = {
      torch_dtype: 'bfloat16',
      architectures: ['x'],
      use_cache: true,
      eos_token_id: [2, 5],
    };
    const opened = await open({ ...config, ...extra, ['__proto__']: { a: 1 } }, good);
    assert.deepEqual(opened.endTokens, [2, 5]);
    await expectModel(opened, truth);
  });

  const openLlama = async (changes, { drop = [], more = {} } = {}) => {
    const kept = Object.entries(tensors).filter(([name]) => !drop.includes(name));
    const file = safetensors({ ...Object.fromEntries(kept), ...more });
    return open({ ...config, ...changes }, file);
  };

  test('one rotation for each kind of layer, all the same, is that of all', async () => {
    const { rope_scaling: rope, rope_theta: theta, ...rest } = config;
    const own = { ...rope, rope_theta: theta };
    const nested = { full_attention: own, sliding_attention: { ...own } };
    const opened = await open({ ...rest, rope_parameters: nested }, good);
    assert.deepEqual(opened.config, families.llama().expected);
    opened.close();
  });

  test('a share of the rotation wherever it stands, and as often', async () => {
    const plain = { rope_scaling: null };
    const rope = { partial_rotary_factor: 0.5 };
    for (const changes of [
      { ...plain, partial_rotary_factor: 0.5 },
      { ...plain, rope_parameters: rope },
      { rope_scaling: rope },
      { rope_scaling: rope, partial_rotary_factor: 0.5 },
    ]) {
      const opened = await openLlama(changes);
      opened.close();
      assert.equal(opened.config.rotary.rotaryDim, 8);
    }
  });

  test('widths as lists with the same number for each layer', async () => {
    const lists = { num_attention_heads: [4, 4], num_key_value_heads: [2, 2], intermediate_size: [96, 96] }; // prettier-ignore
    const opened = await openLlama(lists);
    assert.deepEqual(opened.config, families.llama().expected);
    await expectModel(opened, truth);
  });

  test('a head in the file is that of the model, also where the config ties it', async () => {
    for (const head of ['lm_head.weight', 'model.lm_head.weight']) {
      const own = { drop: ['lm_head.weight'], more: { [head]: tensors['lm_head.weight'] } };
      const opened = await openLlama({ tie_word_embeddings: true }, own);
      assert.equal(opened.config.tiedEmbeddings, false);
      await expectModel(opened, truth);
    }
    const tied = await openLlama({ tie_word_embeddings: true }, { drop: ['lm_head.weight'] });
    assert.equal(tied.config.tiedEmbeddings, true);
    tied.close();
  });

  test('a class without a head of a language model has none; the head of another task is told', async () => {
    const drop = ['lm_head.weight'];
    const score = { shape: [2, 64], values: new Float32Array(128) };
    const architectures = ['LlamaForSequenceClassification'];
    const encoder = { architectures, is_causal: false };
    const opened = await openLlama(encoder, { drop, more: { 'score.weight': score } });
    assert.deepEqual([opened.config.head, opened.ignored], [false, ['score.weight']]);
    const { head, ...arrays } = truth.arrays;
    assert.ok(head);
    await expectModel(opened, { arrays });
    await expectRejects(openLlama({ architectures }, { drop }), 'load', unsupported, 'weights of "LlamaForSequenceClassification" have no "lm_head.weight"', 'with tie_word_embeddings: true in the config'); // prettier-ignore
    for (const given of [['LlamaForCausalLM'], [], undefined]) {
      const refused = openLlama({ architectures: given }, { drop });
      await expectRejects(refused, 'load', invalid, 'have no "lm_head.weight"');
    }
  });

  test('biases of all maps', async () => {
    const more = {};
    const arrays = { ...truth.arrays };
    for (const n of [0, 1]) {
      for (const [theirs, ours, width] of [
        ...[['self_attn.q_proj', 'attention.bq', 64], ['self_attn.k_proj', 'attention.bk', 32]],
        ...[['self_attn.v_proj', 'attention.bv', 32], ['self_attn.o_proj', 'attention.bo', 64]],
        ...[['mlp.up_proj', 'feedForward.b1', 96], ['mlp.gate_proj', 'feedForward.bGate', 96]],
        ['mlp.down_proj', 'feedForward.b2', 64],
      ]) {
        const data = Float32Array.from({ length: width }, (_, i) => (i % 9) - n);
        more[`model.layers.${n}.${theirs}.bias`] = { shape: [width], values: data };
        arrays[`layers.${n}.${ours}`] = { shape: [width], data };
      }
    } // prettier-ignore
    const opened = await openLlama({ attention_bias: true, mlp_bias: true }, { more });
    assert.equal(opened.config.biases, true);
    await expectModel(opened, { arrays });
  });

  test('metadata that are null are none', async () => {
    const file = safetensorsOf({ __metadata__: null, ...header }, data);
    await expectModel(await open(config, file), truth);
  });

  test('a window that the config does not tell is that of transformers, of 4096 keys', async () => {
    const model = families.mistral();
    const opened = await open(
      { ...model.config, sliding_window: undefined },
      safetensors(model.tensors),
    );
    assert.equal(opened.config.window, 4095);
    opened.close();
  });

  test('code of its own for a config or a tokenizer computes nothing', async () => {
    const opened = await openLlama({
      auto_map: { AutoConfig: 'a.B', AutoTokenizer: ['c.D', null] },
    });
    assert.deepEqual(opened.config, families.llama().expected);
    opened.close();
  });

  test('windows of which no layer makes use', async () => {
    const model = families.mistral();
    const opened = await open(
      { ...model.config, sliding_window: null },
      safetensors(model.tensors),
    );
    assert.equal(opened.config.window, undefined);
    opened.close();
  });

  test('windows of Qwen begin at the layer that its config has by default, the 28th', async () => {
    const model = families.qwen2();
    const file = safetensors(model.tensors);
    const asked = { ...model.config, max_window_layers: undefined };
    const windowOf = async (changes) => {
      const opened = await open({ ...asked, ...changes }, file);
      opened.close();
      return opened.config.window;
    };
    assert.equal(await windowOf({}), undefined);
    assert.equal(await windowOf({ max_window_layers: 0 }), 3);
    assert.deepEqual(await windowOf({ max_window_layers: 1 }), [null, 3]);
  });

  test('rope_parameters, of newer files', async () => {
    const { rope_scaling: rope, rope_theta: theta, ...rest } = config;
    const opened = await open({ ...rest, rope_parameters: { ...rope, rope_theta: theta } }, good);
    assert.deepEqual(opened.config, families.llama().expected);
    opened.close();
  });

  test('fewer tokens in a row, and not more', async () => {
    const model = families.gpt2();
    const file = safetensors(model.tensors);
    model.truth.arrays.positions.data = model.truth.arrays.positions.data.slice(0, 64 * 5);
    model.truth.arrays.positions.shape = [5, 64];
    const opened = await open(model.config, file, { maxLength: 5 });
    assert.equal(opened.config.maxLength, 5);
    await expectModel(opened, model.truth);
    await expectRejects(
      open(model.config, file, { maxLength: 10 }),
      'load',
      'out_of_range',
      '10',
      '1 to 9',
    );
  });
});
