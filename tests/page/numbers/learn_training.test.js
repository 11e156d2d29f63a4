// @about web/src/features/learn/
// The runs of the panel "Watch it learn" beside their worker, in Node: what the worker is told by each press, what is kept of its
// news, and how long a run has been playing. The worker says what is said here.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';

const web = await modules('features/learn/page/training_client', 'features/learn/shared/tasks');
afterEach(() => mock.restoreAll());

const settingsFor = (patch) => ({
  ...{ task: 'induction', seed: 1, layers: 2, heads: 4, width: 64, positions: 'rotary' },
  ...{ causal: true, norm: 'pre', temperature: 1, samples: null, text: '', ...patch },
});

/** News of a worker after so many steps. */
const newsAt = (step, more) => ({
  ...{ step, loss: Float32Array.of(1), accuracy: Float32Array.of(0.5), judged: [], births: [] },
  ...{ snapshot: null, writing: null, rate: 30, parameters: 9, ...more },
});

const runOf = ({ id, settings, step, births, shown }) => {
  const more = births.map(({ seconds }) => ` born after ${seconds} s`).join('');
  return `${id} (${settings.heads} heads) at ${step}${more}${shown ? ` shows ${shown.step}` : ''}`;
};

/** What everybody can see of the runs, in a line. */
function stateOf(training) {
  const { current, kept, playing, failure, noise, noiseRuns, looked, queued, inSeries } = training;
  return [
    current ? runOf(current) : 'no run',
    kept.length > 0 && `kept ${kept.map(runOf).join(' and ')}`,
    playing && 'playing',
    failure && `failed: ${failure.message}`,
    (noise ?? noiseRuns) && `noise ${noise?.step}${noiseRuns ? ' runs' : ''}`,
    looked !== null && `looked at ${looked}`,
    queued > 0 && `${queued} wait`,
    inSeries && 'in series',
    `${training.seconds.toFixed(3)} s`,
  ]
    .filter(Boolean)
    .join(', ');
}

/** A press in a word; of settings the number of heads. */
const calledBy = (name, args) =>
  `${name}(${args.map((arg) => (arg?.heads ? `${arg.heads} heads` : JSON.stringify(arg, (_, of) => of?.heads ?? of))).join(', ')})`;

/** The runs on a stage: `did(what, act)` writes down in `lines` what came of an act. The clock goes on with every look at it. */
function stage() {
  const lines = [];
  const happened = [];
  const clock = { now: 1000 };
  mock.method(performance, 'now', () => ++clock.now);
  let worker;
  globalThis.Worker = class extends EventTarget {
    constructor() {
      super();
      worker = this;
    }
    postMessage({ settings, ...message }) {
      const told = message.type ? message : { id: 'learn' };
      happened.push(JSON.stringify(settings ? { ...told, heads: settings.heads } : told));
    }
    terminate() {
      happened.push('ended');
    }
  };
  const training = new web.Training({ onChange: () => happened.push('changed') });
  const did = (what, act) => {
    happened.length = 0;
    act();
    lines.push(`${what}: ${happened.join(' ')}`, `  ${stateOf(training)}`);
  };
  const say = (data) => {
    const { type, run, news, snapshot } = data;
    const step = (news ?? snapshot)?.step ?? '';
    did(`the worker: ${type} ${run ?? ''} ${step}`, () => {
      worker.dispatchEvent(Object.assign(new Event('message'), { data }));
    });
  };
  return {
    ...{ lines, training, did, say, clock },
    worker: () => worker,
    press: (name, ...args) => did(calledBy(name, args), () => training[name](...args)),
    news: (run, step, more) => say({ type: 'news', run, news: newsAt(step, more) }),
    moment: (run, step) => say({ type: 'moment', run, snapshot: { step } }),
    wait: (ms) => did(`${ms} ms later`, () => (clock.now += ms)),
  };
}

const birth = { score: 'previous', layer: 0, head: 0, step: 1 };

const A = settingsFor();
const B = settingsFor({ heads: 2 });
const C = settingsFor({ heads: 8 });

test('learn: before the first press nothing is started', () => {
  const { lines, press, training, did } = stage();
  for (const name of ['drawn', 'pause', 'forgetKept']) press(name);
  press('setSpeed', 'full');
  press('look', 3);
  press('look', null);
  press('playAll', [], '5');
  did('is it of A', () => lines.push(String(training.isOf(A))));
  requireWritten('learn-presses-at-rest', lines);
});

