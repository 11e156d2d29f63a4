// @build any
// LanguageModel.withAdapters(): adapters in files of PEFT, added to the weights of models of every family, against files that have the sums.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { create, load } from 'qkv/models';
import { init } from 'qkv';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { kinds, sizeIn } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { partsOf } from '../../support/js/safetensors.js';
import { blockFile } from './support/block-models.js';
import { families, otherFamilies } from './support/families.js';
import { ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { deltaOf, filesOf, pairsOf, usual } from './support/peft.js';

const engine = await init();
after(() => engine.dispose());

/** The float32 arrays of a model by their names. */
function arraysIn(model) {
  const { header, data } = partsOf(model.save());
  const { __metadata__: _, ...entries } = header;
  return Object.fromEntries(
    Object.entries(entries).map(
      ([
        name,
        {
          dtype,
          data_offsets: [from, to],
        },
      ]) => {
        assert.equal(dtype, 'F32', name);
        return [name, new Float32Array(data.slice(from, to).buffer)];
      },
    ),
  );
}

/** Both have the same arrays, but for a few roundings of float32; how many differ from those of `base`. */
function expectArrays(actual, expected, base) {
  assert.deepEqual(Object.keys(actual), Object.keys(expected));
  let changed = 0;
  for (const [name, numbers] of Object.entries(expected)) {
    const bound = 4 * 2 ** -24 * (sizeIn(numbers) + sizeIn(base[name]));
    actual[name].forEach((x, i) => {
      assert.ok(Math.abs(x - numbers[i]) <= bound, `${name}[${i}]: ${x} for ${numbers[i]}`);
    });
    if (actual[name].some((x, i) => x !== base[name][i])) changed += 1;
  }
  return changed;
}

/** The tensors that are maps of a layer, and which axis has the outputs. */
const isMap = (name, { shape }) =>
  shape.length === 2 && /\.\d+\./.test(name) && !/relative_attention_bias|embed/.test(name);

for (const [name, make] of Object.entries({ ...families, ...otherFamilies })) {
  test(`withAdapters: every map of the layers of ${name}, by the names of transformers`, async (t) => {
    const { tensors, config } = make();
    const isColumns = ['gpt2', 'openai-gpt'].includes(config.model_type);
    // An encoder alone reads nothing of the decoder that its file has.
    const isAlone = (config.architectures ?? []).includes('T5EncoderModel');
    const maps = Object.entries(tensors).filter(
      ([path, tensor]) => isMap(path, tensor) && !(isAlone && path.startsWith('decoder.')),
    );
    if (maps.length === 0) return t.skip('its layers have no linear modules');
    const modules = Object.fromEntries(
      maps.map(([path, { shape }]) => [
        path.replace(/\.weight$/, ''),
        isColumns ? [...shape].reverse() : shape,
      ]),
    );
    const pairs = pairsOf(modules);
    const sums = Object.fromEntries(
      Object.entries(tensors).map(([path, tensor]) => {
        const pair = pairs[path.replace(/\.weight$/, '')];
        if (!pair) return [path, tensor];
        const delta = deltaOf(pair, 6 / 3);
        const at = isColumns
          ? (i) => (i % pair.out) * pair.width + Math.floor(i / pair.out)
          : (i) => i;
        return [path, { ...tensor, values: tensor.values.map((x, i) => x + delta[at(i)]) }];
      }),
    );
    const modelOf = (of) => load(engine, { config, weights: new Blob([safetensors(of)]) });
    const [base, expected] = [await modelOf(tensors), await modelOf(sums)];
    const files = filesOf(pairs, { fan_in_fan_out: isColumns });
    const model = base.withAdapters(files);
    const changed = expectArrays(arraysIn(model), arraysIn(expected), arraysIn(base));
    assert.ok(changed >= maps.length, `${changed} of ${maps.length}`);
    assert.equal(model.parameterCount, base.parameterCount);
    for (const each of [base, expected, model]) each.dispose();
  });
}

/** Rows of heads as halves, put as pairs: how llama.cpp's converter turns q and k. */
const turned = (values, [out, width], heads) => {
  const dK = out / heads;
  return values.map((_, at) => {
    const [row, i] = [Math.floor(at / width), at % width];
    const [head, inHead] = [Math.floor(row / dK), row % dK];
    const from = head * dK + (inHead % 2) * (dK / 2) + Math.floor(inHead / 2);
    return values[from * width + i];
  });
};

describe('withAdapters:', () => {
  test('withAdapters: q and k of a GGUF file lie as its rotation wants them', async () => {
    const { metadata, tensors } = ggufModels.llama();
    const names = { q_proj: 'attn_q', k_proj: 'attn_k', v_proj: 'attn_v', o_proj: 'attn_output' };
    const shapes = {};
    const placed = {};
    for (const layer of [0, 1]) {
      for (const [own, ggufName] of Object.entries(names)) {
        const path = `model.layers.${layer}.self_attn.${own}`;
        placed[`blk.${layer}.${ggufName}.weight`] = path;
        shapes[path] = tensors[`blk.${layer}.${ggufName}.weight`].shape;
      }
    }
    const pairs = pairsOf(shapes);
    const sums = Object.fromEntries(
      Object.entries(tensors).map(([name, tensor]) => {
        const pair = pairs[placed[name]];
        if (!pair) return [name, tensor];
        const plain = deltaOf(pair, 2);
        const heads = /attn_q/.test(name) ? 4 : 2;
        const delta = /attn_[qk]/.test(name) ? turned(plain, tensor.shape, heads) : plain;
        return [name, { ...tensor, values: tensor.values.map((x, i) => x + delta[i]) }];
      }),
    );
    const modelOf = (of) => load(engine, { weights: new Blob([ggufFile(metadata, of)]) });
    const [base, expected] = [await modelOf(tensors), await modelOf(sums)];
    const target_modules = ['q_proj', 'k_proj', 'v_proj', 'o_proj'];
    const model = base.withAdapters(filesOf(pairs, { target_modules }));
    assert.equal(expectArrays(arraysIn(model), arraysIn(expected), arraysIn(base)), 8);
  });

  const llama = { ...kinds.llama, family: 'llama', dModel: 32, numLayers: 2 };
  const kvWidth = ((llama.numKvHeads ?? llama.numHeads) * 32) / llama.numHeads;
  const shapes = (layers = [0, 1]) =>
    Object.fromEntries(
      layers.flatMap((n) => [
        [`model.layers.${n}.self_attn.q_proj`, [32, 32]],
        [`model.layers.${n}.self_attn.v_proj`, [kvWidth, 32]],
      ]),
    );
  const base = () => create(engine, llama, randomWeights(llama, 5));
  const pathOf = { wq: 'q_proj', wv: 'v_proj' };

  /** The model has W + factor B A, by the path of the module. */
  function expectFactors(model, from, pairs, factorOf) {
    const [was, is] = [arraysIn(from), arraysIn(model)];
    for (const name of Object.keys(was)) {
      const [, layer, map] = /^layers\.(\d)\.attention\.(w[qv])$/.exec(name) ?? [];
      const path = `model.layers.${layer}.self_attn.${pathOf[map]}`;
      const pair = pairs[path];
      if (!pair) {
        expectSame(is[name], was[name]);
        continue;
      }
      const delta = deltaOf(pair, factorOf(path));
      const bound = 2 ** -22 * (sizeIn(delta) + sizeIn(was[name]));
      is[name].forEach((x, i) => assert.ok(Math.abs(x - was[name][i] - delta[i]) <= bound, `${name}[${i}]`)); // prettier-ignore
    }
  }

  test('withAdapters: rank, alpha, rsLoRA, patterns, layers and types of numbers are obeyed', () => {
    const from = base();
    const all = shapes();
    for (const [config, rankOf, factorOf, modules = all, options] of [
      [{ r: 3, lora_alpha: 6 }, () => 3, () => 2],
      [
        { r: 3, lora_alpha: 1.5, target_modules: 'all-linear' },
        () => 3,
        () => 0.5,
        undefined,
        { isPart: true },
      ],
      [{ r: 4, lora_alpha: 3, use_rslora: true }, () => 4, () => 1.5],
      [{ r: 3, lora_alpha: 3, use_rslora: true }, () => 3, () => 3 / Math.sqrt(3)],
      [
        {
          r: 2,
          rank_pattern: { q_proj: 5 },
          alpha_pattern: { 'layers.1.self_attn.q_proj': 10, '^model.layers.0.self_attn.v_proj': 1 },
        },
        (path) => (path.endsWith('q_proj') ? 5 : 2),
        (path) =>
          ({
            'model.layers.1.self_attn.q_proj': 2,
            'model.layers.0.self_attn.q_proj': 6 / 5,
            'model.layers.0.self_attn.v_proj': 0.5,
            'model.layers.1.self_attn.v_proj': 3,
          })[path],
      ],
      [
        { layers_to_transform: [1], target_modules: ['q_proj', 'v_proj'] },
        () => 3,
        () => 2,
        shapes([1]),
      ],
      [
        { layers_to_transform: 0, target_modules: ['self_attn.q_proj', 'v_proj'] },
        () => 3,
        () => 2,
        shapes([0]),
      ],
      [{ target_modules: '.*\\.(q|v)_proj' }, () => 3, () => 2],
      [
        {
          exclude_modules: ['k_proj', 'layers.0.self_attn.q_proj', 'o_proj'],
          target_modules: ['q_proj'],
        },
        () => 3,
        () => 2,
        { 'model.layers.1.self_attn.q_proj': [32, 32] },
      ],
      [
        { exclude_modules: 'model.layers.0.self_attn.q_proj', target_modules: ['q_proj'] },
        () => 3,
        () => 2,
        { 'model.layers.1.self_attn.q_proj': [32, 32] },
      ],
      [{}, () => 3, () => 2, all, { type: 'BF16' }],
      [{}, () => 3, () => 2, all, { type: 'F16' }],
      [
        {
          base_model_name_or_path: null,
          init_lora_weights: 'gaussian',
          peft_version: '0.18.0',
          eva_config: { rho: 2 },
        },
        () => 3,
        () => 2,
      ],
    ]) {
      // prettier-ignore
      const pairs = pairsOf(modules, rankOf);
      const files = filesOf(pairs, config, options);
      if (options?.isPart) {
        expectThrows(() => from.withAdapters(files), 'LanguageModel.withAdapters', 'invalid_argument', 'has no pair of "model.layers.0.self_attn.k_proj"'); // prettier-ignore
        continue;
      }
      const model = from.withAdapters(files);
      expectFactors(model, from, pairs, factorOf);
      // The bytes of the file, and no prefix, as of AutoModel.
      const bytes = new TextEncoder().encode(JSON.stringify(files['adapter_config.json']));
      const again = from.withAdapters({ ...files, 'adapter_config.json': bytes });
      expectSame(again.forward([1, 2]).logits.data, model.forward([1, 2]).logits.data);
      for (const each of [model, again]) each.dispose();
    }
    const plain = Object.fromEntries(Object.entries(shapes()).map(([path, shape]) => [path.replace(/^model\./, ''), shape])); // prettier-ignore
    const pairs = pairsOf(plain);
    const outer = Object.fromEntries(Object.entries(pairs).map(([path, pair]) => [`model.${path}`, pair])); // prettier-ignore
    const targets = { target_modules: ['q_proj', 'v_proj'] };
    expectFactors(from.withAdapters(filesOf(pairs, targets)), from, outer, () => 2);
  });

  test('withAdapters: of a model of no family by the names of its arrays', () => {
    const own = { ...llama, family: '' };
    const from = create(engine, own, randomWeights(own, 5));
    const pairs = pairsOf({ 'layers.1.feedForward.w2': [32, llama.dFeedForward] });
    const model = from.withAdapters(filesOf(pairs));
    const name = 'layers.1.feedForward.w2';
    const delta = deltaOf(pairs[name], 2);
    const [was, is] = [arraysIn(from)[name], arraysIn(model)[name]];
    is.forEach((x, i) => assert.ok(Math.abs(x - was[i] - delta[i]) <= 1e-6));
  });

  test('withAdapters: in every format, rounded as the format does it', async () => {
    const whole = base();
    const pairs = pairsOf(shapes());
    const files = filesOf(pairs);
    const before = engine.memory().handles;
    for (const format of ['f16', 'bf16', 'int8', 'int4']) {
      const weights = new Blob([whole.save()]);
      const from = await load(engine, { weights }, { format });
      const model = from.withAdapters(files);
      assert.equal(model.format, format);
      assert.equal(model.bytes, from.bytes);
      // What the numbers are as float32, of which the format keeps what it can.
      const widen = (of) => load(engine, { weights: new Blob([of.save()]) }, { format: 'f32' });
      const [was, is] = [arraysIn(await widen(from)), arraysIn(await widen(model))];
      for (const [path, pair] of Object.entries(pairs)) {
        const [, layer, map] = /layers\.(\d)\.self_attn\.([qv])_proj/.exec(path);
        const name = `layers.${layer}.attention.w${map}`;
        const delta = deltaOf(pair, 2);
        const exact = Float64Array.from(was[name], (x, i) => x + delta[i]);
        is[name].forEach((x, i) => {
          const row = exact.subarray(32 * Math.floor(i / 32), 32 * Math.floor(i / 32) + 32);
          const span = Math.max(...row, 0) - Math.min(...row, 0);
          // Half a step, and the rounding of a scale to 11 bits.
          const bound = { f16: 2 ** -11 * Math.abs(exact[i]) + 2 ** -25, bf16: 2 ** -8 * Math.abs(exact[i]) + 2 ** -30, int8: sizeIn(row) * (0.5 / 127 + 2 ** -11), int4: span * (0.5 / 15 + 2 ** -9) }[format]; // prettier-ignore
          assert.ok(Math.abs(x - exact[i]) <= 1.001 * bound, `${format} ${name}[${i}]: ${x} for ${exact[i]}`); // prettier-ignore
        });
      }
      // All others stay as they are, bit for bit.
      for (const name of Object.keys(was).filter((each) => !/\.w[qv]$/.test(each)))
        expectSame(is[name], was[name]);
    }
    assert.ok(engine.memory().handles > before);
  });

  test('withAdapters: blocks of a file in Q4_K become int4 where adapters are added', async () => {
    const { weights, arrays } = blockFile(['Q4_K']);
    const from = await load(engine, { weights: new Blob([weights]) });
    assert.equal(from.format, 'q4_k');
    const path = 'model.layers.0.mlp.down_proj';
    const pairs = pairsOf({ [path]: [256, 256] });
    const model = from.withAdapters(filesOf(pairs));
    const widen = (of) => load(engine, { weights: new Blob([of.save()]) }, { format: 'f32' });
    const [was, is] = [arraysIn(await widen(from)), arraysIn(await widen(model))];
    const delta = deltaOf(pairs[path], 2);
    const [name, width] = ['layers.0.feedForward.w2', 256];
    // The numbers of a file by the definition of its blocks, [in, out].
    const exact = Float64Array.from(delta, (x, at) => x + arrays[name].data[(at % width) * width + Math.floor(at / width)]); // prettier-ignore
    is[name].forEach((x, at) => {
      const block = exact.subarray(32 * Math.floor(at / 32), 32 * Math.floor(at / 32) + 32);
      const [least, most] = [Math.min(...block, 0), Math.max(...block, 0)];
      const bound = (most - least) * (0.5 / 15 + 2 ** -9) + 2 ** -10 * -least;
      assert.ok(Math.abs(x - exact[at]) <= bound, `${at}: ${x} for ${exact[at]}`);
    });
    for (const other of Object.keys(was))
      if (other !== name) expectSame(is[other], was[other], other);
  });

  test('withAdapters: what is wrong is refused by its name, and nothing is kept', () => {
    const from = base();
    const pairs = pairsOf(shapes());
    const good = filesOf(pairs);
    const { handles } = engine.memory();
    const [invalid, unsupported, shape] = ['invalid_argument', 'unsupported', 'shape_mismatch'];
    const withConfig = (config) => filesOf(pairs, config);
    const only = (modules) => filesOf(pairsOf(modules));
    const half = { ...pairs };
    const path = 'model.layers.0.self_attn.q_proj';
    const arrays = (tensors, metadata) => ({
      'adapter_config.json': usual,
      'adapter_model.safetensors': safetensors(tensors, metadata),
    });
    const one = { shape: [3, 32], values: pairs[path].a };
    for (const [files, code, ...says] of [
      [undefined, invalid, 'adapters is undefined'],
      [{}, invalid, 'adapter_config.json is undefined'],
      [
        { ...good, 'adapter_config.json': Uint8Array.of(123) },
        invalid,
        'adapter_config.json cannot be read',
        'JSON',
      ],
      [{ ...good, 'adapter_model.safetensors': undefined }, invalid, 'bytes is undefined'],
      [{ ...good, 'adapter_model.bin': 1 }, invalid, 'adapter_model.safetensors'],
      [
        withConfig({ peft_type: 'IA3' }),
        unsupported,
        'adapter_config.json.peft_type is "IA3"',
        'LORA',
      ],
      [withConfig({ r: 0 }), invalid, 'adapter_config.json.r is 0'],
      [
        withConfig({ r: 4 }),
        shape,
        'lora_A.weight is [3,32], expected [4,32]',
        '"someone/something"',
      ],
      [withConfig({ rank_pattern: { q_proj: 4 } }), shape, 'q_proj.lora_A.weight is [3,32]'],
      [withConfig({ rank_pattern: { 'q.*': 4 } }), unsupported, 'rank_pattern has "q.*"'],
      [
        withConfig({ alpha_pattern: { q_proj: 0 } }),
        invalid,
        'q_proj is 0, expected a number above 0',
      ],
      [withConfig({ lora_alpha: -1 }), invalid, 'lora_alpha is -1'],
      [withConfig({ lora_alpha: 'x' }), invalid, 'lora_alpha is "x"'],
      [withConfig({ lora_dropout: 1 }), invalid, 'lora_dropout is 1'],
      [withConfig({ bias: 'all' }), unsupported, 'bias is "all"', 'none'],
      [withConfig({ use_dora: true }), unsupported, 'use_dora is true'],
      [withConfig({ use_qalora: true }), unsupported, 'use_qalora is true'],
      [withConfig({ lora_bias: true }), unsupported, 'lora_bias is true'],
      [withConfig({ modules_to_save: ['score'] }), unsupported, 'modules_to_save is'],
      [withConfig({ target_parameters: ['x'] }), unsupported, 'target_parameters is'],
      [withConfig({ trainable_token_indices: [1] }), unsupported, 'trainable_token_indices is'],
      [withConfig({ layer_replication: [[0, 1]] }), unsupported, 'layer_replication is'],
      [withConfig({ init_lora_weights: 'pissa' }), unsupported, 'init_lora_weights is "pissa"'],
      [withConfig({ loftq_config: { loftq_bits: 4 } }), unsupported, 'loftq_config is'],
      [withConfig({ something_new: 3 }), unsupported, 'something_new is 3'],
      [
        withConfig({ target_modules: ['q_proj'] }),
        invalid,
        'has a pair of "model.layers.0.self_attn.v_proj"',
      ],
      [
        withConfig({ target_modules: ['q_proj', 'k_proj', 'v_proj'] }),
        invalid,
        'has no pair of "model.layers.0.self_attn.k_proj"',
      ],
      [withConfig({ target_modules: [3] }), invalid, 'target_modules has 3'],
      [
        withConfig({ exclude_modules: ['v_proj'] }),
        invalid,
        'has a pair of "model.layers.0.self_attn.v_proj"',
      ],
      [withConfig({ layers_to_transform: [0] }), invalid, 'has a pair of "model.layers.1'],
      [
        only({ 'model.layers.0.self_attn.query': [32, 32] }),
        invalid,
        'the module "model.layers.0.self_attn.query"',
        '"layers.0.self_attn.q_proj"',
      ],
      [
        only({ [path]: [32, 32], 'layers.0.self_attn.q_proj': [32, 32] }),
        invalid,
        `has pairs of "${path}" and "layers.0.self_attn.q_proj"`,
      ],
      [only({ 'model.layers.7.self_attn.q_proj': [32, 32] }), invalid, 'model.layers.7'],
      [only({ [path]: [32, 16] }), shape, 'lora_A.weight is [3,16], expected [3,32]'],
      [only({ [path]: [16, 32] }), shape, 'lora_B.weight is [16,3], expected [32,3]'],
      [
        arrays({ [`base_model.model.${path}.lora_A.weight`]: one }),
        invalid,
        `has no "base_model.model.${path}.lora_B.weight"`,
      ],
      [
        arrays({ [`base_model.model.${path}.lora_embedding_A`]: one }),
        unsupported,
        'of an embedding',
      ],
      [
        arrays({ [`base_model.model.${path}.lora_magnitude_vector`]: one }),
        unsupported,
        'lora_magnitude_vector',
      ],
      [arrays({ [`${path}.lora_A.weight`]: one }), unsupported, 'base_model.model.'],
      [arrays({}), invalid, 'has no arrays'],
      [filesOf(pairs, {}, { metadata: { 'qkv.blocks': '3' } }), invalid, 'qkv.blocks'],
      [
        filesOf(half, {}, { metadata: { 'qkv.blocks': '{"self_attn.q_proj":["wk"]}' } }),
        invalid,
        'qkv.blocks of "self_attn.q_proj"',
      ],
      [
        filesOf(half, {}, { metadata: { 'qkv.blocks': '{"self_attn.q_proj":[]}' } }),
        invalid,
        'qkv.blocks of',
      ],
      [
        filesOf(half, {}, { metadata: { 'qkv.blocks': '{"self_attn.q_proj":["wq","wq"]}' } }),
        invalid,
        'qkv.blocks of',
      ],
    ]) {
      // prettier-ignore
      expectThrows(() => from.withAdapters(files), 'LanguageModel.withAdapters', code, ...says);
    }
    assert.equal(engine.memory().handles, handles);
    const i8 = { type: 'I8', shape: [3, 32], values: new Float32Array(96) };
    const bytes = arrays({
      [`base_model.model.${path}.lora_A.weight`]: i8,
      [`base_model.model.${path}.lora_B.weight`]: { shape: [32, 3], values: pairs[path].b },
    });
    expectThrows(() => from.withAdapters(bytes), 'LanguageModel.withAdapters', unsupported, 'is "I8"'); // prettier-ignore
    from.dispose();
    expectThrows(() => from.withAdapters(good), 'LanguageModel.withAdapters', 'disposed', 'the model is disposed'); // prettier-ignore
  });

  test('withAdapters: of a family whose factors only config.json has, out of a file of another kind', async () => {
    const { tensors, config } = families.granite();
    const model = await load(engine, { config, weights: new Blob([safetensors(tensors)]) });
    const files = filesOf(pairsOf({ 'model.layers.0.self_attn.q_proj': [64, 64] }));
    model.withAdapters(files).dispose();
    const saved = await load(engine, { weights: new Blob([model.save()]) });
    expectThrows(() => saved.withAdapters(files), 'LanguageModel.withAdapters', 'unsupported', 'granite', 'files of the hub'); // prettier-ignore
  });
});
