// @build any
// Any sequence of calls on a trainer: what is refused is refused by name and changes nothing, so that another trainer, which
// hears only of the calls that were answered, ends with the same bits.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { init } from 'qkv/train';
import { defined, oddNumbers, rarely } from './support/json.js';
import { expectRefusal } from './support/reading.js';
import { about, settings, watchdog } from './support/settings.js';

const usual = 75;
const watch = watchdog();
const engine = await init({ deterministic: true });
after(() => {
  watch.stop();
  engine.dispose();
});

const [vocabulary, maxLength] = [6, 5];
const sizes = { vocabulary, dModel: 8, numHeads: 2, maxLength };
const wild = fc.constantFrom(...oddNumbers, NaN, Infinity, -Infinity, null, '3', {}, [], undefined);
const seldom = (usually, odd = wild) => rarely(usually, odd);

/** Tokens for `count` places, of which seldom one is none. */
const tokensFor = (count, least) => {
  const tokens = fc.integer({ min: least, max: vocabulary - 1 });
  const fault = fc.tuple(fc.nat(count), fc.constantFrom(-2, -1, vocabulary, 0.5, NaN, 2 ** 31, null));
  return fc
    .tuple(fc.array(tokens, { minLength: count, maxLength: count }), seldom(fc.constant(undefined), fault))
    .map(([list, wrong]) => (wrong ? list.with(Math.min(wrong[0], count - 1), wrong[1]) : list));
}; // prettier-ignore
/** A batch that is right but for what is rarely otherwise. */
const batches = fc.record({ rows: fc.integer({ min: 1, max: 3 }), length: fc.integer({ min: 1, max: maxLength }) })
  .chain(({ rows, length }) => fc.record({
    batch: seldom(fc.constant(rows)),
    ids: seldom(tokensFor(rows * length, 0)),
    targets: seldom(tokensFor(rows * length, -1)),
    lengths: seldom(fc.constantFrom(undefined, Array(rows).fill(length), Array(rows).fill(1)), fc.constantFrom([0], [9], Array(rows).fill(length + 1), 3, null)),
    source: seldom(tokensFor(rows * length, 0)),
    other: seldom(fc.constant(undefined), fc.constant(1)),
  })); // prettier-ignore
const reads = fc.record({
  batch: seldom(fc.constantFrom(1, undefined)),
  ids: seldom(tokensFor(3, 0)),
});
const steps = fc.oneof(
  { weight: 4, arbitrary: fc.record({ call: fc.constantFrom('step', 'step', 'evaluate', 'differentiate'), batch: batches }) },
  { weight: 2, arbitrary: fc.record({ call: fc.constantFrom('forward', 'loss'), of: reads, weights: seldom(fc.boolean()) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('set'), at: fc.nat(20), scale: seldom(fc.constantFrom(0, 0.5, -1)), shape: seldom(fc.constant(true), fc.constant(false)) }) },
  { weight: 1, arbitrary: fc.record({ call: fc.constant('load'), optimizer: seldom(fc.boolean()), format: seldom(fc.constantFrom('f32', 'bf16', 'int8')), cut: seldom(fc.constant(0), fc.constantFrom(1, 9)) }) },
); // prettier-ignore
const options = fc.record({
  seed: seldom(fc.nat(5)),
  learningRate: seldom(fc.constantFrom(1e-3, 0.1, { peak: 0.01, warmup: 2, steps: 5 }), fc.oneof(wild, fc.record({ peak: wild, warmup: wild, steps: wild }))),
  betas: seldom(fc.constantFrom([0.9, 0.999], [0, 0]), fc.constantFrom([1, 0], [0.9], 3, null, [NaN, 0])),
  epsilon: seldom(fc.constant(1e-8)),
  weightDecay: seldom(fc.constantFrom(0, 0.01)),
  clipNorm: seldom(fc.constantFrom(0, 1)),
  dropout: seldom(fc.constantFrom(0, 0.2)),
  deviation: seldom(fc.constantFrom(0.02, 0.5)),
}); // prettier-ignore
const few = fc.constantFrom(0, -1, 0.5, 3, 2 ** 31 - 1, 2 ** 31, 2 ** 53, NaN, null, '2', {});
const configs = {
  languageModel: fc.record({
    ...{ vocabulary: seldom(fc.constant(vocabulary), few), dModel: seldom(fc.constant(8), few), numHeads: seldom(fc.constantFrom(1, 2), few) },
    ...{ numLayers: seldom(fc.constantFrom(1, 2), few), dFeedForward: seldom(fc.constantFrom(0, 12), few), maxLength: seldom(fc.constant(maxLength), few) },
    positions: seldom(fc.constantFrom('learned', 'rotary', 'alibi', 'none')),
    activation: seldom(fc.constantFrom('gelu', 'swiglu')),
    normType: seldom(fc.constantFrom('layer', 'rms')),
    window: seldom(fc.constantFrom(null, 2)),
  }),
  seq2seq: fc.record({
    kind: seldom(fc.constantFrom('gru', 'gru_attention', 'transformer')),
    ...{ vocabulary: seldom(fc.constant(vocabulary), few), dModel: seldom(fc.constant(8), few), numHeads: seldom(fc.constant(2), few) },
    ...{ numLayers: seldom(fc.constant(1), few), maxLength: seldom(fc.constant(maxLength), few), score: seldom(fc.constantFrom('additive', 'dot')) },
  }),
}; // prettier-ignore