test('learn: playing, pausing and playing on is one run, whose time is what it played', () => {
  const { lines, press, news, wait, training } = stage();
  press('play', A, '25', false);
  assert.ok(training.isOf(settingsFor()) && !training.isOf(B));
  news(1, 0);
  wait(2000);
  news(1, 5, { births: [birth] });
  press('drawn');
  press('drawn');
  press('setSpeed', '25');
  press('setSpeed', 'full');
  press('pause');
  press('setSpeed', '5');
  wait(4000);
  news(1, 6, { births: [birth] });
  press('pause');
  press('play', settingsFor(), '100', true);
  wait(500);
  news(1, 399);
  news(1, 400, { births: [birth] });
  wait(5000);
  news(1, 400);
  press('setSpeed', '1');
  press('play', A, '1', false);
  news(1, 799);
  press('setSpeed', '5');
  news(1, 800);
  press('step', A, false);
  news(1, 801, { births: [birth] });
  press('play', A, '1', false);
  requireWritten('learn-plays', lines);
});

test('learn: the run before stays if that is wanted, and the worker forgets the others', () => {
  const { lines, press, news, wait } = stage();
  press('play', A, '25', true);
  news(1, 10);
  press('play', B, '25', true);
  news(2, 0);
  wait(300);
  press('step', C, true);
  news(3, 1);
  news(2, 20);
  press('drawn');
  press('play', A, '25', true);
  news(4, 3);
  press('forgetKept');
  press('forgetKept');
  press('play', B, '25', true);
  news(5, 2);
  wait(700);
  press('restart', B);
  wait(100);
  press('restart', C);
  press('step', C, false);
  news(7, 1);
  press('step', C, false);
  press('step', A, false);
  news(8, 1);
  press('play', B, '25', true);
  wait(100);
  press('step', B, true);
  wait(100);
  press('restart', B);
  requireWritten('learn-keeps', lines);
});

test('learn: runs one after the other, of which the last three stay', () => {
  const { lines, press, news, wait, moment } = stage();
  press('play', A, '25', false);
  news(1, 10);
  const all = [1, 2, 4, 8, 16, 32].map((heads) => settingsFor({ heads }));
  press('playAll', all, 'full');
  for (let run = 2; run < 7; ++run) {
    wait(1000);
    news(run, 399);
    news(run, 400);
    moment(run - 1, 400);
    news(run, 401);
  }
  wait(100);
  news(7, 400);
  wait(100);
  news(7, 401);
  press('play', all[5], '25', true);
  requireWritten('learn-series', lines);
});

test('learn: a press ends a series', () => {
  const lines = [];
  for (const [name, ...args] of [
    ['pause'],
    ['step', B, false],
    ['restart', A],
    ['step', A, true],
    ['play', A, '5', true],
  ]) {
    const one = stage();
    one.press('playAll', [A, B, C], '5');
    one.news(1, 400);
    one.wait(50);
    one.press(name, ...args);
    one.news(one.training.current.id, 400);
    one.news(one.training.current.id, 800);
    lines.push(`=== ${name}`, ...one.lines);
    mock.restoreAll();
  }
  requireWritten('learn-series-ended', lines);
});

test('learn: maps of another step are asked for one at a time', () => {
  const { lines, press, news, moment } = stage();
  press('play', A, '25', true);
  news(1, 10);
  press('look', 4);
  press('look', 5);
  press('look', 6);
  moment(1, 4);
  moment(1, 6);
  press('look', 6);
  moment(1, 6);
  moment(1, 7);
  press('look', null);
  moment(99, 3);
  press('look', 3);
  press('play', A, '25', true);
  moment(1, 3);
  press('look', 2);
  press('play', B, '25', true);
  press('look', 7);
  news(2, 11);
  moment(1, 2);
  moment(1, 7);
  press('look', null);
  news(2, 12);
  news(2, 13);
  moment(1, 12);
  moment(2, 7);
  press('look', 1);
  press('step', B, true);
  press('look', 1);
  press('restart', B);
  requireWritten('learn-looks', lines);
});

test('learn: after a failure everything rests, and the next press begins anew', () => {
  const lines = [];
  const failed = { type: 'failed', failure: { code: 'out_of_memory', message: 'no room' } };
  for (const [name, ...args] of [
    ['play', A, '25', true],
    ['step', A, true],
    ['restart', A],
    ['learnNoise', 3],
    ['look', 2],
    ['pause'],
  ]) {
    const one = stage();
    one.press('playAll', [A, B], '25');
    one.press('learnNoise', 3);
    one.news(1, 10);
    one.press('look', 3);
    one.wait(100);
    one.say(failed);
    one.wait(100);
    one.press(name, ...args);
    lines.push(`=== ${name}`, ...one.lines);
    mock.restoreAll();
  }
  const one = stage();
  one.press('play', A, '25', false);
  one.did('the script does not load', () => one.worker().dispatchEvent(new Event('error')));
  one.press('play', A, '25', false);
  requireWritten('learn-failures', [...lines, '=== no script', ...one.lines]);
});

test('learn: estimating goes on until it is done', () => {
  const { lines, press, say } = stage();
  press('learnNoise', 7);
  say({ type: 'noise', news: { step: 9, done: false } });
  say({ type: 'noise', news: { step: 600, done: true } });
  press('learnNoise', 7);
  requireWritten('learn-estimator', lines);
});
