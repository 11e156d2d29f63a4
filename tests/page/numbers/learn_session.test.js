// When the worker of the panel "Watch it learn" trains and what it sends, in Node, with an engine whose steps take as long as is
// said here, and with a clock that only they move.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { modules } from '../support/engine.js';

const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init({ deterministic: true });
const web = await modules('features/learn/worker/training_loop');
afterEach(() => mock.restoreAll());

const settingsFor = (task, patch) => ({
  ...{ task, seed: 3, layers: 1, heads: 1, width: 16, positions: 'learned', causal: true },
  ...{ norm: 'pre', temperature: 1, samples: null, text: '', ...patch },
});

/** A model that answers everything alike; `step()` is called at each of its steps. */
function fakeModel({ vocabulary, numLayers, numHeads }, step, dispose) {
  const forward = (ids) => {
    const square = ids.length ** 2;
    const weights = () => ({ weights: { data: new Float32Array(numHeads * square) } });
    return {
      logits: { data: new Float32Array(ids.length * vocabulary) },
      layers: new Map(Array.from({ length: numLayers }, (_, layer) => [layer, weights()])),
    };
  };
  const trainer = {
    ...{ steps: 0, parameterCount: 7, model: { forward }, dispose },
    parameters: () => ({ names: [] }),
    evaluate: () => ({ loss: 1, accuracy: 0.5 }),
    save: () => Uint8Array.of(trainer.steps),
    load: ([steps]) => (trainer.steps = steps),
    step() {
      step(trainer.steps);
      trainer.steps += 1;
      return { loss: 2, accuracy: 0.25 };
    },
  };
  return trainer;
}

/**
 * A session with an engine and a clock of the test. `turn(after)` lets so many milliseconds go by and then happen what was waited
 * for; `said()` returns what was posted since the last call, and `steps()` how many steps were made.
 */
function stage() {
  const clock = { now: 5000, cost: 10, fails: -1, isFull: false };
  mock.method(performance, 'now', () => clock.now);
  const waiting = [];
  mock.method(globalThis, 'setTimeout', (act, delay) => waiting.push({ act, delay }));
  const posted = [];
  const disposed = [];
  let [made, steps] = [0, 0];
  const engine = {
    languageModel(config) {
      if (clock.isFull) throw new Error('no room');
      const id = ++made;
      const step = (before) => {
        if (before === clock.fails) throw Object.assign(new Error('no room'), { code: 'memory' });
        clock.now += clock.cost;
        steps += 1;
      };
      return fakeModel(config, step, () => disposed.push(id));
    },
    attentionBackward(...args) {
      clock.now += clock.cost;
      return qkv.attentionBackward(...args);
    },
    ...Object.fromEntries(
      ['linear', 'attention', 'linearBackward'].map((name) => [name, (...of) => qkv[name](...of)]),
    ),
  };
  const soon = (act) => waiting.push({ act, delay: 0 });
  const session = new web.Session(
    engine,
    (message, transfer = []) => posted.push({ ...message, transfer }),
    soon,
  );
  return {
    ...{ clock, waiting, disposed, steps: () => steps, said: () => posted.splice(0) },
    tell: (...messages) => messages.forEach((message) => session.receive(message)),
    turn(after = 0) {
      clock.now += after;
      waiting.shift()?.act();
    },
  };
}

const tuning = { rate: 1, batch: 32, dropout: 0 };
const run = (id, patch) => ({ type: 'run', run: id, settings: settingsFor('copy', patch), tuning });
const play = (perSecond, end = null) => ({ type: 'play', perSecond, until: end });
const [pause, step] = ['pause', 'step', 'drawn'].map((type) => ({ type }));

// A press of Play and turns of the event loop after these pauses: how many steps were made after each, and how long is waited then.
for (const [what, perSecond, cost, pauses, steps, delay] of [
  ['a step in 40 ms', 25, 10, [30, 29, 1], [1, 2, 2, 3], 30],
  [
    'a step in a second, looked for every 50 ms at least',
    1,
    10,
    [50, 50, 889, 1],
    [1, 1, 1, 1, 2],
    50,
  ],
  ['as many as there is time for, in slices of 12 ms', null, 4, [0, 0], [3, 6, 9], 0],
  ['steps that are longer than a slice', null, 30, [0], [1, 2], 0],
  ['steps that take as long as they may', 100, 10, [0, 0], [2, 4, 6], 0],
  ['what was missed is made up for, up to 100 ms', 25, 1, [500, 0, 0], [1, 5, 5, 5], 17],
]) {
  test(`learn: the worker makes ${what}`, () => {
    const one = stage();
    one.tell(run(1));
    one.clock.cost = cost;
    one.tell(play(perSecond));
    const made = [one.steps()];
    for (const after of pauses) {
      one.turn(after);
      made.push(one.steps());
    }
    assert.deepEqual([made, one.waiting.length, one.waiting[0].delay], [steps, 1, delay]);
  });
}

