// @about web/src/features/recurrence/
// What the worker of the panel on recurrence asks of the package and in which order, and what it tells of it: an engine in its
// place writes down what it is asked, and its models are right as often as they are told to.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';
import { requireWritten } from '../support/operate.js';
import { hashed } from '../support/window.js';

const web = await modules(
  ...[
    'worker/training_loop',
    'shared/model_configs',
    'worker/three_models',
    'shared/timing_settings',
    'shared/task',
    'worker/layer_timing',
  ].map((name) => `features/recurrence/${name}`),
);
const { random } = await import(pathToFileURL(join(root, 'dist/train.js')).href);

const four = (value) => (Number.isFinite(value) ? Number(value.toPrecision(4)) : String(value));
const print = (of) => hashed(JSON.stringify(of, (_, part) => (part?.buffer ? [...part] : part)));

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
  function seq2seq({ kind, ...config }, options) {
    const name = `${kind} ${++made}`;
    const heads = { gru: 0, gru_attention: 1, transformer: 2 }[kind];
    let steps = 0;
    calls.push(`${name}: made ${print([config, options])} seed ${options.seed}`);
    const model = {
      translate(ids, { batch = 1, ...how }) {
        calls.push(`${name}: translate ${batch} ${JSON.stringify(how)} ${print(Array.from(ids))}`);
        const [source, rows] = [ids.length / batch, how.maxLength];
        const said = Array.from({ length: batch }, (_, b) =>
          sayingOf(kind, ids.slice(b * source, (b + 1) * source)),
        );
        const data = Float32Array.from({ length: heads * rows * source }, (_, i) => i);
        const weights = heads ? [{ shape: [batch, heads, rows, source], data }] : [];
        return { ids: said, weights };
      },
      reach(source) {
        calls.push(`${name}: reach ${print(source)}`);
        const factor = options.seed * (1 + steps);
        return Float64Array.from(source, (digit, i) => factor * 2 ** -i * (1 + digit + heads));
      },
    };
    return {
      ...{ parameterCount: 1000 + made, model },
      step(rows) {
        steps++;
        if (steps <= 2) calls.push(`${name}: step ${print(rows)}`);
        if (kind === 'transformer') clock.time += stepTime;
        return { loss: 5 / steps, accuracy: steps / 2000, step: steps };
      },
      load: (file) => calls.push(`${name}: load ${file}`),
      evaluate(rows) {
        calls.push(`${name}: evaluate ${print(rows)}`);
        return { loss: 0.25 + heads, accuracy: 0.5 };
      },
      save: () => `weights of ${name}`,
      dispose: () => calls.push(`${name}: disposed`),
    };
  }
  return { qkv: { info: { variant: 'none' }, seq2seq }, calls, clock, now: () => clock.time };
}

const tallyLine = (tallies) =>
  tallies.map(({ length, sequences, right, whole }) => `${length}:${sequences}/${right}/${whole}`);

/** A message in a line. */
function lineOf({ type, ...told }) {
  if (type === 'progress') {
    const { origin, seed, running, done, learners } = told;
    const each = Object.values(learners).map(({ parameters, steps, ...more }) =>
      [parameters, steps, ...Object.values(more).map(four)].join(' '),
    );
    return `progress ${origin} ${seed} ${running} ${done}: ${each.join(' | ')}`;
  }
  if (type === 'counted') {
    const all = Object.values(told.tallies).map(tallyLine).flat();
    const now = all.filter((line) => !line.endsWith(':0/0/0'));
    return `counted ${told.steps}: ${now.length} lengths, the last ${now.at(-1)}, ${print(all)}`;
  }
  if (type === 'spoken') {
    const said = Object.values(told.said).map(({ ids, heads, rows, weights }) =>
      [ids.join(''), heads, rows, weights.length].join(' '),
    );
    return `spoken ${told.steps} of ${told.source.join('')}: ${said.join(' | ')}`;
  }
  if (type === 'reached') {
    const of = (norms) => Object.values(norms).map((all) => Array.from(all, four));
    return `reached ${told.steps}: first ${print(of(told.first))}, now ${print(of(told.now))}`;
  }
  const { variant, part, timings } = told;
  return `timed ${variant} ${four(part)} ${JSON.stringify(timings)}`;
}

/** A desk, and lines of what it told and of what was asked of the engine meanwhile. */
function newDesk(options) {
  const { qkv, calls, clock, now } = newEngine(options);
  const desk = new web.Desk(qkv, now);
  const lines = [];
  const note = (title, news) => {
    const asked = calls.splice(0);
    // Of what was counted: 57 questions are alike.
    const shown = asked.length > 12 ? [`${asked.length} calls ${print(asked)}`] : asked;
    lines.push(`- ${title}`, ...shown.map((call) => `    ${call}`));
    lines.push(...news.map((one) => `  ${lineOf(one)}`));
    return news;
  };
  return {
    ...{ desk, lines, clock },
    take: (order) => note(JSON.stringify(order), desk.take(order)),
    turn: () => note('turn', desk.turn()),
    /** Turns until something of this type was told, or there is nothing more to do. */
    until(type, most = 1000) {
      const told = [];
      let turns = 0;
      while (desk.busy && turns < most) {
        turns++;
        told.push(...desk.turn());
        if (told.some((news) => news.type === type)) break;
      }
      return note(`${turns} turns, ${desk.busy ? 'more to do' : 'at rest'}`, told);
    },
  };
}

