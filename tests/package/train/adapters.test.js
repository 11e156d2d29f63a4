// @build any
// Adapters of trainers as files of PEFT: saveAdapters(), and languageModel.from(model, { lora: { adapters } }).
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { create, load } from 'qkv/models';
import { init } from 'qkv/train';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { kinds, sizeIn } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { partsOf } from '../../support/js/safetensors.js';
import { families } from '../models/support/families.js';
import { safetensors } from '../models/support/files.js';
import { deltaOf, filesOf, pairsOf } from '../models/support/peft.js';

const engine = await init();
after(() => engine.dispose());

const ids = [3, 1, 4, 1, 5, 9, 2, 6];
const batch = { ids, targets: [...ids.slice(1), -1], batch: 1 };
const all = ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'];
const llama = { ...kinds.llama, family: 'llama', dModel: 32, numLayers: 2 };

const bert = { ...kinds.bert, family: 'bert', head: true, tiedEmbeddings: true };

const modelOf = (config = llama) => create(engine, config, randomWeights(config, 5));
/** A model out of the files of a family. */
function ofFamily(name) {
  const { tensors, config } = families[name]();
  return load(engine, { config, weights: new Blob([safetensors(tensors)]) });
}
const parsed = (files) => JSON.parse(new TextDecoder().decode(files['adapter_config.json']));
const headerOf = (files) => partsOf(files['adapter_model.safetensors']).header;
const arraysOf = (trainer) => {
  const { names, value } = trainer.parameters();
  return Object.fromEntries(names.map((name) => [name, value(name)]));
};
/** A trainer of adapters after some steps. */
function trained(model, lora, steps = 3) {
  const trainer = engine.languageModel.from(model, { lora, learningRate: 1e-2, seed: 3 });
  for (let step = 0; step < steps; step += 1) trainer.step(batch);
  return trainer;
}
/** The numbers of an array of a safetensors file. */
function numbersIn(file, name) {
  const { header, data } = partsOf(file);
  const [from, to] = header[name].data_offsets;
  return new Float32Array(data.slice(from, to).buffer);
}

