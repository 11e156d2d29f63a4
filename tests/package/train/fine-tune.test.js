// @build each
// languageModel.from(): trainers that begin with a model of qkv/models, of all weights or of adapters.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { create, load } from 'qkv/models';
import { init } from 'qkv/train';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { slopeAlong } from '../../support/js/trainers.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';

const engine = await init();
after(() => engine.dispose());

const llama = { ...kinds.llama, dModel: 32 };
const ids = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3];
const batch = { ids, targets: [...ids.slice(1), -1], batch: 1 };
const all = ['wq', 'wk', 'wv', 'wo', 'w1', 'wGate', 'w2'];

/** A model in a format. */
async function modelOf(format = 'f32', config = llama) {
  const plain = create(engine, config, randomWeights(config, 5));
  if (format === 'f32') return plain;
  const weights = new Blob([plain.save()]);
  plain.dispose();
  return load(engine, { weights }, { format });
}

/** Logits of the same weights in another order of arithmetic; `size` is that of the largest. */
const expectNear = (found, expected, size = Math.max(...expected.map(Math.abs))) =>
  expectClose(found, expected, 1e-5 * size, { what: 'logit' });

/** Kinds whose logits, gates or heads are not those of the models above. */
const further = {
  ...{ gemma2: kinds.gemma2, nemotron: kinds.nemotron },
  'masked bert': {
    ...{ ...kinds.bert, head: true, tiedEmbeddings: true, headBias: true },
    ...{ headTransform: 'gelu', headNorm: true },
  },
};

