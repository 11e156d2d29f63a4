// The runs of the panel "Watch it learn" beside their worker, in Node: what the worker is sent by each press, what is kept of its
// news, and how long a run has been playing. The worker says what is said here.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules('features/learn/page/training_client', 'features/learn/shared/tasks');
afterEach(() => mock.restoreAll());

const settingsFor = (patch) => ({
  ...{ task: 'induction', seed: 1, layers: 2, heads: 4, width: 64, positions: 'rotary' },
  ...{ causal: true, norm: 'pre', temperature: 1, samples: null, text: '', ...patch },
});
const [A, B, C] = [4, 2, 8].map((heads) => settingsFor({ heads }));
const BUDGET = web.taskOf('induction', '').defaults.budget;
const birth = { score: 'previous', layer: 0, head: 0, step: 1 };

/** The runs with a worker and a clock of the test; `sent()` returns what the worker was sent since the last call. */
function stage() {
  const clock = { now: 1000 };
  mock.method(performance, 'now', () => clock.now);
  const messages = [];
  let worker;
  globalThis.Worker = class extends EventTarget {
    constructor() {
      super();
      worker = this;
    }
    postMessage(message) {
      if (message.type) messages.push(message);
    }
    terminate() {
      messages.push({ type: 'ended' });
    }
  };
  let changes = 0;
  const saved = [];
  const onSaved = ({ id }, bytes) => saved.push([id, ...bytes]);
  const training = new web.Training({ onChange: () => changes++, onSaved });
  const say = (data) => worker.dispatchEvent(Object.assign(new Event('message'), { data }));
  const numbers = { loss: Float32Array.of(1), accuracy: Float32Array.of(0.5), judged: [] };
  const rest = { births: [], tuned: [], snapshot: null, writing: null, rate: 30, parameters: 9 };
  return {
    ...{ training, clock, say, saved, worker: () => worker, changes: () => changes },
    sent: () => messages.splice(0).map(({ type, run, step, perSecond, until, settings, seed }) => {
      const more = [run, settings?.heads, step, perSecond, until, seed];
      return [type, ...more.filter((each) => each !== undefined)].join(' ');
    }),
    news: (run, step, more) => say({ type: 'news', run, news: { step, ...numbers, ...rest, ...more } }),
    moment: (run, step) => say({ type: 'moment', run, snapshot: { step } }),
    ids: () => [training.current?.id, ...training.kept.map(({ id }) => id)],
  }; // prettier-ignore
}

test('learn: playing, pausing and playing on is one run, up to its budget and then the next', () => {
  const { training, sent, news, ids } = stage();
  training.play(A, '25', false);
  assert.deepEqual(sent(), ['run 1 4', `play 25 ${BUDGET}`]);
  assert.ok(training.isOf(settingsFor()) && !training.isOf(B) && training.playing);
  news(1, 0);
  for (let i = 0; i < 2; i++) training.drawn();
  assert.deepEqual(sent(), ['drawn'], 'once for each news');
  for (const speed of ['25', 'full']) training.setSpeed(speed);
  assert.deepEqual(sent(), [`play  ${BUDGET}`], 'another speed; null is full speed');
  training.pause();
  training.setSpeed('5');
  assert.deepEqual([sent(), training.playing], [['pause'], false]);
  training.play(settingsFor(), '100', true);
  assert.deepEqual([sent(), ids()], [[`play 100 ${BUDGET}`], [1]], 'no other run');
  news(1, BUDGET - 1);
  assert.equal(training.playing, true);
  news(1, BUDGET);
  assert.equal(training.playing, false);
  training.play(A, '1', false);
  training.step(A, false);
  assert.deepEqual(sent(), [`play 1 ${2 * BUDGET}`, 'step']);
});

test('learn: a tuning acts on a run of its settings and on a series, and on all that begin', () => {
  const { training, sent, news, ids } = stage();
  const [own, fast] = [1, 10].map((rate) => ({ rate, batch: 32, dropout: 0 }));
  const tunes = (settings, tuning) => {
    sent();
    training.tune(settings, tuning);
    return sent();
  };
  assert.deepEqual(tunes(A, own), [], 'there is no run');
  training.play(A, '25', false);
  assert.deepEqual(tunes(settingsFor(), fast), ['tune']);
  assert.deepEqual(tunes(A, { ...fast }), [], 'the same');
  assert.deepEqual(tunes(B, own), [], 'settings of another run');
  assert.deepEqual(tunes(A, fast), [], 'it acts since before');
  news(1, 5, { tuned: [{ ...own, step: 0 }, { ...fast, step: 3 }] });
  training.restart(A, true);
  assert.deepEqual(ids(), [2, 1], 'with another tuning it is another run');
  news(2, 5, { tuned: [{ ...fast, step: 0 }] });
  training.restart(A, true);
  assert.deepEqual(ids(), [3, 1]);
  training.playAll([B, C], '25');
  assert.deepEqual(tunes(A, own), ['tune'], 'one of a series');
  assert.deepEqual(tunes(settingsFor({ task: 'copy' }), fast), []);
}); // prettier-ignore

test('learn: a run is as old as it played', () => {
  const { training, news, clock } = stage();
  training.play(A, '25', false);
  clock.now += 2000;
  news(1, 5, { births: [birth] });
  training.pause();
  clock.now += 4000;
  news(1, 6, { births: [birth] });
  assert.equal(training.seconds, 2);
  training.play(A, '25', false);
  clock.now += 500;
  news(1, BUDGET, { births: [birth] });
  clock.now += 5000;
  training.step(A, false);
  news(1, BUDGET + 1, { births: [birth] });
  assert.equal(training.seconds, 2.5);
  const { births } = training.current;
  assert.deepEqual(births.map(({ seconds }) => seconds), [2, null, 2.5, null], 'step by step none is told'); // prettier-ignore
  training.restart(A, false);
  assert.equal(training.seconds, 0);
});