describe('Trainer.saveAdapters', () => {
  test('Trainer.saveAdapters: names, shapes and fields are those of PEFT', () => {
    const trainer = trained(modelOf(), { rank: 4, alpha: 10, maps: ['wq', 'w2'], dropout: 0.25 });
    const files = trainer.saveAdapters({ base: 'someone/llama' });
    const { __metadata__: metadata, ...header } = headerOf(files);
    assert.deepEqual(metadata, { format: 'pt' });
    const shapes = Object.fromEntries(
      Object.entries(header).map(([name, { dtype, shape }]) => [name, [dtype, ...shape]]),
    );
    const width = llama.dFeedForward;
    const expected = [0, 1].flatMap((n) => {
      const at = `base_model.model.model.layers.${n}`;
      return [
        [`${at}.self_attn.q_proj.lora_A.weight`, ['F32', 4, 32]],
        [`${at}.self_attn.q_proj.lora_B.weight`, ['F32', 32, 4]],
        [`${at}.mlp.down_proj.lora_A.weight`, ['F32', 4, width]],
        [`${at}.mlp.down_proj.lora_B.weight`, ['F32', 32, 4]],
      ];
    });
    assert.deepEqual(shapes, Object.fromEntries(expected));
    const { data } = arraysOf(trainer)['layers.1.feedForward.w2.loraA'];
    const a = numbersIn(files['adapter_model.safetensors'], 'base_model.model.model.layers.1.mlp.down_proj.lora_A.weight'); // prettier-ignore
    for (let r = 0; r < 4; r += 1)
      for (let i = 0; i < width; i += 1) assert.equal(a[r * width + i], data[i * 4 + r]);
    const config = parsed(files);
    for (const [name, value] of Object.entries({
      ...{ peft_type: 'LORA', task_type: 'CAUSAL_LM', base_model_name_or_path: 'someone/llama' },
      ...{ r: 4, lora_alpha: 10, lora_dropout: 0.25, bias: 'none', fan_in_fan_out: false },
      ...{ target_modules: ['self_attn.q_proj', 'mlp.down_proj'], use_rslora: false },
      ...{ rank_pattern: {}, alpha_pattern: {}, modules_to_save: null },
    })) {
      assert.deepEqual(config[name], value, name);
    }
    assert.equal(parsed(trainer.saveAdapters()).base_model_name_or_path, null);
  });

  for (const [name, maps] of [
    ['llama', all],
    ['gpt2', ['wq', 'wk', 'wv', 'wo', 'w1', 'w2']],
    ['gpt_neox', ['wq', 'wk', 'wv', 'wo', 'w1', 'w2']],
    ['bloom', ['wk', 'w1']],
    ['phi3', all],
    ['bert', ['wq', 'wv', 'w2']],
  ]) {
    test(`Trainer.saveAdapters: of ${name}, there and back without a bit lost`, async () => {
      // Of BERT with a head that is its embedding, as trainers have them.
      const model = name === 'bert' ? modelOf(bert) : await ofFamily(name);
      const trainer = engine.languageModel.from(model, { lora: { rank: 2, alpha: 3, maps }, learningRate: 1e-2 }); // prettier-ignore
      for (let step = 0; step < 3; step += 1) trainer.step(batch);
      const files = trainer.saveAdapters();
      const again = engine.languageModel.from(model, { lora: { adapters: files } });
      assert.deepEqual(arraysOf(again), arraysOf(trainer));
      assert.deepEqual(again.saveAdapters(), files);
      expectSame(again.model.forward(ids).logits.data, trainer.model.forward(ids).logits.data);
      // What withAdapters() of the model makes is what the trainer's merged file has.
      const tuned = model.withAdapters(files).save();
      const merged = (await load(engine, { weights: new Blob([trainer.save({ merged: true })]) })).save(); // prettier-ignore
      for (const array of Object.keys(headerOf({ 'adapter_model.safetensors': tuned })))
        if (array !== '__metadata__') expectSame(numbersIn(tuned, array), numbersIn(merged, array));
    });
  }

  test('Trainer.saveAdapters: maps that PEFT has as one are one pair of the rank of all', async () => {
    const model = await ofFamily('gpt2');
    const trainer = trained(model, { rank: 2, alpha: 5, maps: ['wq', 'wv', 'w1'] });
    const files = trainer.saveAdapters();
    const config = parsed(files);
    assert.equal(config.fan_in_fan_out, true);
    assert.deepEqual(config.target_modules, ['attn.c_attn', 'mlp.c_fc']);
    assert.deepEqual(config.rank_pattern, { 'attn.c_attn': 4 });
    assert.deepEqual(config.alpha_pattern, { 'attn.c_attn': 10 });
    const header = headerOf(files);
    assert.deepEqual(JSON.parse(header.__metadata__['qkv.blocks']), {
      'attn.c_attn': ['wq', 'wv'],
    });
    const at = 'base_model.model.transformer.h.0.attn.c_attn';
    assert.deepEqual(header[`${at}.lora_A.weight`].shape, [4, 64]);
    assert.deepEqual(header[`${at}.lora_B.weight`].shape, [192, 4]);
    // Without that word it is an adapter as any of PEFT: the same sums, of rank 4.
    const tensors = Object.fromEntries(
      Object.entries(header).filter(([name]) => name !== '__metadata__').map(([name, { shape }]) => [
        name,
        { shape, values: numbersIn(files['adapter_model.safetensors'], name) },
      ]),
    ); // prettier-ignore
    const plain = { ...files, 'adapter_model.safetensors': safetensors(tensors, { format: 'pt' }) };
    const [one, other] = [files, plain].map((each) => model.withAdapters(each).forward(ids).logits.data); // prettier-ignore
    one.forEach((x, i) => assert.ok(Math.abs(x - other[i]) <= 1e-5 * sizeIn(one)));
    expectThrows(() => engine.languageModel.from(model, { lora: { adapters: plain } }), 'languageModel.from', 'unsupported', 'rank 4 and alpha 10', '2 and 5'); // prettier-ignore
    // Numbers where a map has none would be lost.
    const b = tensors[`${at}.lora_B.weight`];
    b.values[64 * 4] = 1;
    const broken = safetensors(tensors, header.__metadata__);
    expectThrows(() => model.withAdapters({ ...files, 'adapter_model.safetensors': broken }), 'LanguageModel.withAdapters', 'invalid_argument', 'has other numbers than in its qkv.blocks'); // prettier-ignore
  });

  test('Trainer.saveAdapters: is refused by what has none', async () => {
    const model = modelOf();
    const whole = engine.languageModel.from(model);
    const of = (trainer, options) => () => trainer.saveAdapters(options);
    const fn = 'Trainer.saveAdapters';
    expectThrows(of(whole), fn, 'invalid_argument', 'trains whole weights');
    const pair = engine.seq2seq({ kind: 'gru', vocabulary: 4, dModel: 8, maxLength: 4 });
    expectThrows(of(pair), fn, 'invalid_argument', 'trains whole weights');
    const trainer = engine.languageModel.from(model, { lora: {} });
    expectThrows(of(trainer, { base: 3 }), fn, 'invalid_argument', 'base is 3');
    expectThrows(of(trainer, { bas: 'x' }), fn, 'invalid_argument', "'base'");
    trainer.dispose();
    expectThrows(of(trainer), fn, 'disposed', 'the trainer is disposed');
    const other = engine.languageModel.from(model, { lora: {} });
    model.dispose();
    expectThrows(of(other), fn, 'disposed', 'the model is disposed');
  });
});

