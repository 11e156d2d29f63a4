// @build any
// Memory that runs out while a model learns, is read, saved or filled from a file, at every place where it may: a typed error,
// no weight, moment or step changed, nothing lost, and the next call right.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { read } from '../../support/js/files.js';
import { initWithin } from '../../support/js/small-memory.js';
import { bitsOf, pages, starve } from '../../support/js/starve.js';
import { configs, options } from './run-200.js';

const wasm = read('dist/qkv-train-simd.wasm');
const engine = await initWithin(pages, { wasm }, init);
after(() => engine.dispose());

const translator = { kind: 'transformer', vocabulary: 11, dModel: 12, numHeads: 3, numLayers: 2 };
/** Trainers by name, each with rows that it is asked about: its own `batch`, and `others` of another shape. */
const rowsOf = (batch, length, seed) => {
  const ids = Array.from({ length: batch * length }, (_, i) => (7 * i * i + seed * i + 1) % 11);
  return { ids, targets: ids.map((id) => (5 * id + 3) % 11), batch };
};
const pairsOf = (batch, length, seed) => {
  const { ids: source } = rowsOf(batch, length, seed + 1);
  return { ...rowsOf(batch, length, seed), source };
};
const trainers = {
  'language model': {
    make: () => engine.languageModel(configs[0], options),
    ...{ batch: rowsOf(4, 9, 2), others: rowsOf(1, 3, 3) },
  },
  'GRU with attention': {
    make: () =>
      engine.seq2seq({ ...translator, kind: 'gru_attention', numHeads: 1, maxLength: 16 }, options),
    ...{ batch: pairsOf(4, 9, 2), others: pairsOf(1, 3, 3) },
  },
  transformer: {
    make: () => engine.seq2seq({ ...translator, dFeedForward: 20, maxLength: 16 }, options),
    ...{ batch: pairsOf(4, 9, 2), others: pairsOf(1, 3, 3) },
  },
};

/** A call of a trainer that has made a step on other rows, so that this one needs memory of its own. */
const asking = (name, fn, call) => ({
  fns: [fn],
  prepare() {
    const { make, batch, others } = trainers[name];
    const trainer = make();
    trainer.step(others);
    return {
      call: () => call(trainer, batch),
      state: () => `${trainer.steps} ${bitsOf(trainer.save({ optimizer: true }))}`,
      dispose: () => trainer.dispose(),
    };
  },
});

/** A trainer that is made, and says what it is made of. */
const making = (name, fn) => ({
  fns: [fn, 'Trainer.save'],
  prepare: () => ({
    call() {
      const trainer = trainers[name].make();
      try {
        return bitsOf(trainer.save());
      } finally {
        trainer.dispose();
      }
    },
  }),
});

/** The file of a trainer three steps on. */
const fileOf = Object.fromEntries(
  Object.entries(trainers).map(([name, { make, others }]) => {
    const trainer = make();
    for (let i = 0; i < 3; ++i) trainer.step(others);
    const bytes = trainer.save({ optimizer: true });
    trainer.dispose();
    return [name, bytes];
  }),
);

const inspect = { weights: true, entropy: true, residuals: true, projections: true };
const ofLanguageModel = {
  forward: asking('language model', 'TrainedModel.forward', ({ model }, { ids, batch }) => {
    const { logits, layers } = model.forward(ids, { batch, inspect });
    const readings = [...layers.values()].flatMap((layer) => Object.values(layer));
    return bitsOf(logits.data, ...readings.map(({ data }) => data));
  }),
  loss: asking('language model', 'TrainedModel.loss', ({ model }, { ids, batch }) =>
    String(model.loss(ids, { batch })),
  ),
  'parameters().set': asking('language model', 'parameters.set', (trainer) => {
    trainer.parameters().set('embedding', {
      ...{ data: new Float32Array(11 * 12).fill(0.25), shape: [11, 12] },
    });
    return '';
  }),
  'parameters().value': asking('language model', 'parameters.value', (trainer) =>
    bitsOf(trainer.parameters().value('embedding').data),
  ),
};

/** Calls of models that translate. */
const ofTranslator = (name) => ({
  [`${name}: translate`]: asking(name, 'Seq2Seq.translate', ({ model }, { source, batch }) => {
    const { ids, weights } = model.translate(source, { batch, start: 0, end: 1, maxLength: 8 });
    return bitsOf(...ids, ...weights.map(({ data }) => data));
  }),
  [`${name}: reach`]: asking(name, 'Seq2Seq.reach', ({ model }, { source }) =>
    bitsOf(model.reach(source.slice(0, 6))),
  ),
});

/** Calls of every trainer. */
const ofTrainer = (name) => ({
  [`${name}: made`]: making(name, name === 'language model' ? 'languageModel' : 'seq2seq'),
  ...Object.fromEntries(
    ['step', 'evaluate', 'differentiate'].map((method) => [
      `${name}: ${method}`,
      asking(name, `Trainer.${method}`, (trainer, batch) => JSON.stringify(trainer[method](batch))),
    ]),
  ),
  [`${name}: save`]: asking(name, 'Trainer.save', (trainer) =>
    bitsOf(trainer.save({ optimizer: true, format: 'int8' })),
  ),
  [`${name}: load`]: asking(name, 'Trainer.load', (trainer) => {
    trainer.load(fileOf[name]);
    return '';
  }),
});

const scenarios = {
  ...Object.assign({}, ...Object.keys(trainers).map(ofTrainer)),
  ...ofLanguageModel,
  ...ofTranslator('GRU with attention'),
  ...ofTranslator('transformer'),
};

describe('out of memory: a hole of k bytes, for trainers', () => {
  let [failed, places] = [0, 0];

  for (const [name, scenario] of Object.entries(scenarios)) {
    test(`out of memory: ${name}`, async () => {
      const found = await starve(engine, scenario);
      [failed, places] = [failed + found.failed, places + found.places.size];
    });
  }

  test('out of memory: allocations of trainers did fail', (t) => {
    t.diagnostic(`${failed} calls failed at ${places} different allocations`);
    assert.ok(places > 2 * Object.keys(scenarios).length, `${places}`);
  });
});
