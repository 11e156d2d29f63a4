// @about web/src/features/learn/
// When the worker of the panel "Watch it learn" trains and what it tells, in Node, with an engine whose steps take as long as is
// said here, and with a clock that only they move.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { until } from '../../support/js/patience.js';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';

const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init({ deterministic: true });
const web = await modules(
  'features/learn/worker/training_loop',
  'features/learn/worker/noise_study',
);
afterEach(() => mock.restoreAll());

const settingsFor = (task, patch) => ({
  ...{ task, seed: 3, layers: 1, heads: 1, width: 16, positions: 'learned', causal: true },
  ...{ norm: 'pre', temperature: 1, samples: null, text: '', ...patch },
});

/** Four digits of each number. */
const four = (value) =>
  JSON.stringify(value, (_key, part) =>
    typeof part === 'number' ? Number(part.toPrecision(4)) : part,
  );

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
    step() {
      step(trainer.steps);
      trainer.steps += 1;
      return { loss: 2, accuracy: 0.25 };
    },
  };
  return trainer;
}

/** A session on a stage: `did(what, act)` writes down in `lines` all that comes of an act. */
function stage() {
  const lines = [];
  const clock = { now: 5000, cost: 10, fails: -1, isFull: false };
  mock.method(performance, 'now', () => clock.now);
  const waiting = [];
  mock.method(globalThis, 'setTimeout', (act, delay) => {
    lines.push(`  waits ${delay}`);
    waiting.push(act);
  });
  let made = 0;
  const engine = {
    languageModel(config) {
      if (clock.isFull) throw new Error('no room');
      const id = ++made;
      const step = (steps) => {
        if (steps === clock.fails) throw Object.assign(new Error('no room'), { code: 'memory' });
        clock.now += clock.cost;
        lines.push(`  step ${steps + 1} of model ${id}, ${clock.now - 5000}`);
      };
      return fakeModel(config, step, () => lines.push(`  model ${id} disposed`));
    },
    attentionBackward(...args) {
      clock.now += clock.cost;
      return qkv.attentionBackward(...args);
    },
    ...Object.fromEntries(
      ['linear', 'attention', 'linearBackward'].map((name) => [name, (...of) => qkv[name](...of)]),
    ),
  };
  const post = (message, transfer = []) => lines.push(`  ${toldOf(message, transfer)}`);
  const soon = (again) => {
    lines.push('  soon');
    waiting.push(again);
  };
  const session = new web.Session(engine, post, soon);
  const did = (what, act) => {
    lines.push(`${what}:`);
    act();
  };
  return {
    ...{ lines, clock, session, waiting },
    /** Messages, as the page sends them. */
    tell: (...messages) =>
      messages.forEach((message) => {
        const { type, settings, ...more } = message;
        did(`${type}${settings ? ` ${settings.task}` : ''} ${JSON.stringify(more)}`, () =>
          session.receive(message),
        );
      }),
    /** What was waited for happens, `after` so many milliseconds. */
    turn(after = 0) {
      clock.now += after;
      did(`a turn after ${after}`, () => waiting.shift()?.());
    },
  };
}

/** A message in a line, with the names of the arrays that are handed over. */
function toldOf(message, transfer) {
  if (message.type === 'moment') return `moment of run ${message.run}: ${message.snapshot.step}`;
  if (message.type === 'noise') return `noise ${message.news.step} done ${message.news.done}`;
  if (message.type !== 'news') return JSON.stringify(message);
  const { step, loss, judged, snapshot, writing } = message.news;
  const arrays = { ...message.news, ...snapshot };
  const given = transfer.map((buffer) =>
    Object.keys(arrays).find((name) => arrays[name]?.buffer === buffer),
  );
  const kinds = [snapshot && 'snapshot', writing && `writing ${writing.step}`].filter(Boolean);
  return `news of run ${message.run}: step ${step}, ${loss.length} losses, ${judged.length} judged, ${kinds}; given ${given}`;
}

const run = (id, patch) => ({ type: 'run', run: id, settings: settingsFor('copy', patch) });
const play = (perSecond, end = null) => ({ type: 'play', perSecond, until: end });

