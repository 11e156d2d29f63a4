// @build each
// Trainers: steps, arrays, live models, what they refuse, and that a refusal changes nothing.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { load } from 'qkv/models';
import { init } from 'qkv/train';
import { random } from '../../support/js/arrays.js';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { slopeAlong } from '../../support/js/trainers.js';
import { boundOf, kinds, sizeIn } from '../../support/js/model-kinds.js';
import { logProbabilities, modelForward } from '../../support/js/model-oracle.js';

const engine = await init();
after(() => engine.dispose());

const config = {
  vocabulary: 12,
  numLayers: 2,
  dModel: 16,
  numHeads: 2,
  dFeedForward: 24,
  maxLength: 12,
};

/** Rows in which each token follows from the one before; every target is the next token. */
function chains(batch, length, seed) {
  const next = random(seed);
  const follows = (token) => (5 * token + 3) % config.vocabulary;
  const ids = [];
  for (let b = 0; b < batch; ++b) {
    let token = Math.min(11, Math.floor(6 * (next() + 1)));
    for (let t = 0; t < length; ++t, token = follows(token)) ids.push(token);
  }
  return { ids, targets: ids.map(follows), batch };
}

const sumOf = (values) => values.reduce((a, b) => a + b, 0);
/** The bytes of everything that a step changes. */
const stateOf = (trainer) => trainer.save({ optimizer: true });