const begin = (running, seed = 7) => ({ type: 'begin', seed, running });
const files = { gru: 'file a', gru_attention: 'file b', transformer: 'file c' };

/** By title: what is ordered, one after another. */
const COURSES = {
  'orders before there are models': ({ take, turn, desk, lines }) => {
    for (const type of ['play', 'pause', 'step']) take({ type });
    take({ type: 'source', source: [1, 2] });
    lines.push(`busy ${desk.busy}, session ${desk.session}`);
    turn();
  },
  'models that rest are counted until there are enough of each length': ({ take, until }) => {
    take({ type: 'source', source: [1, 2, 3] });
    take(begin(false));
    while (until('counted').length > 0);
    take({ type: 'pause' });
    until('counted');
  },
  'a step takes 20 ms: a turn ends when 60 are over': ({ take, until }) => {
    take(begin(true));
    take({ type: 'source', source: [4, 5] });
    for (let n = 0; n < 5; ++n) until('progress');
    take({ type: 'pause' });
    take({ type: 'play' });
    until('progress');
  },
  'steps one by one': ({ take, turn, until, desk, lines }) => {
    take(begin(false));
    take({ type: 'step' });
    lines.push(`busy ${desk.busy}`);
    until('reached');
    for (let n = 0; n < 9; ++n) turn();
    take({ type: 'step' });
    until('counted', 9);
    take({ type: 'play' });
    take({ type: 'step' });
    take({ type: 'source', source: [6] });
    until('spoken');
    take({ type: 'pause' });
    until('spoken');
    take({ type: 'source', source: [] });
    until('reached');
  },
  'another run ends that of before': ({ take, until }) => {
    take(begin(true));
    until('progress');
    take(begin(false, 8));
    take({ type: 'load', files, seed: 9, steps: 1500 });
    take({ type: 'play' });
    until('counted');
    take({ type: 'load', files, seed: 9, steps: 1499 });
    take({ type: 'play' });
    until('progress');
    until('progress');
    take({ type: 'step' });
  },
  'a whole run, from the first step to the last count': ({ take, until, desk }) => {
    take({ type: 'source', source: [3, 1, 4] });
    take(begin(true));
    while (desk.session.steps < 220) until('progress');
    take({ type: 'source', source: [] });
    while (!desk.session.isDone) until('progress');
    assert.equal(desk.session.steps, web.STEPS);
    take({ type: 'play' });
    until('counted');
    take({ type: 'step' });
    while (until('counted').length > 0);
  },
};

/** Of many lines every fiftieth, and a hash of those up to the next. */
const folded = (lines) =>
  lines.flatMap((line, i) =>
    i % 50 === 0 ? [`${line} … ${hashed(lines.slice(i, i + 50).join('\n'))}`] : [],
  );

test('recurrence: what is asked of models, and what is told of them, in every course of orders', () => {
  const all = Object.entries(COURSES).flatMap(([title, run]) => {
    const one = newDesk({ stepTime: /20 ms/.test(title) ? 20 : 0 });
    run(one);
    const { lines } = one;
    return ['', `=== ${title}`, ...(lines.length > 120 ? folded(lines) : lines)];
  });
  requireWritten('recurrence-training', all);
});

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
  assert.throws(() => session.ask('gru', 5), /^RangeError: no sequences of 5 are asked for$/);
  assert.equal(session.save('gru'), 'weights of gru 1');
});

test('recurrence: every length has a stream of sequences of its own, which goes on', () => {
  const { qkv, calls } = newEngine();
  const session = web.Session.begin(qkv, 1);
  const asked = (kind, length) => {
    calls.length = 0;
    session.ask(kind, length);
    return calls[0].replace(/^.*: /, '');
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

test('recurrence: what is timed has random weights of its width, the same at every length', () => {
  const { qkv, made, now } = newTimed(() => 9);
  web.timings(qkv, now, [32]).next();
  const numbers = (shape, seed) => ({
    data: random(shape, seed).data.map((x) => x * Math.sqrt(3 / shape[0])),
    shape,
  });
  const [layer, x, { unit }] = made;
  const [wq, wk, wv, wo] = [3, 4, 5, 6].map((seed) => numbers([64, 64], seed));
  assert.deepEqual(layer.config, { dModel: 64, numHeads: 4 });
  assert.deepEqual(layer.weights, { wq, wk, wv, wo });
  assert.deepEqual(x.shape, [1, 32, 64]);
  assert.deepEqual(x.data, random([1, 32, 64], 7).data);
  const zeros = new Float32Array(192);
  const [wx, wh] = [1, 2].map((seed) => numbers([64, 192], seed));
  assert.deepEqual(unit, { wx, wh, bx: zeros, bh: zeros });
  assert.deepEqual(web.LENGTHS, [16, 32, 64, 128, 256, 512, 1024, 2048]);
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
