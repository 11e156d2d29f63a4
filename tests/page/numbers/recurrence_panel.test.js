// The panel on recurrence in a window without a browser, through all that may happen to it: what it says, what it asks its worker
// for, what it draws anew and what it leaves.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { workers, told, rest, leave } = openWindow();
let calm = false;
const media = globalThis.matchMedia;
globalThis.matchMedia = (asked) =>
  asked === '(prefers-reduced-motion: reduce)' ? { get matches() { return calm; } } : media(asked); // prettier-ignore
/** Firefox has it since 105. */
delete globalThis.OffscreenCanvas;
globalThis.ImageData = class {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height });
  }
};
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/recurrence/panel',
  'features/recurrence/shared/model_configs',
  'features/recurrence/page/trained_files',
  'state/state',
);

const initial = web.initialState('en');
beforeEach(() => {
  calm = false;
  mock.method(Math, 'random', () => 0.375);
});
afterEach(() => {
  mock.restoreAll();
  web.setLanguage('en');
  leave();
});

// ---- what a worker tells ----

const byKind = (make) => Object.fromEntries(web.KINDS.map((kind, i) => [kind, make(i, kind)]));
const progress = (more = {}) => ({
  ...{ type: 'progress', origin: 'here', seed: initial.recurrenceSeed, running: false },
  ...{ done: false, ...more },
  learners: byKind((i) => ({
    parameters: 12345 + 100 * i,
    ...{ steps: 40 + i, loss: 1.23456 / (1 + i), accuracy: 0.456 + 0.1 * i, milliseconds: 4 * i },
    ...more.learner,
  })),
});
const digitsOf = (text) => Array.from(text, Number);
const spoken = (source = initial.recurrenceSource, steps = 40) => ({
  ...{ type: 'spoken', steps, source: digitsOf(source) },
  said: byKind((heads) => {
    const rows = source.length + 1;
    const cells = rows * source.length;
    const weights = Float32Array.from({ length: heads * cells }, (_, i) => (i % 97) / 96);
    const ids = digitsOf(source).reverse();
    if (heads === 1) ids[1] = (ids[1] + 1) % 10;
    return { ids: heads === 2 ? [...ids, 3] : ids.slice(heads - 1), heads, rows, weights };
  }),
});
const tallies = (right, last = 40) =>
  Array.from({ length: 19 }, (_, i) => {
    const length = 4 + 2 * i;
    const sequences = length > last ? 0 : 8;
    return { length, sequences, right: Math.round(sequences * length * right), whole: 0 };
  });
const counted = (steps = 40) => ({
  ...{ type: 'counted', steps },
  tallies: byKind((i) => tallies(1 - 0.3 * i)),
});
const norms = (factor) => byKind((i) => Float64Array.from({ length: 40 }, (_, n) => (factor + i / 10) ** n)); // prettier-ignore
const reached = () => ({ type: 'reached', steps: 40, first: norms(0.5), now: norms(0.75) });
const spread = (median) => ({ median, low: 0.8 * median, high: 1.5 * median });
const timings = (count) =>
  Array.from({ length: count }, (_, i) => ({
    length: 2 ** (4 + i),
    gru: spread(0.01 * 2 ** i),
    attention: spread(0.002 * 4 ** i),
  }));
const timed = (part, count = 8) => ({
  ...{ type: 'timed', variant: 'simd', part },
  timings: count === null ? null : timings(count),
});

// ---- the panel ----

