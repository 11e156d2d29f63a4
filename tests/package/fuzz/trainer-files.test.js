// @build any
// Trainer.load() and files of strangers: refused by name with nothing changed, or read, and then by every trainer alike.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { init } from 'qkv/train';
import { partsOf } from '../../support/js/safetensors.js';
import { apply, changes, textOf } from './support/bytes.js';
import { expectNoPollution, expectRefusal } from './support/reading.js';
import { faults, spoilt } from './support/safetensors.js';
import { about, settings, watchdog } from './support/settings.js';

const usual = 125;
const watch = watchdog();
const engine = await init({ variant: 'simd' });
after(() => {
  watch.stop();
  engine.dispose();
});

const sizes = { vocabulary: 5, numLayers: 1, dModel: 8, numHeads: 2, maxLength: 4 };
const kinds = {
  languageModel: (seed) => engine.languageModel({ ...sizes, dFeedForward: 0 }, { seed }),
  seq2seq: (seed) => engine.seq2seq({ ...sizes, kind: 'transformer' }, { seed }),
};
const saves = {
  'with moments': { optimizer: true },
  int8: { format: 'int8' },
  bf16: { format: 'bf16' },
};

/** All that a trainer holds. */
const stateOf = (trainer) => Buffer.from(trainer.save({ optimizer: true })).toString('latin1');

/** What was taken is what the file says, where it says it as the trainer has it. */
function expectSaid(file, trainer) {
  const { header, begin } = partsOf(file);
  for (const name of trainer.parameters().names) {
    const { dtype, data_offsets: at } = header[name];
    assert.ok(['F32', 'BF16', 'I8'].includes(dtype), `${name} is ${dtype}`);
    if (dtype !== 'F32') continue;
    const said = file.slice(begin + at[0], begin + at[1]);
    const { buffer } = trainer.parameters().value(name).data;
    assert.deepEqual(said, new Uint8Array(buffer), name);
  }
}

/** Whether both trainers take the file, which then hold the same; a refusal changes neither. */
function isTaken(file, [one, other]) {
  const before = stateOf(one);
  try {
    one.load(file);
  } catch (error) {
    expectRefusal(error, 'Trainer.load');
    assert.equal(stateOf(one), before, 'a refusal has changed something');
    return false;
  } finally {
    expectNoPollution();
  }
  expectSaid(file, one);
  other.load(file);
  const [a, b] = [one, other].map((trainer) => trainer.save());
  assert.deepEqual(a, b, 'the file says all of it');
  return true;
}

for (const [kind, make] of Object.entries(kinds)) {
  for (const [name, options] of Object.entries(saves)) {
    test(`fuzz, Trainer.load: ${kind} ${name} with anything in it`, (t) => {
      t.diagnostic(about(usual));
      const trainers = [make(1), make(2)];
      const good = trainers[0].save(options);
      const { handles } = engine.memory();
      let count = 0;
      const run = (what, file) => {
        watch.note(`${kind} ${name}: ${textOf(what)}`);
        count += Number(isTaken(file, trainers));
        assert.ok(isTaken(good, trainers));
      };
      fc.assert(
        fc.property(fc.oneof(changes, faults), (all) => {
          const isOfBytes = all.every(({ isEarly }) => isEarly !== undefined);
          run(all, isOfBytes ? all.reduce(apply, good) : spoilt(good, all));
        }),
        settings(usual),
      );
      t.diagnostic(`${count} were taken`);
      assert.ok(count > 0 && count < settings(usual).numRuns, `${count}`);
      assert.equal(engine.memory().handles, handles);
      for (const trainer of trainers) trainer.dispose();
    });
  }
}