test('learn: a run is tuned while it trains, and where it rests it is told at once', () => {
  const { tell, turn, said, disposed } = stage();
  const tune = (patch) => tell({ type: 'tune', tuning: { ...tuning, ...patch } });
  tune({ rate: 3 });
  tell(run(1), play(25));
  said();
  tune({ rate: 3 });
  assert.deepEqual([said(), disposed], [[], [1]], 'another trainer took over');
  tune({ rate: 3, batch: 1 });
  turn(100);
  tell(pause);
  const news = said().flatMap((message) => message.news.tuned);
  assert.deepEqual([news.map(({ batch }) => batch), disposed], [[32, 1], [1]]);
  tune({ dropout: 0.5 });
  assert.deepEqual(said()[0].news.tuned, [{ ...tuning, dropout: 0.5, step: 3 }]);
}); // prettier-ignore

test('learn: moments of runs are kept until they are forgotten', () => {
  const { tell, said } = stage();
  tell(run(1), step, step, step, run(2, { seed: 9 }));
  const at = (id, wanted) => {
    said();
    tell({ type: 'at', run: id, step: wanted });
    return said().map(({ type, run, snapshot }) => [type, run, snapshot.step]);
  };
  assert.deepEqual(at(1, 2), [['moment', 1, 2]]);
  assert.deepEqual(at(1, 999), [['moment', 1, 3]]);
  assert.deepEqual(at(2, 2), [['moment', 2, 0]]);
  assert.deepEqual(at(3, 2), []);
  tell({ type: 'forget', run: 1 });
  assert.deepEqual(at(1, 2), []);
});

test('learn: the worker stops by itself after as many steps as it was told', () => {
  const { tell, turn, waiting, steps, said, clock } = stage();
  clock.cost = 5;
  tell(run(1), play(null, 4));
  while (waiting.length > 0) turn();
  assert.deepEqual([steps(), said().at(-1).news.step], [4, 4]);
  tell(play(null, 8), play(100, 6));
  while (waiting.length > 0) turn(10);
  assert.equal(said().at(-1).news.step, steps(), 'the last order counts');
  assert.ok(steps() === 6 || steps() === 8);
});

test('learn: after a step that failed the worker rests, and begins again when it is told to', () => {
  const { tell, turn, waiting, steps, said, clock, disposed } = stage();
  clock.fails = 2;
  tell(run(1), { type: 'noise', seed: 1 }, play(null));
  turn();
  turn();
  const { type, failure } = said().at(-1);
  assert.deepEqual([type, failure.message, steps(), waiting], ['failed', 'no room', 2, []]);
  clock.fails = -1;
  tell(run(3), play(null, 3));
  for (let i = 0; i < 3; i++) turn();
  assert.deepEqual([disposed, steps(), said().at(-1).news.step], [[1], 5, 3]);
});

test('learn: a run that cannot begin leaves none that trains under its name', () => {
  const { tell, waiting, clock, steps } = stage();
  tell(run(1));
  clock.isFull = true;
  assert.throws(() => tell(run(2)), /no room/);
  tell(play(null, 3));
  assert.deepEqual([waiting, steps()], [[], 0], 'nothing is trained');
});

test('learn: the worker learns to estimate beside a run, until it has made all steps', () => {
  const { tell, turn, waiting, said, steps, clock } = stage();
  clock.cost = 8;
  tell({ type: 'noise', seed: 1 }, run(1), play(25));
  turn(100);
  assert.ok(steps() > 0 && said().some(({ type }) => type === 'noise'));
  tell(pause);
  clock.cost = 0;
  turn();
  const { news } = said().at(-1);
  assert.deepEqual([news.step, news.done, waiting], [600, true, []]);
});

test('learn: what the worker hears before its engine is there waits for it', async () => {
  const told = [];
  class Channel {
    port1 = { onmessage: null };
    port2 = { postMessage: (data) => setImmediate(() => this.port1.onmessage({ data })) };
  }
  const scope = { postMessage: (...args) => told.push(args) };
  const before = { MessageChannel: globalThis.MessageChannel, self: globalThis.self };
  Object.assign(globalThis, { MessageChannel: Channel, self: scope });
  try {
    const { serve } = await modules('features/learn/worker/serve');
    const hear = serve();
    hear(run(1));
    hear(play(null, 2));
    assert.deepEqual(told, []);
    await until(() => told.some(([{ news }]) => news?.step === 2));
    const [[first, { transfer }]] = told;
    assert.deepEqual([first.type, first.run, first.news.step], ['news', 1, 0]);
    assert.ok(transfer.includes(first.news.loss.buffer));
    told.length = 0;
    hear(run(2, { layers: 0 }));
    await until(() => told.length > 0);
    assert.equal(told[0][0].type, 'failed');
    assert.match(told[0][0].failure.message, /numLayers/);
    assert.deepEqual(told[0][1], { transfer: [] });
    told.length = 0;
    hear(run(3));
    hear(play(null, 5));
    await until(() => told.some(([{ news }]) => news?.step === 5));
  } finally {
    Object.assign(globalThis, before);
  }
});
