// @build any
// Runs of trainers in workers: the bits of as many steps, batches from everywhere, reports, pauses, and every way to end.
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { init as here } from 'qkv/train';
import { init, QkvError } from 'qkv/worker';
import { expectRejects } from '../../support/js/check.js';
import { resultOf } from '../../support/js/node.js';
import { inTime, pause, until } from '../../support/js/patience.js';
import { batchOf, config, how, stateAfter, trainedHere } from '../../support/js/trainers.js';
import { overPort, workersOf } from '../../support/js/workers.js';

let engine;
before(async () => {
  engine = await init({ train: true });
});
after(() => engine.dispose());

const newTrainer = (of = engine) => of.languageModel(config, how);
const stateOf = (trainer) => trainer.save({ optimizer: true });
const list = [1, 2, 3].map((step) => batchOf(step));
const fromList = (step) => list[(step - 1) % list.length];

/** A run of a list, which never ends by itself: { trainer, run, abort }, after its first report. */
async function endless(of = engine, options = {}) {
  const trainer = await newTrainer(of);
  const ending = new AbortController();
  let begun;
  const first = new Promise((resolve) => (begun = resolve));
  const run = trainer.run({ batches: list, signal: ending.signal, onStep: begun, ...options });
  // Looked at later.
  run.catch(() => undefined);
  await inTime(first, 'the first step');
  return { trainer, run, abort: (reason) => ending.abort(reason) };
}

/** That the run is over before long, with this reason. */
const expectEnd = (run, reason) =>
  assert.rejects(inTime(run, 'the run'), (error) => error === reason);

/** The weights are those of so many steps on this thread. */
async function expectSteps(trainer, steps, batches = fromList) {
  assert.equal(trainer.steps, steps);
  assert.deepEqual(await stateOf(trainer), await stateAfter(steps, batches));
}