describe('languageModel.from', () => {
  test('languageModel.from: all weights, as the model has them', async () => {
    for (const format of ['f32', 'int8']) {
      const model = await modelOf(format);
      const trainer = engine.languageModel.from(model, { learningRate: 1e-3 });
      assert.equal(trainer.parameterCount, model.parameterCount);
      // An int8 model rounds the rows that it multiplies, too; the trainer has the float32 of the same weights.
      const exact = await load(engine, { weights: new Blob([model.save()]) }, { format: 'f32' });
      const { data } = trainer.model.forward(ids).logits;
      expectNear(data, exact.forward(ids).logits.data);
      if (format === 'f32') expectNear(data, model.forward(ids).logits.data);
      exact.dispose();
      model.dispose(); // the trainer has copies
      const { loss } = trainer.evaluate(batch);
      for (let step = 0; step < 10; step += 1) trainer.step(batch);
      assert.ok(trainer.evaluate(batch).loss < loss);
      // Its file is a model of qkv/models.
      const tuned = await load(engine, { weights: new Blob([trainer.save()]) }, { format: 'f32' });
      expectNear(tuned.forward(ids).logits.data, trainer.model.forward(ids).logits.data);
      tuned.dispose();
      trainer.dispose();
    }
  });

  for (const format of ['f32', 'bf16', 'f16', 'int8', 'int4']) {
    test(`languageModel.from: adapters learn over ${format}, and the model stays as it is`, async () => {
      const model = await modelOf(format);
      const before = model.forward(ids).logits.data;
      const options = { lora: { rank: 4, maps: all }, learningRate: 1e-2, seed: 3 };
      const trainer = engine.languageModel.from(model, options);
      const { names, value } = trainer.parameters();
      assert.deepEqual(names.slice(0, 3), ['wq.loraA', 'wq.loraB', 'wk.loraA'].map((name) => `layers.0.attention.${name}`)); // prettier-ignore
      assert.equal(names.length, 2 * 2 * all.length);
      assert.ok(value('layers.1.feedForward.w2.loraB').data.every((x) => x === 0));
      if (format === 'f32') expectSame(trainer.model.forward(ids).logits.data, before);
      const { loss } = trainer.evaluate(batch);
      for (let step = 0; step < 30; step += 1) trainer.step(batch);
      assert.ok(trainer.evaluate(batch).loss < 0.5 * loss, `${loss}`);
      expectSame(model.forward(ids).logits.data, before);
      trainer.dispose();
      model.dispose();
    });
  }

  test('languageModel.from: the gradient of adapters is the slope of the loss', async () => {
    const model = await modelOf('int8');
    const trainer = engine.languageModel.from(model, { lora: { rank: 2, maps: all }, deviation: 0.1 }); // prettier-ignore
    const { names, value, gradient, set } = trainer.parameters();
    for (const name of names.filter((each) => each.endsWith('B'))) {
      const start = value(name);
      set(name, { ...start, data: start.data.map((_, i) => 0.05 * Math.sin(i + 1)) });
    }
    trainer.differentiate(batch);
    for (const name of names) {
      const start = value(name);
      const slope = gradient(name).data;
      const way = Float32Array.from(start.data, (_, i) => Math.cos(3 * i + 1));
      const expected = slope.reduce((sum, g, i) => sum + g * way[i], 0);
      const h = 2 ** -7 / Math.hypot(...way);
      const found = slopeAlong(trainer, batch, name, way, h);
      // Losses of about 4 are off by some 2^-21, and a central difference by h^2 of a third derivative.
      const allowed = 2 ** -19 / h + 0.03 * Math.abs(expected) + 1e-4;
      assert.ok(Math.abs(found - expected) <= allowed, `${name}: ${found} for ${expected}`);
    }
  });

  for (const [name, config] of Object.entries(further)) {
    test(`languageModel.from: ${name} learns on, and its file is that model`, async () => {
      const model = await modelOf('f32', config);
      const before = model.forward(ids).logits.data;
      const size = Math.max(...before.map(Math.abs));
      const lora = { rank: 4, maps: ['wq', 'wo', 'w2'] };
      for (const options of [{ learningRate: 3e-3 }, { learningRate: 1e-2, lora }]) {
        const trainer = engine.languageModel.from(model, options);
        expectSame(trainer.model.forward(ids).logits.data, before);
        const { loss } = trainer.evaluate(batch);
        for (let step = 0; step < 20; step += 1) trainer.step(batch);
        assert.ok(trainer.evaluate(batch).loss < 0.9 * loss);
        const file = trainer.save({ merged: options.lora !== undefined });
        const tuned = await load(engine, { weights: new Blob([file]) }, { format: 'f32' });
        for (const field of ['logitSoftcap', 'headTransform', 'headNorm', 'activation'])
          assert.equal(tuned.config[field], model.config[field]);
        const own = trainer.model.forward(ids).logits.data;
        expectNear(tuned.forward(ids).logits.data, own, size);
        tuned.dispose();
        trainer.dispose();
      }
      model.dispose();
    });
  }

  test('languageModel.from: a file with adapters added is a model of qkv/models', async () => {
    const model = await modelOf('int8');
    const trainer = engine.languageModel.from(model, { lora: { maps: all }, learningRate: 1e-2 });
    for (let step = 0; step < 5; step += 1) trainer.step(batch);
    const own = trainer.model.forward(ids).logits.data;
    const size = Math.max(...own.map(Math.abs));
    for (const [format, near] of [
      ['f32', 1e-5],
      ['bf16', 0.05],
    ]) {
      const weights = new Blob([trainer.save({ merged: true, format })]);
      const tuned = await load(engine, { weights }, { format: 'f32' });
      tuned.forward(ids).logits.data.forEach((x, i) => assert.ok(Math.abs(x - own[i]) <= near * size, `${format} ${i}: ${x}`)); // prettier-ignore
      tuned.dispose();
    }
    const refused = (options) => expectThrows(() => trainer.save(options), 'Trainer.save', 'invalid_argument', 'merged is'); // prettier-ignore
    refused({ merged: true, optimizer: true });
    refused({ merged: 1 });
    const whole = engine.languageModel.from(model);
    expectThrows(() => whole.save({ merged: true }), 'Trainer.save', 'invalid_argument', 'of adapters alone'); // prettier-ignore
  });

  test('languageModel.from: a file of adapters and the optimizer resumes bit for bit', async () => {
    const model = await modelOf('int8');
    const options = { lora: { rank: 2, alpha: 8, dropout: 0.1 }, learningRate: 1e-2 };
    const first = engine.languageModel.from(model, options);
    for (let step = 0; step < 3; step += 1) first.step(batch);
    const second = engine.languageModel.from(model, { ...options, seed: 0 });
    second.load(first.save({ optimizer: true }));
    assert.equal(second.steps, 3);
    assert.equal(first.step(batch).loss, second.step(batch).loss);
    assert.deepEqual(first.save(), second.save());
    const other = engine.languageModel.from(model, { lora: { rank: 2, alpha: 4 } });
    expectThrows(() => other.load(first.save()), 'Trainer.load', 'invalid_argument', 'alpha');
    const whole = engine.languageModel.from(model);
    expectThrows(() => whole.load(first.save()), 'Trainer.load', 'invalid_argument', 'language_model_adapters'); // prettier-ignore
  });

  test('languageModel.from: what is wrong is refused by its name', async () => {
    const model = await modelOf();
    const from = (...args) => engine.languageModel.from(...args);
    const gone = await modelOf();
    gone.dispose();
    const foreign = await init({ shared: false });
    const cases = [
      [[undefined], 'invalid_argument', 'model is undefined'],
      [[{}], 'invalid_argument', 'qkv/models made'],
      [[gone], 'disposed', 'the model is disposed'],
      [[model, { lora: 3 }], 'invalid_argument', 'lora is 3'],
      [[model, { lora: { rnak: 3 } }], 'invalid_argument', "'rnak', expected rank"],
      [[model, { lora: { rank: 0 } }], 'out_of_range', 'lora.rank is 0'],
      [[model, { lora: { alpha: 0 } }], 'out_of_range', 'lora.alpha is 0'],
      [[model, { lora: { alpha: 'x' } }], 'invalid_argument', 'lora.alpha is "x"'],
      [[model, { lora: { dropout: 1 } }], 'out_of_range', 'lora.dropout is 1'],
      [[model, { lora: { maps: [] } }], 'invalid_argument', 'lora.maps'],
      [[model, { lora: { maps: 'wq' } }], 'invalid_argument', 'lora.maps is "wq"'],
      [[model, { lora: { maps: ['wx'] } }], 'invalid_argument', 'lora.maps[0] is "wx"'],
      [[model, { lora: { maps: ['wq', 'wq'] } }], 'invalid_argument', 'maps[1] is kWq'],
      [[model, { learningRat: 1 }], 'invalid_argument', "'learningRate'"],
      [[model, { dropout: 1 }], 'out_of_range', 'dropout is 1'],
    ];
    for (const [args, code, text] of cases) {
      expectThrows(() => from(...args), 'languageModel.from', code, text);
    }
    const elsewhere = create(foreign, llama, randomWeights(llama, 5));
    expectThrows(() => from(elsewhere), 'languageModel.from', 'invalid_argument', 'another engine');
    foreign.dispose();
    const gpt2 = await modelOf('f32', kinds.gpt2);
    expectThrows(() => from(gpt2, { lora: { maps: ['wGate'] } }), 'languageModel.from', 'unsupported', 'kWGate'); // prettier-ignore
    const experts = await modelOf('f32', kinds.experts);
    expectThrows(() => from(experts), 'languageModel.from', 'unsupported', 'numExperts');
    // A trainer of adapters needs its model.
    const trainer = from(model, { lora: {} });
    model.dispose();
    expectThrows(() => trainer.step(batch), 'Trainer.step', 'disposed', 'the model is disposed');
    expectThrows(() => trainer.model.forward(ids), 'TrainedModel.forward', 'disposed', 'disposed');
    trainer.dispose();
  });
});
