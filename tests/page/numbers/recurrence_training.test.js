// What the worker of the panel on recurrence asks of the package and in which order, and what it tells of it: an engine in its
// place writes down what it is asked, and its models are right as often as they are told to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { modules } from '../support/engine.js';

const web = await modules(
  'features/recurrence/worker/{training_loop,three_models,layer_timing}',
  'features/recurrence/shared/{model_configs,timing_settings}',
);

/** What a model of this kind says of a source: the GRU misses the first digit, that with attention says one too many. */
function sayingOf(kind, source) {
  const said = [...source].reverse();
  if (kind === 'gru') said[0] = (said[0] + 1) % 10;
  if (kind === 'gru_attention') said.push(0);
  return Int32Array.from(said);
}

/** An engine that computes nothing; `calls` is what it was asked, and a step of the transformer takes `stepTime` ms. */
function newEngine({ stepTime = 1 } = {}) {
  const calls = [];
  const clock = { time: 0 };
  let made = 0;
  function seq2seq({ kind }, options) {
    const name = `${kind} ${++made}`;
    const heads = { gru: 0, gru_attention: 1, transformer: 2 }[kind];
    let steps = 0;
    const note = (what, ...more) => calls.push({ name, what, more });
    note('made', options.seed);
    const model = {
      translate(ids, { batch = 1, ...how }) {
        note('translate', Array.from(ids), batch);
        const [source, rows] = [ids.length / batch, how.maxLength];
        const said = Array.from({ length: batch }, (_, b) =>
          sayingOf(kind, ids.slice(b * source, (b + 1) * source)),
        );
        const data = Float32Array.from({ length: heads * rows * source }, (_, i) => i);
        const weights = heads ? [{ shape: [batch, heads, rows, source], data }] : [];
        return { ids: said, weights };
      },
      reach: (source) => Float64Array.from(source, (digit, i) => options.seed * (1 + steps) * 2 ** -i * (1 + digit)),
    };
    return {
      ...{ parameterCount: 1000 + made, model },
      step(rows) {
        note('step', rows);
        steps++;
        if (kind === 'transformer') clock.time += stepTime;
        return { loss: 5 / steps, accuracy: steps / 2000, step: steps };
      },
      load: (file) => note('load', file),
      evaluate: () => ({ loss: 0.25 + heads, accuracy: 0.5 }),
      save: () => `weights of ${name}`,
      dispose: () => note('dispose'),
    };
  }
  return { qkv: { info: { variant: 'none' }, seq2seq }, calls, clock, now: () => clock.time };
} // prettier-ignore

/** A desk: `until` makes turns until something of this type is told, or there is nothing more to do. */
function newDesk(options) {
  const { qkv, calls, now } = newEngine(options);
  const desk = new web.Desk(qkv, now);
  return {
    ...{ desk, calls, take: (type, more) => desk.take({ type, ...more }) },
    until(type, most = 1000) {
      for (let turn = 0; desk.busy && turn < most; turn++) {
        const found = desk.turn().find((news) => news.type === type);
        if (found) return found;
      }
      return null;
    },
  };
}
const begin = (running, seed = 7) => ({ seed, running });

test('recurrence: without models there is nothing to do', () => {
  const { desk, take } = newDesk();
  for (const type of ['play', 'pause', 'step']) assert.deepEqual(take(type), []);
  take('source', { source: [1, 2] });
  assert.deepEqual([desk.busy, desk.session, desk.turn()], [false, null, []]);
});

test('recurrence: models that rest say the source, reach back, and are counted until there are enough of each length', () => {
  const { desk, take, until } = newDesk();
  take('source', { source: [1, 2, 3] });
  const [answer, { running, done, seed, origin, learners }] = take('begin', begin(false));
  assert.deepEqual(answer, { type: 'begun' });
  assert.deepEqual([running, done, seed, origin], [false, false, 7, 'here']);
  assert.deepEqual(web.KINDS.map((kind) => learners[kind].parameters), [1001, 1002, 1003]);
  const { source, said } = until('spoken');
  assert.deepEqual(source, [1, 2, 3]);
  for (const kind of web.KINDS) assert.deepEqual([...said[kind].ids], [...sayingOf(kind, source)]);
  assert.deepEqual(web.KINDS.map((kind) => said[kind].heads), [0, 1, 2]);
  const { first, now } = until('reached');
  assert.deepEqual(first, now, 'nothing was trained yet');
  let last;
  for (let news = until('counted'); news; news = until('counted')) last = news;
  assert.equal(desk.busy, false);
  const parts = { gru: (length) => length - 1, gru_attention: (length) => length, transformer: (length) => length };
  for (const kind of web.KINDS) {
    for (const { length, sequences, right, whole } of last.tallies[kind]) {
      assert.deepEqual([sequences, right], [64, 64 * parts[kind](length)], `${kind} ${length}`);
      assert.equal(whole, kind === 'transformer' ? 64 : 0);
    }
  }
}); // prettier-ignore