test('learn: the worker steps as quickly as it is told, in slices', () => {
  const lines = [];
  for (const [what, perSecond, cost, ...pauses] of [
    ['a step in 40 ms', 25, 10, 30, 29, 1, 0],
    ['a step in a second', 1, 10, 50, 50, 889, 1],
    ['as many as there is time for', null, 4, 0, 0],
    ['steps that are longer than a slice', null, 30, 0],
    ['steps that take as long as they may', 100, 10, 0, 0],
    ['nearly so long', 100, 9, 1, 0],
    ['less than a millisecond is not waited for', 100, 9.5, 0.25, 0.25],
    ['what was missed is made up for, up to 100 ms', 25, 1, 500, 0, 0],
    ['what was missed by less', 25, 1, 90, 0],
  ]) {
    const one = stage();
    one.tell(run(1));
    one.clock.cost = cost;
    one.tell(play(perSecond));
    for (const pause of pauses) one.turn(pause);
    lines.push(`=== ${what}`, ...one.lines);
    mock.restoreAll();
  }
  requireWritten('learn-pace', lines);
});

test('learn: the worker tells when it was drawn, when it rests, and what it kept', () => {
  const one = stage();
  const { tell, turn, clock } = one;
  tell({ type: 'pause' }, { type: 'step' }, { type: 'drawn' }, { type: 'at', run: 1, step: 0 });
  tell(run(1), play(null));
  clock.cost = 20;
  turn();
  tell({ type: 'drawn' });
  turn();
  turn();
  tell({ type: 'drawn' });
  turn(2000 - 100); // what is written is 2 s after what was written
  tell({ type: 'drawn' });
  turn(1999 - 20); // and not sooner
  clock.cost = 1;
  tell({ type: 'pause' });
  turn();
  tell({ type: 'drawn' }, { type: 'step' }, { type: 'step' });
  tell({ type: 'at', run: 1, step: 3 }, { type: 'at', run: 1, step: 999 });
  tell({ type: 'at', run: 2, step: 3 });
  tell(play(25), run(2, { seed: 9 }));
  turn(1000);
  tell(
    { type: 'at', run: 1, step: 2 },
    { type: 'forget', run: 1 },
    { type: 'at', run: 1, step: 2 },
  );
  tell({ type: 'at', run: 2, step: 2 });
  requireWritten('learn-told', one.lines);
});

test('learn: the worker stops by itself after as many steps as it was told', () => {
  const one = stage();
  one.clock.cost = 5;
  one.tell(run(1), play(null, 4));
  one.turn();
  one.turn();
  one.tell(play(null, 8), play(100, 6));
  while (one.waiting.length > 0) one.turn(10);
  one.tell(play(null, 7));
  assert.deepEqual(one.waiting, []);
  requireWritten('learn-ends', one.lines);
});

test('learn: after a step that failed the worker rests, and begins again when it is told to', () => {
  const one = stage();
  one.clock.fails = 2;
  one.tell(run(1), { type: 'noise', seed: 1 }, play(null));
  one.turn();
  one.turn();
  assert.deepEqual(one.waiting, []);
  one.clock.fails = 0;
  one.tell(run(2), play(null));
  assert.deepEqual(one.waiting, [], 'it failed at once');
  one.clock.fails = -1;
  one.tell(run(3), play(null, 3));
  one.turn();
  one.turn();
  one.turn();
  requireWritten('learn-fails', one.lines);
});

test('learn: a run that cannot begin leaves none that trains under its name', () => {
  const one = stage();
  one.tell(run(1));
  one.clock.isFull = true;
  assert.throws(() => one.tell(run(2)), /no room/);
  one.tell(play(null, 3));
  assert.deepEqual(one.waiting, [], 'nothing is trained');
});

test('learn: the worker learns to estimate beside a run, until it has made all steps', () => {
  const one = stage();
  one.clock.cost = 8;
  one.tell({ type: 'noise', seed: 1 });
  one.turn();
  one.tell(run(1), play(25));
  one.turn();
  one.turn(100);
  one.tell({ type: 'pause' });
  one.turn();
  one.clock.cost = 0;
  one.turn();
  assert.deepEqual(one.waiting, []);
  requireWritten('learn-estimates', one.lines);
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

test('learn: attention that estimates goes the way it went', () => {
  const lines = [];
  for (const seed of [1, 4]) {
    const study = new web.NoiseStudy(qkv, seed);
    for (let step = 0; step <= 40; step += 1) {
      if ([0, 1, 2, 3, 10, 40].includes(step)) {
        const { errors, ...news } = study.news();
        lines.push(four(news), four(errors));
      }
      study.step();
    }
  }
  requireWritten('learn-noise', lines);
});