/** A panel on the page in this state; `orders` are what its worker was told since the last time, and `asked` what it asks for. */
async function open(patch = {}) {
  const panel = document.createElement('qkv-panel-recurrence');
  const changes = [];
  panel.addEventListener('state-change', ({ detail }) => changes.push(detail));
  document.body.append(panel);
  let state = { ...initial, ...patch };
  let look = 1;
  const update = (more = {}) => {
    state = { ...state, ...more };
    panel.update({ state, look });
  };
  update();
  await rest();
  const one = (selector) => panel.querySelector(selector);
  const text = (selector) => one(selector).textContent;
  return {
    ...{ panel, update, one, text },
    look: () => (look += 1),
    press: async (name) => (one(`[data-press=${name}]`).click(), rest()),
    say: async (...news) => {
      for (const message of news) workers.at(-1).say(message);
      await rest();
    },
    said: () => text('[data-said]'),
    badge: () => text('.recurrence-badge'),
    play: () => text('[data-press=play]'),
    asked: () => changes.splice(0),
    orders: () =>
      told.splice(0).map((order) => (typeof order === 'string' ? order : Object.values(order).flat().join(' '))),
  };
} // prettier-ignore
const begun = { type: 'begun' };
/** All that a worker has told in the course of a run. */
const all = (more) => [begun, progress(more), spoken(), counted(), reached()];
const SOURCE = 'source 3 1 4 1 5 9 2 6 5 3 5 8 9 7 9'; // prettier-ignore

test('recurrence: each model says its digits, those that are wrong underlined', async () => {
  const { press, say, panel } = await open();
  await press('step');
  await say(begun, progress(), spoken('314'));
  const rows = [...panel.querySelectorAll('.said-row')].map((row) => [
    [...row.querySelectorAll('.said-digit')].map(({ textContent, classList }) => textContent + (classList.contains('said-wrong') ? '!' : '')).join(' '),
    row.querySelector('.said-note').textContent,
  ]);
  assert.deepEqual(rows, [
    ['4 1 3', ''],
    ['3! ·! ·!', '0 of 3 right'],
    ['4 2! 3', '2 of 3 right'],
    ['4 1 3 3!', '3 of 3 right'],
  ]);
}); // prettier-ignore

const trained = () => {
  const loaded = { origin: 'before', done: true, learner: { steps: 1500 } };
  return [begun, progress(loaded), counted(1500), reached(), spoken()];
};