test('recurrence: a turn of training ends after 60 ms or 20 steps, and looks are taken every 20 and 100', () => {
  for (const [stepTime, steps] of [[20, 4], [0, 20], [59, 2]]) {
    const { desk, take, until } = newDesk({ stepTime });
    take('begin', begin(true));
    until('progress');
    assert.equal(desk.session.steps, steps, `${stepTime} ms`);
  }
  const { desk, take } = newDesk({ stepTime: 0 });
  take('source', { source: [4, 5] });
  take('begin', begin(true));
  const looks = { spoken: new Set(), reached: new Set(), counted: new Set() };
  while (desk.session.steps < 220) {
    for (const { type, steps } of desk.turn()) looks[type]?.add(steps);
  }
  assert.deepEqual([...looks.spoken], [0, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200]);
  assert.deepEqual([[...looks.reached], [...looks.counted]], [[0, 100, 200], [100, 200]]);
}); // prettier-ignore

test('recurrence: steps one by one pause a run, and a source of nothing says nothing', () => {
  const { desk, take, until } = newDesk();
  take('begin', begin(true));
  take('step');
  assert.equal(desk.session.steps, 1);
  const { first, now } = until('reached');
  assert.ok(Math.abs(now.gru[0] / first.gru[0] - 2) < 1e-12, 'of the weights of one step');
  assert.equal(take('pause')[0].running, false);
  take('source', { source: [] });
  assert.equal(until('spoken'), null);
});

test('recurrence: files begin where they were saved, and another run ends that of before', () => {
  const files = { gru: 'file a', gru_attention: 'file b', transformer: 'file c' };
  const { take, calls } = newDesk();
  take('begin', begin(true));
  calls.length = 0;
  const [, { origin, seed, done }] = take('load', { files, seed: 9, steps: 1500 });
  assert.deepEqual([origin, seed, done], ['before', 9, true]);
  const named = (what) => calls.filter((call) => call.what === what);
  assert.deepEqual(named('load').map(({ more }) => more[0]), Object.values(files));
  assert.deepEqual(named('dispose').map(({ name }) => name).slice(-3), ['gru 1', 'gru_attention 2', 'transformer 3']);
  assert.ok(named('made').every(({ more }) => more[0] === 9), 'with the initial weights of their seed');
  assert.equal(take('play')[0].running, false, 'it is over');
  take('load', { files, seed: 9, steps: 1499 });
  assert.equal(take('play')[0].running, true);
}); // prettier-ignore

test('recurrence: a whole run trains all models on the same batches, in turn, up to the last step', () => {
  const { desk, take, until, calls } = newDesk({ stepTime: 0 });
  take('begin', begin(true));
  while (!desk.session.isDone) until('progress');
  assert.equal(desk.session.steps, web.STEPS);
  const steps = calls.filter(({ what }) => what === 'step');
  assert.equal(steps.length, 3 * web.STEPS);
  for (const at of [0, 3, 300]) {
    const three = steps.slice(at, at + 3);
    assert.deepEqual(three.map(({ name }) => name), ['gru 1', 'gru_attention 2', 'transformer 3']);
    for (const { more } of three) assert.deepEqual(more[0], three[0].more[0]);
  }
  assert.equal(take('play')[0].running, false);
  take('step');
  assert.equal(desk.session.steps, web.STEPS);
}); // prettier-ignore

test('recurrence: the time of a step is the mean of about the latest twenty', () => {
  const { qkv, clock } = newEngine({ stepTime: 0 });
  const session = web.Session.begin(qkv, 1);
  let looks = 0;
  // Of the 6 looks of a step the second, fourth and sixth are after a model's own.
  const took = (n, model) => 1 + ((n * (model + 3)) % 7);
  const wanted = [NaN, NaN, NaN];
  for (let n = 1; n <= 45; ++n) {
    session.step(() => {
      const model = Math.floor(looks / 2) % 3;
      if (looks++ % 2 === 1) clock.time += took(n, model);
      return clock.time;
    });
    web.KINDS.forEach((kind, model) => {
      const time = took(n, model);
      const count = Math.min(n, 20);
      wanted[model] = n === 1 ? time : wanted[model] + (time - wanted[model]) / count;
      const { milliseconds, steps } = session.learners[kind];
      assert.equal(steps, n);
      assert.ok(Math.abs(milliseconds - wanted[model]) < 1e-12, `${kind} ${n}`);
    });
  }
});