describe('worker: a run', () => {
  const sources = {
    'an array, again and again': () => list,
    'a function of the step': () => fromList,
    'an asynchronous function, now quick, now slow': () => async (step) => {
      for (let turns = (7 * step) % 5; turns > 0; --turns) await pause(0);
      return fromList(step);
    },
    'an iterable': function* () {
      for (let step = 1; ; ++step) yield fromList(step);
    },
    'an asynchronous iterable': async function* () {
      for (let step = 1; ; ++step) yield fromList(step);
    },
  };
  for (const [name, make] of Object.entries(sources)) {
    test(`with batches from ${name} makes the steps of this thread, bit for bit`, async () => {
      const trainer = await newTrainer();
      const result = await trainer.run({ batches: make(), steps: 40 });
      const near = await trainedHere(39, fromList);
      assert.deepEqual(result, { steps: 40, last: near.step(fromList(40)) });
      await expectSteps(trainer, 40);
      await trainer.dispose();
    });
  }

  test('ends with its batches', async () => {
    const trainer = await newTrainer();
    assert.equal((await trainer.run({ batches: list.values() })).steps, 3);
    const until10 = (step) => (step <= 10 ? fromList(step) : undefined);
    // Its steps are those of the trainer.
    assert.equal((await trainer.run({ batches: until10, steps: 99 })).steps, 7);
    assert.deepEqual(await trainer.run({ batches: [].values() }), { steps: 0, last: undefined });
    await expectSteps(trainer, 10);
  });

  test('asks for at most four batches that it has not used, and for none that it will not use', async () => {
    const trainer = await newTrainer();
    let given = 0;
    let mostAhead = 0;
    const batches = (step) => {
      given += 1;
      assert.equal(step, given);
      mostAhead = Math.max(mostAhead, given - trainer.steps);
      return batchOf(step);
    };
    await trainer.run({ batches, steps: 30 });
    assert.equal(given, 30);
    const run = trainer.run({ batches });
    run.catch(() => undefined);
    await until(() => trainer.steps > 40);
    await trainer.pause();
    // What was asked for before the pause has been given.
    await until(
      () => given === trainer.steps + 4,
      () => `${given} and ${trainer.steps}`,
    );
    assert.ok(mostAhead <= 5, `${mostAhead} ahead of what was told`);
    await trainer.dispose();
    await expectRejects(run, 'Trainer.run', 'disposed');
  });

  test('tells every so many steps, and its last, with the mean of the losses between', async () => {
    const trainer = await newTrainer();
    const [reports, known] = [[], []];
    const onStep = (told) => {
      reports.push(told);
      known.push(trainer.steps);
    };
    await trainer.run({ batches: list, steps: 8, every: 3, onStep });
    assert.deepEqual(known, [3, 6, 8]);
    const near = await trainedHere(0);
    const steps = [1, 2, 3, 4, 5, 6, 7, 8].map((step) => near.step(fromList(step)));
    const mean = (of) => of.reduce((sum, { loss }) => sum + loss, 0) / of.length;
    assert.deepEqual(reports, [
      { ...steps[2], meanLoss: mean(steps.slice(0, 3)) },
      { ...steps[5], meanLoss: mean(steps.slice(3, 6)) },
      { ...steps[7], meanLoss: mean(steps.slice(6, 8)) },
    ]);
  });

  test('moves its batches if it shall', async () => {
    const trainer = await newTrainer();
    const typed = () => ({ ...batchOf(1), ids: Int32Array.from(batchOf(1).ids) });
    const [inArray, wanted] = [typed(), typed()];
    await trainer.run({ batches: [inArray], steps: 1, transfer: true });
    await trainer.run({ batches: () => wanted, steps: 1, transfer: true });
    assert.deepEqual([inArray.ids.length, wanted.ids.length], [0, 0]);
    await expectSteps(trainer, 2, () => batchOf(1));
  });

  test('leaves its turn to other calls, with a signal or without', async () => {
    const { trainer, run, abort } = await endless();
    const { signal } = new AbortController();
    const { loss } = await inTime(trainer.evaluate(batchOf(1), { signal }), 'a call with a signal');
    assert.ok(loss > 0);
    const x = { data: Float32Array.of(1, -1), shape: [1, 2] };
    assert.equal((await inTime(engine.gelu(x), 'a call of the engine')).data.length, 2);
    const file = await trainer.save({ optimizer: true });
    abort('enough');
    await expectEnd(run, 'enough');
    // The file is of a whole number of steps, which were made here too.
    const other = await newTrainer();
    await other.load(file);
    assert.deepEqual(file, await stateAfter(other.steps, fromList));
  });

  test('goes on side by side with that of another caller, who shares the worker', async () => {
    const { made, value: others } = await workersOf(() => init({ train: true }));
    assert.equal(made.length, 0);
    const trainers = await Promise.all([newTrainer(), newTrainer(others)]);
    const { run, abort } = await endless();
    const runs = trainers.map((trainer) => trainer.run({ batches: fromList, steps: 25 }));
    await Promise.all(runs);
    for (const trainer of trainers) await expectSteps(trainer, 25);
    await others.dispose();
    abort('enough');
    await expectEnd(run, 'enough');
  });

  test('keeps a process of Node alive', async () => {
    const script = `
      import { init } from 'qkv/worker';
      import { batchOf, config } from './tests/support/js/trainers.js';
      const trainer = await (await init({ train: true })).languageModel(config);
      trainer.run({ batches: [batchOf(1)], steps: 200 }).then(({ steps }) => console.log(steps));`;
    assert.equal(await resultOf([], script), 200);
  });
});

describe('worker: a run that pauses', () => {
  test('stands between two steps, can be saved there, and goes on to the same bits', async () => {
    const trainer = await newTrainer();
    const reports = [];
    const onStep = (told) => reports.push(told);
    let isOver = false;
    const run = trainer.run({ batches: list, steps: 3000, every: 1000, onStep });
    run.then(() => (isOver = true));
    await trainer.pause();
    const { steps } = trainer;
    // What had not been told is told before the promise of pause().
    assert.equal(reports.at(-1)?.step ?? 0, steps);
    const files = [
      await stateOf(trainer),
      (await trainer.evaluate(batchOf(1))) && (await stateOf(trainer)),
    ];
    assert.deepEqual(files[0], files[1]);
    await expectSteps(trainer, steps);
    assert.equal(isOver, false);
    await trainer.resume();
    assert.equal((await inTime(run, 'the run')).steps, 3000);
    assert.equal(reports.at(-1).step, 3000);
    await expectSteps(trainer, 3000);
  });

  test('waits with its batches', async () => {
    const trainer = await newTrainer();
    const run = trainer.run({ batches: fromList, steps: 20 });
    await trainer.pause();
    await trainer.pause();
    await trainer.resume();
    await trainer.resume();
    await inTime(run, 'the run');
    await expectSteps(trainer, 20);
  });

  test('can be aborted, and does not begin again with resume()', async () => {
    const { trainer, run, abort } = await endless();
    await trainer.pause();
    abort('enough');
    await expectEnd(run, 'enough');
    await trainer.resume();
    await trainer.pause();
    await expectSteps(trainer, trainer.steps);
    assert.equal((await trainer.run({ batches: list, steps: 2 })).steps, 2);
  });
});

