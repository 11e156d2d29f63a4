// @build any
// Trainers that are disposed in the middle of a call, by a getter of what the call was given: told by name, and nothing is kept.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv/train';
import { expectThrows } from '../../support/js/check.js';
import { configs, options, trainUntil } from './run-200.js';

const engine = await init();
after(() => engine.dispose());

const ids = Array.from({ length: 12 }, (_, i) => (5 * i + 1) % 11);
const batch = { ids, targets: ids, batch: 2 };
const translator = { kind: 'gru_attention', vocabulary: 11, dModel: 12, maxLength: 16 };

/** An object that calls `end` when `name` is read. */
const ending = (object, name, end) =>
  Object.defineProperty({ ...object }, name, {
    enumerable: true,
    get() {
      end();
      return object[name];
    },
  });

const calls = {
  'Trainer.step': (trainer, end) => trainer.step(ending(batch, 'batch', end)),
  'Trainer.evaluate': (trainer, end) => trainer.evaluate(ending(batch, 'ids', end)),
  'Trainer.differentiate': (trainer, end) => trainer.differentiate(ending(batch, 'targets', end)),
  'Trainer.save': (trainer, end) => trainer.save(ending({ format: 'bf16' }, 'format', end)),
  'parameters.set': (trainer, end) => {
    const { set, value } = trainer.parameters();
    set('embedding', ending(value('embedding'), 'data', end));
  },
  'TrainedModel.forward': ({ model }, end) =>
    model.forward(ids, ending({ batch: 2 }, 'batch', end)),
  'TrainedModel.loss': ({ model }, end) => model.loss(ids, ending({ batch: 2 }, 'batch', end)),
};

for (const [fn, call] of Object.entries(calls)) {
  test(`${fn}: a getter that disposes the trainer, or the engine`, async () => {
    const { handles, usedBytes } = engine.memory();
    const trainer = engine.languageModel(configs[0], options);
    expectThrows(() => call(trainer, () => trainer.dispose()), fn, 'disposed', 'the trainer');
    assert.equal(engine.memory().handles, handles);
    const lent = await init({ shared: false });
    const own = lent.languageModel(configs[0], options);
    expectThrows(() => call(own, () => lent.dispose()), fn, 'disposed');
    assert.ok(engine.memory().usedBytes <= usedBytes + 2 ** 16, 'what calls share');
  });
}

test('Seq2Seq.translate: a getter that disposes the trainer', () => {
  const { handles } = engine.memory();
  const trainer = engine.seq2seq(translator, options);
  const asked = { batch: 2, start: 0, end: 1, maxLength: 5 };
  const call = () =>
    trainer.model.translate(
      ids,
      ending(asked, 'maxLength', () => trainer.dispose()),
    );
  expectThrows(call, 'Seq2Seq.translate', 'disposed', 'the trainer');
  assert.equal(engine.memory().handles, handles);
});

test('Trainer.step: a getter that makes a step of its own comes first', () => {
  const [one, other] = [1, 2].map(() => engine.languageModel(configs[0], options));
  one.step(ending(batch, 'ids', () => trainUntil(one, 1)));
  trainUntil(other, 1);
  other.step(batch);
  assert.equal(one.steps, 2);
  assert.deepEqual(one.save({ optimizer: true }), other.save({ optimizer: true }));
  for (const trainer of [one, other]) trainer.dispose();
});