test('learn: the run before stays if that is wanted, and the worker forgets the others', () => {
  const { training, sent, news, ids } = stage();
  const begun = (name, settings, ...rest) => {
    training[name](settings, ...rest);
    return [ids(), sent().filter((line) => /^(run|forget)/.test(line))];
  };
  begun('play', A, '25', false);
  news(1, 10);
  assert.deepEqual(begun('play', B, '25', true), [[2, 1], ['run 2 2']]);
  assert.deepEqual(begun('step', C, true), [[3, 1], ['forget 2', 'run 3 8']], 'run 2 made no step'); // prettier-ignore
  news(2, 20);
  assert.equal(training.current.step, 0, 'news of a run that was replaced');
  news(3, 1);
  assert.deepEqual(begun('restart', C, true), [[4, 1], ['forget 3', 'run 4 8']]); // prettier-ignore
  news(4, 1);
  training.forgetKept();
  assert.deepEqual([ids(), sent()], [[4], ['forget 1']]);
  assert.deepEqual(begun('play', B, '25', true), [[5, 4], ['run 5 2']]);
  assert.deepEqual(begun('step', A, false), [[6], ['forget 4', 'forget 5', 'run 6 4']]);
});

test('learn: runs one after the other, of which the last three stay', () => {
  const { training, sent, news, ids } = stage();
  training.play(A, '25', false);
  news(1, 10);
  sent();
  const all = [1, 2, 4, 8, 16, 32].map((heads) => settingsFor({ heads }));
  training.playAll(all, 'full');
  assert.deepEqual(sent(), ['forget 1', 'run 2 1', `play  ${BUDGET}`]);
  for (let run = 2; run < 7; ++run) {
    assert.deepEqual([training.queued, training.inSeries], [7 - run, true]);
    news(run, BUDGET - 1);
    assert.equal(training.current.id, run);
    news(run, BUDGET);
    assert.equal(training.current.id, run + 1);
  }
  assert.deepEqual(ids(), [7, 4, 5, 6]);
  news(7, BUDGET);
  assert.deepEqual([training.playing, ids()[0]], [false, 7]);
  training.play(B, '25', true);
  assert.deepEqual([ids(), training.inSeries], [[8, 7], false]);
});

for (const [name, ...args] of [
  ['pause'],
  ['step', B, false],
  ['restart', A, false],
  ['step', A, true],
]) {
  test(`learn: a press of ${name} ends a series`, () => {
    const { training, news } = stage();
    training.playAll([A, B, C], '5');
    news(1, BUDGET);
    assert.deepEqual([training.current.id, training.queued], [2, 1]);
    training[name](...args);
    assert.deepEqual([training.queued, training.playing], [0, false]);
    const { id } = training.current;
    for (const steps of [1, 2]) news(id, steps * BUDGET);
    assert.equal(training.current.id, id);
  });
}

const failed = { type: 'failed', failure: { code: 'out_of_memory', message: 'no room' } };
for (const [name, ...args] of [
  ['play', A, '25', true],
  ['step', A, true],
  ['restart', A, false],
  ['learnNoise', 3],
]) {
  test(`learn: after a failure everything rests until a press of ${name}`, () => {
    const { training, sent, news, say } = stage();
    training.playAll([A, B], '25');
    training.learnNoise(3);
    news(1, 10);
    sent();
    say(failed);
    const { failure, playing, noiseRuns, queued } = training;
    assert.deepEqual([failure.message, playing, noiseRuns, queued], ['no room', false, false, 0]);
    training.drawn();
    training.look(2);
    training.pause();
    assert.deepEqual(sent(), ['ended'], 'who does not run any more is sent nothing');
    training[name](...args);
    const [first] = sent();
    assert.equal(first, name === 'learnNoise' ? 'noise 3' : 'run 2 4');
    assert.equal(training.failure, null);
  });
} // prettier-ignore

test('learn: a script that does not load is a failure', () => {
  const { training, sent, worker } = stage();
  training.play(A, '25', false);
  worker().dispatchEvent(new Event('error'));
  assert.deepEqual([training.playing, training.failure !== null], [false, true]);
  sent();
  training.play(A, '25', false);
  assert.deepEqual(sent().slice(0, 1), ['run 2 4']);
});

test('learn: the run that trains is asked for as a file, and a file of another is not taken', () => {
  const { training, sent, say, saved, news } = stage();
  training.save();
  training.play(A, '25', false);
  news(1, 1);
  sent();
  training.save();
  assert.deepEqual(sent(), ['save']);
  const bytes = (run) => ({ type: 'saved', run, bytes: Uint8Array.of(run, 7) });
  say(bytes(1));
  training.restart(B, false);
  say(bytes(1));
  assert.deepEqual(saved, [[1, 1, 7]]);
});

test('learn: estimating goes on until it is done', () => {
  const { training, sent, say, changes } = stage();
  training.learnNoise(7);
  assert.deepEqual([sent(), training.noiseRuns], [['noise 7'], true]);
  for (const [step, done] of [
    [9, false],
    [600, true],
  ]) {
    const before = changes();
    say({ type: 'noise', news: { step, done } });
    assert.deepEqual([training.noise.step, training.noiseRuns], [step, !done]);
    assert.equal(changes(), before + 1);
  }
});