describe('worker: a run that ends early', () => {
  test('by its signal leaves the steps that were made', async () => {
    const trainer = await newTrainer();
    const ending = new AbortController();
    const reason = new Error('enough');
    const onStep = ({ step }) => {
      if (step === 5) ending.abort(reason);
    };
    const { signal } = ending;
    await expectEnd(trainer.run({ batches: fromList, signal, onStep }), reason);
    assert.ok(trainer.steps >= 5);
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    await expectSteps(trainer, trainer.steps);
    // An aborted one is not even begun.
    const never = () => assert.fail('asked for a batch');
    await expectEnd(trainer.run({ batches: never, signal }), reason);
  });

  test('ends its iterable', async () => {
    const trainer = await newTrainer();
    let isEnded = false;
    async function* batches() {
      try {
        for (let step = 1; ; ++step) yield fromList(step);
      } finally {
        isEnded = true;
      }
    }
    await trainer.run({ batches: batches(), steps: 3 });
    await until(() => isEnded);
  });

  test('is not rejected with what its iterable throws at its end', async () => {
    const trainer = await newTrainer();
    const late = () => {
      throw new Error('too late');
    };
    const sources = [
      function* () {
        try {
          for (let step = 1; ; ++step) yield fromList(step);
        } finally {
          late();
        }
      },
      async function* () {
        try {
          for (let step = 1; ; ++step) yield fromList(step);
        } finally {
          late();
        }
      },
    ];
    for (const batches of sources) {
      assert.equal((await trainer.run({ batches: batches(), steps: 3 })).steps, 3);
    }
    await trainer.dispose();
  });

  test('by what batches or onStep throw, is rejected with that', async () => {
    const wrong = new Error('wrong');
    const fails = () => {
      throw wrong;
    };
    const later = (step) => (step <= 6 ? fromList(step) : fails());
    const inLoop = async function* () {
      yield* [1, 2].map(fromList);
      fails();
    };
    for (const options of [
      { batches: later },
      { batches: inLoop() },
      { batches: list, onStep: fails },
    ]) {
      const trainer = await newTrainer();
      await expectEnd(trainer.run(options), wrong);
      await expectSteps(trainer, trainer.steps);
      assert.equal((await trainer.run({ batches: list, steps: 2 })).steps, 2);
    }
  });

  test('by a batch that is none, says which array, and leaves the steps before', async () => {
    const bad = { ...batchOf(3), targets: batchOf(3).targets.map(() => 99) };
    const sources = [
      [list[0], list[1], bad, list[0]],
      (step) => (step === 3 ? bad : fromList(step)),
    ];
    for (const batches of sources) {
      const trainer = await newTrainer();
      const run = trainer.run({ batches, steps: 9 });
      await expectRejects(run, 'Trainer.step', 'out_of_range', 'targets');
      await expectSteps(trainer, 2);
      await trainer.run({ batches: list, steps: 1 });
    }
    const trainer = await newTrainer();
    const promised = { ...batchOf(1), ids: Promise.resolve(batchOf(1).ids) };
    const says = (batches, ...words) =>
      expectRejects(trainer.run({ batches }), 'Trainer.run', 'invalid_argument', ...words);
    await says([promised], 'batches[0].ids is');
    await says(() => promised, 'batch.ids is');
    // Neither ends the run in silence.
    await says([list[0], undefined, list[1]], 'batches[1] is undefined');
    await says(Object.assign(Array(3), { 0: list[0] }), 'batches[1] is undefined');
    for (const batches of [[list[0], null], (step) => (step === 1 ? list[0] : null)]) {
      const other = await newTrainer();
      const run = other.run({ batches, steps: 9 });
      await expectRejects(run, 'Trainer.step', 'invalid_argument', 'batch is null');
      await expectSteps(other, 1);
    }
  });

  test('by dispose() of its trainer or engine', async () => {
    const first = await endless();
    await first.trainer.dispose();
    await expectRejects(inTime(first.run, 'the run'), 'Trainer.run', 'disposed');
    const paused = await endless();
    await paused.trainer.pause();
    await paused.trainer.dispose();
    await expectRejects(inTime(paused.run, 'the run'), 'Trainer.run', 'disposed');
    const { handles } = await engine.memory();
    const others = await init({ train: true });
    const second = await endless(others);
    await others.dispose();
    await expectRejects(inTime(second.run, 'the run'), 'Trainer.run', 'disposed');
    // Fewer, if trainers of other tests have been collected meanwhile.
    await until(async () => (await engine.memory()).handles <= handles);
  });

  test('by the end of its worker', async () => {
    const { made, value: alone } = await workersOf(() => init({ train: true, shared: false }));
    const { run } = await endless(alone);
    await made[0].terminate();
    await expectRejects(inTime(run, 'the run'), 'Trainer.run', 'load_failed', 'has ended');
    await alone.dispose();
  });

  test('by a thread that is lost, counts the step of which a part is missing', async () => {
    const load = async () => {
      const real = await here();
      const languageModel = (...args) => {
        const trainer = real.languageModel(...args);
        const { step } = trainer;
        let steps = 0;
        // As trainer.ts: the step was done.
        Object.defineProperty(trainer, 'steps', { get: () => steps });
        trainer.step = (batch) => {
          steps += 1;
          if (steps < 3) return step.call(trainer, batch);
          throw new QkvError('thread_lost', 'Trainer.step: a thread has ended, expected all');
        };
        return trainer;
      };
      return Object.create(real, { languageModel: { value: languageModel } });
    };
    const { engine: far, close } = await overPort({}, load);
    const trainer = await far.languageModel(config, how);
    const reports = [];
    const onStep = ({ step }) => reports.push(step);
    const run = trainer.run({ batches: list, every: 5, onStep });
    await expectRejects(run, 'Trainer.step', 'thread_lost');
    assert.equal(trainer.steps, 3);
    assert.deepEqual(reports, [2]);
    await close();
  });
});