test('recurrence: what was counted is forgotten with a step, and only then', () => {
  const { qkv, now } = newEngine();
  const session = web.Session.begin(qkv, 1);
  const { tallies } = session;
  session.step(now);
  assert.equal(session.tallies, tallies, 'nothing was counted');
  session.ask('gru', 4);
  assert.equal(session.tallies.gru[0].sequences, 8);
  session.step(now);
  assert.equal(session.tallies.gru[0].sequences, 0);
  const after = session.tallies;
  session.step(now);
  assert.equal(session.tallies, after, 'there is nothing more to forget');
  assert.throws(() => session.ask('gru', 5), /^RangeError: no sequences of 5 are tested$/);
  assert.equal(session.save('gru'), 'weights of gru 1');
});

test('recurrence: every length has a stream of sequences of its own, which continues', () => {
  const { qkv, calls } = newEngine();
  const session = web.Session.begin(qkv, 1);
  const asked = (kind, length) => {
    calls.length = 0;
    session.ask(kind, length);
    return JSON.stringify(calls[0].more);
  };
  const [first, second, longer] = [asked('gru', 4), asked('gru', 4), asked('gru', 6)];
  assert.equal(new Set([first, second, longer]).size, 3);
  assert.equal(asked('transformer', 4), first, 'every model is asked the same');
  assert.equal(asked('transformer', 4), second);
});

// ---- times ----

/** An engine whose passes take `took(kind, n)` ms, the n-th of this kind and length. */
function newTimed(took) {
  const [calls, made] = [[], []];
  let time = 0;
  const counts = new Map();
  const passed = (kind, length) => {
    const n = counts.get(`${kind} ${length}`) ?? 0;
    counts.set(`${kind} ${length}`, n + 1);
    calls.push(`${kind} ${length}`);
    time += took(kind, n);
  };
  const qkv = {
    info: { variant: 'none' },
    tensor(shape, data) {
      made.push({ name: 'tensor', shape, data });
      return { length: shape[1], shape, dispose: () => calls.push(`x ${shape[1]} disposed`) };
    },
    multiHeadAttention(config, weights) {
      made.push({ name: 'attention', config, weights });
      return {
        forward: (x) => passed('attention', x.length),
        dispose: () => calls.push('layer disposed'),
      };
    },
    gru(x, unit) {
      made.push({ name: 'gru', unit });
      passed('gru', x.length);
    },
  };
  return { qkv, calls, made, now: () => time };
}

test('recurrence: a timing lasts 6 ms, all lengths take turns, and what was made is given back', () => {
  const { qkv, calls, now } = newTimed((kind) => (kind === 'gru' ? 2 : 4));
  const all = web.timings(qkv, now, [16, 32]);
  const first = all.next().value;
  const turn = (length) => [...Array(3).fill(`gru ${length}`), ...Array(2).fill(`attention ${length}`)]; // prettier-ignore
  const warm = [16, 32].flatMap((length) => [`gru ${length}`, `attention ${length}`]);
  assert.deepEqual(calls, [...warm, ...turn(16)], 'three passes of 2 ms, two of 4');
  const spread = (value) => ({ median: value, low: value, high: value });
  assert.deepEqual(first, [{ length: 16, gru: spread(2), attention: spread(4) }]);
  calls.length = 0;
  assert.deepEqual(all.next().value.map(({ length }) => length), [16, 32]); // prettier-ignore
  all.next();
  assert.deepEqual(calls, [...turn(32), ...turn(16)]);
  calls.length = 0;
  all.return();
  assert.deepEqual(calls, ['layer disposed', 'x 16 disposed', 'layer disposed', 'x 32 disposed']);
});

test('recurrence: of seven timings there stand the median and the quartiles', () => {
  // The n-th timing is one pass of 10 + n ms, or 30 - 2 n; before them comes one pass that is not timed.
  const { qkv, now } = newTimed((kind, n) => (kind === 'gru' ? 9 + n : 32 - 2 * n));
  const [last] = [...web.timings(qkv, now, [16])].at(-1);
  assert.deepEqual(last.gru, { median: 13, low: 11.5, high: 14.5 });
  assert.deepEqual(last.attention, { median: 24, low: 21, high: 27 });
});

test('recurrence: how much is measured, up to a last word that all is known', () => {
  const { qkv, now } = newTimed(() => 9);
  const desk = new web.Desk(qkv, now);
  const orders = [desk.take({ type: 'measure' }), desk.busy];
  assert.deepEqual(orders, [[], true]);
  const told = [];
  while (desk.busy) told.push(...desk.turn());
  assert.deepEqual(
    told.map(({ part }) => Math.round(57 * part)),
    Array.from({ length: 57 }, (_, i) => i + 1),
  );
  assert.deepEqual({ ...told.at(-1) }, { type: 'timed', variant: 'none', part: 1, timings: null });
  assert.equal(told.at(-2).timings.length, 8);
  assert.equal(told[0].part, 1 / 57);
  desk.take({ type: 'measure' });
  assert.equal(desk.turn()[0].part, 1 / 57, 'another measurement begins at nothing');
});