/** What a kind of trainer is asked with: its batches, and what its model reads. */
const asks = {
  languageModel: {
    batch: ({ lengths, ...rest }) => defined({ ...rest, source: undefined, keyLengths: lengths }),
    model: {
      forward: (model, { batch, ids }, weights) =>
        model.forward(ids, defined({ batch, inspect: weights === false ? undefined : { weights } })),
      loss: (model, { batch, ids }) => model.loss(ids, defined({ batch })),
    },
    names: { forward: 'TrainedModel.forward', loss: 'TrainedModel.loss' },
  },
  seq2seq: {
    batch: ({ lengths, ...rest }) => defined({ ...rest, sourceLengths: lengths }),
    model: {
      forward: (model, { batch, ids }, weights) =>
        model.translate(ids, defined({ batch, start: 0, end: 1, maxLength: weights ? 3 : 9 })),
      loss: (model, { ids }) => model.reach(ids),
    },
    names: { forward: 'Seq2Seq.translate', loss: 'Seq2Seq.reach' },
  },
}; // prettier-ignore
const names = { step: 'Trainer.step', evaluate: 'Trainer.evaluate', differentiate: 'Trainer.differentiate', set: 'parameters.set' }; // prettier-ignore

/** One call, as a description says it; what it answers, as text. */
function call(kind, trainer, { call: name, ...of }) {
  const { batch, model } = asks[kind];
  if (name in model) return JSON.stringify(model[name](trainer.model, of.of, of.weights));
  if (name === 'set') {
    const { names: all, value, set } = trainer.parameters();
    const array = all[of.at % all.length];
    const { data, shape } = value(array);
    const scale = typeof of.scale === 'number' ? of.scale : 1;
    set(array, { data: data.map((x) => x * scale), shape: of.shape ? shape : [...shape, 1] });
    return '';
  }
  if (name === 'load') {
    const file = trainer.save(defined({ optimizer: of.optimizer, format: of.format }));
    trainer.load(file.subarray(of.cut));
    return '';
  }
  return JSON.stringify(trainer[name](batch(of.batch)));
}

/** All that a trainer holds. */
const stateOf = (trainer) =>
  Buffer.from(trainer.save({ optimizer: true })).toString('latin1') + trainer.steps;

for (const [kind, config] of Object.entries(configs)) {
  test(`fuzz, train: any sequence of calls on ${kind}, and any config`, (t) => {
    t.diagnostic(about(usual));
    const counts = { made: 0, answered: 0, refused: 0 };
    const { handles } = engine.memory();
    const cases = fc.record({
      config,
      options,
      calls: fc.array(steps, { minLength: 1, maxLength: 8 }),
    });
    fc.assert(
      fc.property(cases, ({ config: own, options: how, calls }) => {
        watch.note(JSON.stringify({ kind, own, how, calls }));
        const make = () => engine[kind](defined({ ...sizes, ...own }), defined(how));
        let trainers;
        try {
          trainers = [make(), make()];
        } catch (error) {
          expectRefusal(error, kind);
          assert.equal(engine.memory().handles, handles);
          return;
        }
        counts.made += 1;
        const [one, other] = trainers;
        for (const each of calls) {
          const before = stateOf(one);
          let answer;
          try {
            answer = call(kind, one, each);
          } catch (error) {
            const name = names[each.call] ?? asks[kind].names[each.call];
            expectRefusal(error, name ?? error.message.split(':')[0]);
            assert.equal(stateOf(one), before, `${each.call}: a refusal has changed something`);
            counts.refused += 1;
            continue;
          }
          assert.equal(call(kind, other, each), answer, each.call);
          counts.answered += 1;
        }
        assert.equal(stateOf(one), stateOf(other), 'calls that were refused are none');
        for (const trainer of trainers) trainer.dispose();
        assert.equal(engine.memory().handles, handles);
      }),
      settings(usual),
    );
    t.diagnostic(`${counts.made} made, ${counts.answered} answered, ${counts.refused} refused`);
    assert.ok(
      Math.min(...Object.values(counts)) > settings(usual).numRuns / 5,
      JSON.stringify(counts),
    );
  });
}