describe('languageModel', () => {
  test('languageModel: it learns, and says so', () => {
    const trainer = engine.languageModel(config, { learningRate: 1e-2, seed: 3 });
    const before = trainer.evaluate(chains(8, 12, 99));
    // A model that knows nothing gives every token the same probability.
    assert.ok(Math.abs(before.loss - Math.log(config.vocabulary)) < 0.05, `${before.loss}`);
    for (let i = 0; i < 60; ++i) {
      const result = trainer.step(chains(8, 12, i));
      assert.deepEqual(Object.keys(result), [
        'loss',
        'accuracy',
        'gradientNorm',
        'learningRate',
        'step',
      ]);
      assert.equal(result.step, i + 1);
    }
    const after = trainer.evaluate(chains(8, 12, 99));
    assert.ok(
      after.loss < 0.2 * before.loss && after.accuracy === 1,
      `${before.loss} -> ${after.loss}`,
    );
    assert.equal(trainer.steps, 60);
    trainer.dispose();
  });

  test('languageModel: options have the defaults that are documented', () => {
    const made = (given) => {
      // Scores do not depend on the biases of keys, whose gradients are so small that their steps depend on epsilon.
      const trainer = engine.languageModel({ ...config, biases: true }, given);
      for (let step = 0; step < 2; ++step) trainer.step(chains(3, 7, step));
      const state = stateOf(trainer);
      trainer.dispose();
      return state;
    };
    const defaults = {
      ...{ seed: 0, learningRate: 1e-3, betas: [0.9, 0.999], epsilon: 1e-8 },
      ...{ weightDecay: 0.01, clipNorm: 1, dropout: 0, deviation: 0.02 },
    };
    const expected = made({});
    assert.deepEqual(made(defaults), expected);
    const others = {
      ...{ seed: 1, learningRate: 1.01e-3, betas: [0.901, 0.999], epsilon: 1.01e-8 },
      ...{ weightDecay: 0.011, clipNorm: 0.99, dropout: 0.01, deviation: 0.0201 },
    };
    for (const [name, other] of Object.entries(others)) {
      assert.notDeepEqual(made({ [name]: other }), expected, name);
    }
  });

  test('languageModel: the gradient is the slope of the loss', () => {
    const trainer = engine.languageModel(config, { seed: 4, deviation: 0.2 });
    const batch = chains(3, 7, 5);
    trainer.differentiate(batch);
    const { names, value, gradient } = trainer.parameters();
    const next = random(6);
    for (const name of names) {
      const start = value(name);
      const slope = gradient(name).data;
      const way = Float32Array.from(start.data, () => next());
      const expected = sumOf(Array.from(slope, (g, i) => g * way[i]));
      const h = 2 ** -7 / Math.hypot(...way);
      const found = slopeAlong(trainer, batch, name, way, h);
      // Losses of about 3 are off by some 2^-22, and a central difference by h^2 of a third derivative.
      const allowed = 2 ** -20 / h + 0.02 * Math.abs(expected) + 1e-4;
      assert.ok(Math.abs(found - expected) <= allowed, `${name}: ${found} for ${expected}`);
    }
    trainer.dispose();
  });

  for (const name of [
    'qwen2',
    'bert',
    'olmo2',
    'smollm3',
    'phi',
    'phi 3',
    'llama 3.1',
    'hunyuan',
  ]) {
    test(`languageModel: a ${name} is trained, and its file is the same model in qkv/models`, async () => {
      // A head, for a loss, and the window of each layer.
      const own = { ...kinds[name], head: true, window: [3, null] };
      const trainer = engine.languageModel(own, { learningRate: 1e-2, deviation: 0.2 });
      const batch = chains(4, 9, 1);
      batch.tokenTypes = own.tokenTypes ? batch.ids.map((id) => id % 2) : undefined;
      const { loss } = trainer.evaluate(batch);
      for (let step = 0; step < 20; step += 1) trainer.step(batch);
      assert.ok(trainer.evaluate(batch).loss < 0.7 * loss, `${loss}`);
      const { tokenTypes } = batch;
      const { data } = trainer.model.forward(batch.ids, { batch: 4, tokenTypes }).logits;
      for (const format of ['f32', 'int8']) {
        const weights = new Blob([trainer.save({ format })]);
        const model = await load(engine, { weights }, { format: 'f32' });
        const said = model.forward(batch.ids, { batch: 4, tokenTypes }).logits.data;
        // Weights of 8 bits are off by up to 1/254 of the largest of 32.
        const size = Math.max(...data.map(Math.abs));
        const allowed = (format === 'f32' ? 1e-5 : 0.1) * size;
        said.forEach((x, i) => assert.ok(Math.abs(x - data[i]) <= allowed, `${format} ${i}: ${x} for ${data[i]}`)); // prettier-ignore
        model.dispose();
      }
      trainer.dispose();
    });
  }

  test('languageModel: batches that are accumulated are one batch', () => {
    const [whole, parts] = [1, 2].map(() => engine.languageModel(config, { deviation: 0.2 }));
    const { ids, targets } = chains(4, 6, 1);
    const part = (begin, end) => ({ ids: ids.slice(6 * begin, 6 * end), targets: targets.slice(6 * begin, 6 * end), batch: end - begin }); // prettier-ignore
    const expected = whole.step({ ids, targets, batch: 4 });
    const first = parts.accumulate(part(0, 1));
    assert.deepEqual(Object.keys(first), ['loss', 'accuracy']);
    const found = parts.step(part(1, 4));
    assert.equal(found.step, 1);
    for (const name of ['loss', 'accuracy', 'gradientNorm']) {
      // Sums of the same terms in another order.
      assert.ok(Math.abs(found[name] - expected[name]) < 1e-5, `${name}: ${found[name]} for ${expected[name]}`); // prettier-ignore
    }
    expectThrows(() => parts.accumulate({ ids: [1], targets: [-1], batch: 1 }), 'Trainer.accumulate', 'out_of_range', 'targets are all -1'); // prettier-ignore
  });

  test('languageModel: types of tokens are refused where there are none, and where they are none', () => {
    const plain = engine.languageModel(config);
    const typed = engine.languageModel({ ...config, tokenTypes: 2 });
    const batch = chains(2, 3, 1);
    const cases = [
      [plain, [0, 0, 0, 0, 0, 0], 'invalid_argument', 'tokenTypes is given'],
      [typed, [0, 0, 0, 0, 0, 2], 'out_of_range', 'tokenTypes[5] is 2'],
      [typed, [0], 'shape_mismatch', 'tokenTypes has 1 element'],
    ];
    for (const [trainer, tokenTypes, code, text] of cases) {
      expectThrows(() => trainer.step({ ...batch, tokenTypes }), 'Trainer.step', code, text);
      expectThrows(() => trainer.model.forward(batch.ids, { batch: 2, tokenTypes }), 'TrainedModel.forward', code, text); // prettier-ignore
    }
  });

  test('languageModel: the live model tells what the formulas give', () => {
    const own = { ...config, numHeads: 4, numKvHeads: 2 };
    const trainer = engine.languageModel(own, { deviation: 0.3 });
    const { model } = trainer;
    const { names, value } = trainer.parameters();
    const { ids } = chains(2, 9, 1);
    const asked = { weights: true, entropy: true, residuals: true, projections: true };
    const { logits, layers } = model.forward(ids, { batch: 2, inspect: asked });
    const parameters = Object.fromEntries(names.map((name) => [name, value(name)]));
    const exact = modelForward(own, parameters, ids, { batch: 2 });
    const expectNear = (actual, expected, what) =>
      expectClose(actual, expected, boundOf(own, sizeIn(expected), 9), { what });
    expectNear(logits.data, exact.logits, 'logit');
    assert.deepEqual(logits.shape, [2, 9, 12]);
    assert.deepEqual([...layers.keys()], [0, 1]);
    for (const [layer, readings] of layers) {
      for (const [name, { data }] of Object.entries(readings))
        expectNear(data, exact.layers[layer][name], `${name} of layer ${layer}`);
    }
    const { weights, q, k } = layers.get(1);
    assert.deepEqual([weights.shape, q.shape, k.shape], [[2, 4, 9, 9], [2, 4, 9, 4], [2, 2, 9, 4]]); // prettier-ignore
    // One layer alone is the same.
    const alone = model.forward(ids, { batch: 2, inspect: { layers: [1], weights: true } });
    expectSame(alone.layers.get(1).weights.data, weights.data);
    assert.deepEqual(Object.keys(alone.layers.get(1)), ['weights']);
    const last = model.forward(ids, { batch: 2, rows: 'last', inspect: { entropy: true } });
    assert.deepEqual(last.logits.shape, [2, 1, 12]);
    expectSame(last.logits.data, Float32Array.from([8, 17].flatMap((t) => [...logits.data.slice(12 * t, 12 * (t + 1))]))); // prettier-ignore
    assert.deepEqual(last.layers.get(0).entropy.shape, [2, 4, 9], 'of all tokens');
    expectSame(model.forward(ids, { batch: 2, rows: 'all' }).logits.data, logits.data);
    // What each next token costs.
    const costs = ids.flatMap((id, at) => {
      if (at % 9 === 0) return [];
      return [-logProbabilities(exact.logits.slice((at - 1) * 12, at * 12))[id]];
    });
    assert.ok(Math.abs(model.loss(ids, { batch: 2 }) - sumOf(costs) / 16) < 1e-5);
    // As of a model of qkv/models: nothing is known of a first token.
    const ofFirsts = () => model.loss([1, 2], { batch: 2 });
    expectThrows(ofFirsts, 'TrainedModel.loss', 'shape_mismatch', 'rows of 1 token');
    trainer.dispose();
  });

  test('languageModel: an encoder reads both ways, and no token past a length', () => {
    const trainer = engine.languageModel({ ...config, causal: false }, { deviation: 0.3 });
    const { ids } = chains(2, 6, 1);
    const given = { batch: 2, keyLengths: [6, 4] };
    const { logits } = trainer.model.forward(ids, given);
    const changed = ids.with(0, (ids[0] + 1) % 12).with(11, (ids[11] + 1) % 12);
    const other = trainer.model.forward(changed, given).logits.data;
    const part = (data, b, t) => data.subarray((6 * b + t) * 12, (6 * b + t + 1) * 12);
    assert.notDeepEqual(part(other, 0, 5), part(logits.data, 0, 5));
    for (let t = 0; t < 4; ++t) expectSame(part(other, 1, t), part(logits.data, 1, t));
    trainer.dispose();
  });

  test('languageModel: the model keeps its trainer, and goes with it', () => {
    const before = engine.memory().handles;
    const trainer = engine.languageModel(config);
    assert.equal(engine.memory().handles, before + 1);
    const { model } = trainer;
    assert.equal(model.config.activation, 'gelu');
    assert.ok(Object.isFrozen(model.config));
    assert.equal(model.parameterCount, trainer.parameterCount);
    trainer[Symbol.dispose]();
    trainer.dispose();
    assert.equal(engine.memory().handles, before);
    const gone = [
      ['TrainedModel.forward', () => model.forward([1])],
      ['TrainedModel.loss', () => model.loss([1, 2])],
      ['Trainer.step', () => trainer.step(chains(1, 3, 1))],
      ['Trainer.evaluate', () => trainer.evaluate(chains(1, 3, 1))],
      ['Trainer.differentiate', () => trainer.differentiate(chains(1, 3, 1))],
      ['Trainer.parameters', () => trainer.parameters()],
      ['Trainer.save', () => trainer.save()],
      ['Trainer.load', () => trainer.load(new Uint8Array(8))],
    ];
    for (const [fn, call] of gone) expectThrows(call, fn, 'disposed', 'the trainer is disposed');
  });
});