test('recurrence: weights that were trained before', async () => {
  const files = { gru: 5, gru_attention: 6, transformer: 7 };
  const fetched = [];
  mock.method(globalThis, 'fetch', (url) => {
    const name = url.replace(/^.*\//, '').replace('.safetensors', '');
    fetched.push(name);
    const buffer = new ArrayBuffer(files[name]);
    return Promise.resolve({ ok: true, arrayBuffer: () => Promise.resolve(buffer) });
  });
  const { press, say, badge, play, orders, one, look, update } = await open();
  await press('load');
  assert.deepEqual([fetched, badge()], [Object.keys(files), 'loading …']);
  const [load] = told.splice(2);
  const sizes = Object.entries(load.files).map(([name, { length }]) => [name, length]);
  assert.deepEqual(sizes, Object.entries(files));
  assert.deepEqual([load.type, load.seed, load.steps], ['load', 1, 1500]);
  assert.deepEqual(orders(), ['recurrence', SOURCE]);
  await press('load');
  assert.deepEqual(orders(), [], 'it waits');
  await say(...trained());
  assert.match(badge(), /^pretrained: npm run train -- recurrence, 1500 steps, seed 1/);
  assert.equal(one('[data-model=gru] td:nth-child(4)').textContent, '–', 'of files no speed is known');
  web.setLanguage('zh');
  look();
  update({ language: 'zh' });
  assert.match(badge(), /\p{Script=Han}/u);
  web.setLanguage('en');
  look();
  update({ language: 'en' });
  assert.equal(play(), 'Train all three here');
  await press('play');
  assert.deepEqual(orders(), [SOURCE, 'begin 1 true']);
}); // prettier-ignore

test('recurrence: what is still told of the models of before is not shown of those that follow', async () => {
  const { press, say, badge, one, orders } = await open();
  mock.method(globalThis, 'fetch', () =>
    Promise.resolve({ ok: true, arrayBuffer: () => Promise.resolve(new ArrayBuffer(1)) }),
  );
  await press('load');
  await say(...trained());
  const shown = () => [
    !one('.recurrence-reading').hidden,
    !one('.recurrence-learned').hidden,
    one('[data-chart=accuracy] .recurrence-words').textContent !== '',
  ];
  assert.deepEqual(shown(), [true, true, true]);
  orders();
  await press('play');
  assert.deepEqual(orders(), [SOURCE, 'begin 1 true'], 'the digits are asked of them, too');
  // The worker answers the digits, and ends the turn that it is in, before it hears of other models.
  const [, ...late] = trained();
  await say(...late);
  assert.deepEqual([badge(), ...shown()], ['starting …', false, false, false]);
  await say(begun, progress({ running: true, learner: { steps: 0 } }));
  assert.match(badge(), /^trained here: 0 of 1500 steps/);
  assert.deepEqual(shown(), [false, true, false]);
  // While files are on their way the models that there are go on, and stay if the files do not come.
  mock.method(globalThis, 'fetch', () => Promise.resolve({ ok: false, status: 404 }));
  one('[data-press=load]').click();
  await say(progress({ running: true, learner: { steps: 9 } }));
  assert.match(badge(), /^This did not work\. A file that it needs could not be fetched/);
  assert.equal(one('[data-model=gru] td:nth-child(3)').textContent, '9');
  await press('play');
  assert.deepEqual(orders(), ['pause'], 'not begun again');
});

test('recurrence: weights that cannot be fetched, and a worker that fails', async () => {
  const { press, say, badge, play, said, one, orders } = await open();
  mock.method(globalThis, 'fetch', (url) =>
    Promise.resolve({ ok: !/gru_/.test(url), status: 404, arrayBuffer: () => new ArrayBuffer(1) }),
  );
  await press('load');
  assert.match(badge(), /^This did not work\. A file that it needs could not be fetched/);
  assert.deepEqual([said(), orders()], [badge(), []]);
  await press('step');
  assert.deepEqual(orders(), ['recurrence', SOURCE, 'begin 1 false', 'step']);
  await say(...all());
  assert.equal(play(), 'Resume');
  const failed = { type: 'failed', failure: { code: 'out_of_memory', message: 'no room' } };
  await say(failed);
  assert.deepEqual(orders(), ['ended']);
  assert.match(badge(), /^This did not work\. The browser gave it no more memory/);
  assert.deepEqual([play(), one('.recurrence-models').hidden], ['Train all three here', true]);
  await press('measure');
  assert.deepEqual(orders(), ['recurrence', 'measure']);
  assert.equal(badge(), 'no weights yet: press a button');
  await say(failed);
  assert.equal(one('[data-press=measure]').textContent, 'Measure');
  await press('play');
  await say(begun, progress({ running: true }));
  orders();
  workers.at(-1).dispatchEvent(new Event('error'));
  await rest();
  assert.deepEqual([orders(), play()], [['ended'], 'Train all three here']);
  await press('play');
  assert.deepEqual(orders(), ['recurrence', SOURCE, 'begin 1 true'], 'another worker begins');
});

test('recurrence: what passes cost', async () => {
  const { press, say, said, one, text, orders, look, update } = await open();
  const button = () => [text('[data-press=measure]'), one('[data-press=measure]').disabled];
  const words = () => text('[data-chart=cost] .recurrence-words');
  assert.deepEqual(button(), ['Measure', false]);
  await press('measure');
  assert.deepEqual(
    [orders(), button()],
    [
      ['recurrence', 'measure'],
      ['Measure again', true],
    ],
  );
  for (const [part, count, percent] of [[0.129, 1, 12], [0.5, 8, 50]]) {
    await say(timed(part, count));
    assert.equal(text('.recurrence-measuring'), `measuring: ${percent}%`);
    assert.equal(words(), '', 'not before the end');
  } // prettier-ignore
  await say(timed(1, null));
  assert.deepEqual(button(), ['Measure again', false]);
  assert.match(
    words(),
    /GRU 1\.00 ± 0\.00, attention 2\.00 ± 0\.00\..*From about T = 80 on, the GRU is faster/,
  );
  const first = words();
  assert.equal(said(), first);
  await press('measure');
  await say(timed(1, 8), progress());
  web.setLanguage('zh');
  look();
  update({ language: 'zh' });
  assert.match(words(), /\p{Script=Han}/u);
  assert.doesNotMatch(said(), /\p{Script=Han}/u, 'it is said once');
});