describe('worker: a run that is refused', () => {
  test('what would change the weights, while another goes on, is busy', async () => {
    const { trainer, run, abort } = await endless();
    const file = await trainer.save();
    const name = trainer.parameters().names[0];
    const value = await trainer.parameters().value(name);
    const all = [
      ['Trainer.step', () => trainer.step(batchOf(1))],
      ['Trainer.accumulate', () => trainer.accumulate(batchOf(1))],
      ['Trainer.load', () => trainer.load(file)],
      ['parameters.set', () => trainer.parameters().set(name, value)],
      ['Trainer.run', () => trainer.run({ batches: list, steps: 1 })],
    ];
    for (const [fn, change] of all) await expectRejects(change(), fn, 'busy', 'a run');
    await trainer.pause();
    for (const [fn, change] of all) await expectRejects(change(), fn, 'busy', 'a run');
    abort('enough');
    await expectEnd(run, 'enough');
    await expectSteps(trainer, trainer.steps);
    await trainer.load(file);
  });

  const wrong = [
    [{ batches: [] }, 'invalid_argument', 'batches is an empty array'],
    [{ batches: 'ab' }, 'invalid_argument', 'batches is', 'an iterable or a function'],
    [{ batches: 3 }, 'invalid_argument', 'batches is 3'],
    [{ batches: batchOf(1) }, 'invalid_argument', 'batches is'],
    [{}, 'invalid_argument', 'batches is undefined'],
    [{ batches: list, steps: 0 }, 'out_of_range', 'steps is 0'],
    [{ batches: list, steps: 1.5 }, 'invalid_argument', 'steps is 1.5'],
    [{ batches: list, every: 0 }, 'out_of_range', 'every is 0'],
    [{ batches: list, onStep: 1 }, 'invalid_argument', 'onStep is 1, expected a function'],
    [{ batches: list, signal: 1 }, 'invalid_argument', 'signal is 1'],
    [{ batches: list, transfer: 1 }, 'invalid_argument', 'transfer is 1'],
    [{ batches: list, onSteps: 1 }, 'invalid_argument', "'onSteps'", "'onStep'"],
    [undefined, 'invalid_argument', 'options is'],
  ];
  for (const [options, code, ...says] of wrong) {
    test(`says so of ${JSON.stringify(options)?.slice(0, 60)}`, async () => {
      const trainer = await newTrainer();
      await expectRejects(trainer.run(options), 'Trainer.run', code, ...says);
      assert.equal((await trainer.run({ batches: list, steps: 1 })).steps, 1);
      await trainer.dispose();
    });
  }
});