describe('seq2seq', () => {
  const kinds = [
    { kind: 'gru' },
    { kind: 'gru_attention' },
    { kind: 'gru_attention', score: 'dot', numLayers: 2 },
    { kind: 'transformer', numHeads: 2, numLayers: 2, dFeedForward: 32 },
  ];
  const base = { vocabulary: 8, dModel: 24, maxLength: 8 };

  /** Sources of two to five tokens from 2 on; the target is the source from its end, then 1. The decoder reads 0 first. */
  function pairs(batch, seed) {
    const next = random(seed);
    const below = (n) => Math.min(n - 1, Math.floor(((next() + 1) / 2) * n));
    const made = { source: [], sourceLengths: [], ids: [], targets: [], batch };
    for (let b = 0; b < batch; ++b) {
      const row = Array.from({ length: 2 + below(4) }, () => 2 + below(6));
      const said = [...row].reverse();
      const pad = (list, value) => [...list, ...Array(6 - list.length).fill(value)];
      made.source.push(...pad(row, 1));
      made.sourceLengths.push(row.length);
      made.ids.push(...pad([0, ...said], 1));
      made.targets.push(...pad([...said, 1], -1));
    }
    return made;
  }

  for (const [i, own] of kinds.entries()) {
    test(`seq2seq: ${Object.values(own).join(' ')} learns to reverse, and translates`, () => {
      const trainer = engine.seq2seq(
        { ...base, ...own },
        { learningRate: 1e-2, deviation: 0.1, seed: i },
      );
      const judged = pairs(16, 999);
      const before = trainer.evaluate(judged);
      for (let step = 0; step < 80; ++step) trainer.step(pairs(16, step));
      const after = trainer.evaluate(judged);
      assert.ok(after.loss < 0.75 * before.loss, `${before.loss} -> ${after.loss}`);
      const asked = {
        batch: 16,
        sourceLengths: judged.sourceLengths,
        start: 0,
        end: 1,
        maxLength: 7,
      };
      const { ids, weights } = trainer.model.translate(judged.source, asked);
      assert.equal(ids.length, 16);
      assert.ok(ids.every((row) => row instanceof Int32Array && !row.includes(1)));
      const { kind, numLayers, numHeads } = trainer.model.config;
      const tokens = Math.min(7, 1 + Math.max(...ids.map(({ length }) => length)));
      const layers = kind === 'gru' ? 0 : kind === 'transformer' ? numLayers : 1;
      assert.equal(weights.length, layers);
      for (const { data, shape } of weights) {
        assert.deepEqual(shape, [16, kind === 'transformer' ? numHeads : 1, tokens, 6]);
        for (let row = 0; row < data.length / 6; ++row) {
          const read = data.subarray(6 * row, 6 * row + 6);
          const length = judged.sourceLengths[Math.floor(row / (tokens * shape[1]))];
          assert.ok(Math.abs(sumOf(read) - 1) < 1e-6);
          assert.ok(
            read.every((w, s) => s < length || w === 0),
            'weight on what is no source',
          );
        }
      }
      const reach = trainer.model.reach(judged.source.slice(0, 6));
      assert.equal(reach.length, 6);
      assert.ok(reach.every((norm) => norm > 0 && Number.isFinite(norm)));
      trainer.dispose();
    });
  }

  test('seq2seq: as many rows are translated as there are', () => {
    const [batch, sizes] = [130_000, { vocabulary: 4, dModel: 2, maxLength: 2 }];
    const trainer = engine.seq2seq({ ...sizes, kind: 'gru_attention' });
    const source = new Int32Array(batch).fill(2);
    const options = { batch, start: 0, end: 1, maxLength: 2 };
    assert.equal(trainer.model.translate(source, options).ids.length, batch);
    assert.equal(String(trainer.model), '[object Seq2Seq]');
    trainer.dispose();
  });

  test('seq2seq: what does not fit is refused, and changes nothing', () => {
    const trainer = engine.seq2seq({ ...base, kind: 'gru_attention' });
    const before = stateOf(trainer);
    const good = pairs(2, 1);
    for (const [change, code, ...says] of [
      [{ source: undefined }, 'invalid_argument', 'source is undefined'],
      [{ source: [1, 2, 3] }, 'shape_mismatch', 'source has 3 elements', 'batch = 2'],
      [{ source: good.source.with(0, 8) }, 'out_of_range', 'source', '[0, 8)'],
      [{ sourceLengths: [7, 1] }, 'out_of_range', 'sourceLengths', '7'],
      [{ sourceLengths: [1] }, 'shape_mismatch', 'sourceLengths has 1 element'],
      [{ keyLengths: [1, 1] }, 'invalid_argument', "unknown key 'keyLengths'"],
      [{ targets: good.targets.map(() => -1) }, 'out_of_range', 'targets'],
    ]) {
      for (const fn of ['step', 'evaluate', 'differentiate']) {
        if (fn !== 'step' && change.targets) continue;
        expectThrows(() => trainer[fn]({ ...good, ...change }), `Trainer.${fn}`, code, ...says);
      }
    }
    const translate = (source, more) =>
      trainer.model.translate(source, { start: 0, end: 1, maxLength: 4, ...more });
    assert.equal(translate([1], { start: 1, end: 0 }).ids.length, 1); // any token may be either
    for (const [call, code, ...says] of [
      [() => translate([1], { maxLength: 9 }), 'out_of_range', 'maxLength is 9', '1 to 8'],
      [() => translate([1], { start: 8 }), 'out_of_range', 'start is 8'],
      [() => translate([9]), 'out_of_range', 'source', '9'],
      [() => translate([1, 2, 3], { batch: 2 }), 'shape_mismatch', 'source has 3 elements'],
      [() => translate([1], { end: undefined }), 'invalid_argument', 'end is undefined'],
    ]) {
      expectThrows(call, 'Seq2Seq.translate', code, ...says);
    }
    expectThrows(
      () => trainer.model.reach(Array(9).fill(1)),
      'Seq2Seq.reach',
      'out_of_range',
      'source',
    );
    assert.deepEqual(stateOf(trainer), before);
    trainer.dispose();
  });
});