describe('languageModel.from: adapters', () => {
  const shapes = (layers = [0, 1], more = []) =>
    Object.fromEntries(
      layers.flatMap((n) =>
        ['q_proj', 'o_proj', ...more].map((map) => [
          `model.layers.${n}.self_attn.${map}`,
          [32, 32],
        ]),
      ),
    );

  test('languageModel.from: a file of PEFT, learnt on', () => {
    const model = modelOf();
    const pairs = pairsOf(shapes());
    const config = { lora_dropout: 0.5, use_rslora: true, lora_alpha: 2 };
    const files = filesOf(pairs, config);
    const trainer = engine.languageModel.from(model, { lora: { adapters: files } });
    const { data, shape } = trainer.parameters().value('layers.1.attention.wo.loraB');
    assert.deepEqual(shape, [3, 32]);
    const { b } = pairs['model.layers.1.self_attn.o_proj'];
    for (let r = 0; r < 3; r += 1)
      for (let j = 0; j < 32; j += 1) assert.equal(data[r * 32 + j], b[j * 3 + r]);
    // W + alpha / sqrt(r) B A, in float64.
    const merged = trainer.save({ merged: true });
    const was = engine.languageModel.from(model).save();
    for (const [path, name] of [
      ['model.layers.0.self_attn.q_proj', 'layers.0.attention.wq'],
      ['model.layers.1.self_attn.o_proj', 'layers.1.attention.wo'],
    ]) {
      // prettier-ignore
      const delta = deltaOf(pairs[path], 2 / Math.sqrt(3));
      const [w, sum] = [numbersIn(was, name), numbersIn(merged, name)];
      // Maps of trainers are [in, out].
      const bound = 2 ** -22 * (sizeIn(w) + sizeIn(delta));
      sum.forEach((x, at) => {
        const [i, j] = [Math.floor(at / 32), at % 32];
        assert.ok(Math.abs(x - w[at] - delta[j * 32 + i]) <= bound, `${name}[${at}]`);
      });
    }
    const { r, lora_alpha, lora_dropout, use_rslora, base_model_name_or_path } = parsed(trainer.saveAdapters()); // prettier-ignore
    assert.deepEqual([r, lora_dropout, use_rslora, base_model_name_or_path], [3, 0.5, false, 'someone/something']); // prettier-ignore
    assert.ok(Math.abs(lora_alpha - 2 * Math.sqrt(3)) < 1e-15);
    assert.equal(parsed(engine.languageModel.from(model, { lora: { adapters: files, dropout: 0 } }).saveAdapters()).lora_dropout, 0); // prettier-ignore
    const { loss } = trainer.evaluate(batch);
    for (let step = 0; step < 10; step += 1) trainer.step(batch);
    assert.ok(trainer.evaluate(batch).loss < loss);
  });

  test('languageModel.from: one A of PEFT for q, k and v is the A of each', async () => {
    const model = await ofFamily('gpt_neox');
    const paths = [0, 1].map((n) => `gpt_neox.layers.${n}.attention.query_key_value`);
    const pairs = pairsOf(Object.fromEntries(paths.map((path) => [path, [192, 64]])));
    const files = filesOf(pairs);
    const trainer = engine.languageModel.from(model, { lora: { adapters: files } });
    const { 'layers.0.attention.wq.loraA': q, 'layers.0.attention.wv.loraA': v, 'layers.0.attention.wk.loraB': k } = arraysOf(trainer); // prettier-ignore
    assert.deepEqual(q, v);
    // Each of four heads has 16 rows of q, of k and of v in turn.
    const { b } = pairs[paths[0]];
    const row = (j) => 48 * Math.floor(j / 16) + 16 + (j % 16);
    k.data.forEach((x, at) => assert.equal(x, b[row(at % 64) * 3 + Math.floor(at / 64)], `${at}`));
    // As long as they are the same they are written so.
    const written = trainer.saveAdapters();
    for (const path of paths)
      for (const half of ['A', 'B']) {
        const name = `base_model.model.${path}.lora_${half}.weight`;
        expectSame(numbersIn(written['adapter_model.safetensors'], name), numbersIn(files['adapter_model.safetensors'], name)); // prettier-ignore
      }
    assert.deepEqual(headerOf(written).__metadata__, { format: 'pt' });
    assert.deepEqual(parsed(written).rank_pattern, {});
    trainer.step(batch);
    assert.deepEqual(parsed(trainer.saveAdapters()).rank_pattern, {
      'attention.query_key_value': 9,
    });
  });

  test('languageModel.from: what a trainer cannot train is refused by its name, and what is wrong too', () => {
    const model = modelOf();
    const { handles } = engine.memory();
    const pairs = pairsOf(shapes());
    const files = filesOf(pairs);
    const [invalid, unsupported] = ['invalid_argument', 'unsupported'];
    for (const [lora, code, ...says] of [
      [{ adapters: files, rank: 3 }, invalid, 'lora.rank is 3 beside lora.adapters'],
      [{ adapters: files, alpha: 3 }, invalid, 'lora.alpha is 3 beside lora.adapters'],
      [{ adapters: files, maps: ['wq'] }, invalid, 'lora.maps is an array beside lora.adapters'],
      [{ adapters: files, dropout: 1 }, 'out_of_range', 'lora.dropout is 1'],
      [{ adapters: null }, invalid, 'adapters is null'],
      [{ adapters: {} }, invalid, 'adapter_config.json is undefined'],
      [{ adapters: filesOf(pairs, { use_dora: true }) }, unsupported, 'use_dora is true'],
      [
        { adapters: filesOf(pairsOf(shapes([1]))) },
        unsupported,
        'have none for layers.0.attention.wq',
      ],
      [
        { adapters: filesOf(pairs, { alpha_pattern: { q_proj: 5 } }) },
        unsupported,
        'rank 3 and alpha 5',
        '3 and 6',
      ],
      [
        { adapters: filesOf(pairsOf({ lm_head: [llama.vocabulary, 32] })) },
        unsupported,
        'have head',
      ],
      [
        { adapters: filesOf(pairsOf({ 'model.layers.0.x': [32, 32] })) },
        invalid,
        'the module "model.layers.0.x"',
      ],
    ]) {
      // prettier-ignore
      const call = () => engine.languageModel.from(model, { lora });
      expectThrows(call, 'languageModel.from', code, ...says);
    }
    assert.equal(engine.memory().handles, handles);
  });
});