describe('Trainer', () => {
  test('Trainer: a batch that does not fit is refused, and changes nothing', () => {
    const trainer = engine.languageModel(config);
    trainer.step(chains(2, 5, 1));
    const before = stateOf(trainer);
    const good = chains(2, 5, 2);
    for (const [change, code, ...says] of [
      [{ ids: undefined }, 'invalid_argument', 'ids is undefined'],
      [{ ids: [] }, 'shape_mismatch', 'ids has 0 elements', 'at least one token'],
      [{ ids: good.ids.slice(1) }, 'shape_mismatch', 'ids has 9 elements', 'batch = 2'],
      [{ ids: good.ids.with(3, 12) }, 'out_of_range', 'ids', '12', '[0, 12)'],
      [{ ids: good.ids.with(3, -1) }, 'out_of_range', 'ids', '-1'],
      [{ ids: good.ids.with(3, 0.5) }, 'invalid_argument', 'ids[3] is 0.5'],
      [{ targets: good.targets.slice(1) }, 'shape_mismatch', 'targets has 9 elements'],
      [{ targets: good.targets.with(0, 12) }, 'out_of_range', 'targets', '12'],
      [{ targets: good.targets.with(0, -2) }, 'out_of_range', 'targets', '-2'],
      [{ batch: 0 }, 'out_of_range', 'batch is 0'],
      [{ batch: 1.5 }, 'invalid_argument', 'batch is 1.5'],
      [{ keyLengths: [6, 1] }, 'out_of_range', 'keyLengths', '6'],
      [{ keyLengths: [1, 1, 1] }, 'shape_mismatch', 'keyLengths has 3 elements'],
      [{ source: [1, 2] }, 'invalid_argument', "unknown key 'source'"],
      [chains(1, 13, 1), 'out_of_range', '13', '12'],
    ]) {
      for (const fn of ['step', 'evaluate', 'differentiate']) {
        expectThrows(() => trainer[fn]({ ...good, ...change }), `Trainer.${fn}`, code, ...says);
      }
    }
    expectThrows(
      () => trainer.step({ ...good, targets: good.targets.map(() => -1) }),
      ...['Trainer.step', 'out_of_range', 'targets'],
    );
    assert.deepEqual(stateOf(trainer), before);
    trainer.dispose();
  });

  test('TrainedModel.forward: of a trainer refuses what is no option, and nothing stands for one that is left out', () => {
    const trainer = engine.languageModel(config);
    for (const [options, code, says] of [
      ...[null, 0, false, ''].map((inspect) => [
        { inspect },
        ...['invalid_argument', `inspect is ${JSON.stringify(inspect)}`],
      ]),
      [{ inspect: { layers: 3 } }, 'invalid_argument', 'inspect.layers is 3'],
      [{ inspect: { layers: null } }, 'invalid_argument', 'inspect.layers is null'],
      [{ inspect: { layers: [2] } }, 'out_of_range', 'inspect.layers[0] is 2'],
      [{ inspect: { weights: 1 } }, 'invalid_argument', 'inspect.weights is 1'],
      [{ keyLengths: null }, 'invalid_argument', 'keyLengths is null'],
      [{ batch: null }, 'invalid_argument', 'batch is null'],
      [{ rows: 'first' }, 'invalid_argument', `rows is "first", expected 'all' or 'last'`],
      [{ rows: null }, 'invalid_argument', 'rows is null'],
    ]) {
      const call = () => trainer.model.forward([1, 2, 3], options);
      expectThrows(call, 'TrainedModel.forward', code, says);
    }
    trainer.dispose();
  });

  test('Trainer: weights that are no numbers end in an error, and stay', () => {
    const trainer = engine.languageModel(config);
    const { value, set } = trainer.parameters();
    const wq = value('layers.0.attention.wq');
    wq.data[3] = NaN;
    set('layers.0.attention.wq', wq);
    const before = stateOf(trainer);
    expectThrows(
      () => trainer.step(chains(2, 5, 1)),
      ...['Trainer.step', 'invalid_argument', 'norm of the gradient is NaN'],
    );
    assert.equal(trainer.steps, 0);
    assert.deepEqual(stateOf(trainer), before);
    trainer.dispose();
  });

  test('Trainer: arrays are copies, by name and of their own shape', () => {
    const trainer = engine.languageModel(config, { deviation: 0.1 });
    const { names, value, gradient, set } = trainer.parameters();
    assert.equal(names.length, new Set(names).size);
    assert.equal(sumOf(names.map((name) => value(name).data.length)), trainer.parameterCount);
    assert.ok(names.every((name) => gradient(name).data.every((g) => g === 0)));
    const w1 = value('layers.1.feedForward.w1');
    assert.deepEqual(w1.shape, [16, 24]);
    w1.data.fill(1);
    assert.ok(value('layers.1.feedForward.w1').data.every((x) => x !== 1));
    set('layers.1.feedForward.w1', w1);
    expectSame(value('layers.1.feedForward.w1').data, w1.data);
    expectThrows(
      () => value('nonsense'),
      'parameters.value',
      'invalid_argument',
      'name is "nonsense"',
      'head',
    );
    expectThrows(
      () => gradient('__proto__'),
      'parameters.gradient',
      'invalid_argument',
      '__proto__',
    );
    expectThrows(
      () => set('head', w1),
      ...['parameters.set', 'shape_mismatch', 'value is [16,24]', 'expected [16,12]'],
    );
    trainer.dispose();
  });

  test('Trainer: a model beyond 4 GB is refused', () => {
    const call = () => engine.languageModel({ ...config, vocabulary: 2 ** 24, dModel: 1024 });
    expectThrows(call, 'languageModel', 'out_of_memory');
  });
});
