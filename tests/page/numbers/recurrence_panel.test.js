// @about web/src/features/recurrence/
// The panel on recurrence in a window without a browser, through all that may happen to it: what it says, what it asks its worker
// for, what it draws anew and what it leaves, as tests/page/operated/recurrence-panel.txt has it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { differences, enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { drawnOn, hashed, openWindow, SIZE } from '../support/window.js';

const { workers, told, rest, layOut, leave, delays } = openWindow();
let calm = false;
const media = globalThis.matchMedia;
globalThis.matchMedia = (asked) =>
  asked === '(prefers-reduced-motion: reduce)' ? { get matches() { return calm; } } : media(asked); // prettier-ignore
/** What stands for a canvas that is not on the page: what it was given to paint. */
const painted = [];
const create = document.createElement.bind(document);
document.createElement = (name, ...more) => {
  const made = create(name, ...more);
  if (name !== 'canvas') return made;
  const note = (image, x, y) => painted.push([made.width, made.height, image.width, image.height, x, y, hashed(String(image.data))].join(' ')); // prettier-ignore
  const own = made.getContext.bind(made);
  made.getContext = (...kind) =>
    new Proxy(own(...kind), { get: (of, what) => (what === 'putImageData' ? note : of[what]) });
  return made;
};
/** Firefox has it since 105. */
delete globalThis.OffscreenCanvas;
globalThis.ImageData = class {
  constructor(data, width, height) {
    Object.assign(this, { data, width, height });
  }
};
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'features/recurrence/panel',
    'features/recurrence/shared/model_configs',
    'features/recurrence/page/attention_maps',
  ],
  ...['features/recurrence/page/trained_files', 'state/state'],
);

const initial = web.initialState('en');
const record = [];
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

/** Of many lines the first ones, and a hash of the others. */
const shortened = (lines) =>
  lines.length <= 24
    ? lines
    : [...lines.slice(0, 16), `… ${lines.length - 16} lines ${hashed(lines.slice(16).join('\n'))}`];

/** A panel on the page in this state, and lines of what came of everything that was done to it. */
function open(title, patch = {}) {
  const panel = document.createElement('qkv-panel-recurrence');
  const changes = [];
  panel.addEventListener('state-change', ({ detail }) => changes.push(JSON.stringify(detail)));
  document.body.append(panel);
  let state = { ...initial, ...patch };
  let look = 1;
  let before = [];
  record.push('', `=== ${title}`);
  const writtenDown = (message) =>
    JSON.stringify(message, (_, part) => (part?.buffer ? `${part.length} bytes` : part));
  async function note(what, act) {
    await act();
    await rest();
    const now = linesOf(panel);
    const messages = told.splice(0).map((message) => `worker: ${writtenDown(message)}`);
    const asked = changes.splice(0).map((detail) => `asks: ${detail}`);
    const maps = painted.splice(0).map((map) => `paints: ${map}`);
    const news = shortened(before.length === 0 ? now : differences(before, now));
    record.push('', `== ${what}`, ...asked, ...messages, ...maps, ...news);
    before = now;
  }
  const update = (more = {}) => {
    state = { ...state, ...more };
    panel.update({ state, look });
  };
  const one = (selector) => panel.querySelector(selector);
  return {
    ...{ panel, note, update, one },
    look: () => (look += 1),
    begin: () => note('at first', () => update()),
    /** Sets the state without telling of it. */
    press: (name) => note(`press ${name}`, () => one(`[data-press=${name}]`).click()),
    say: (...news) =>
      note(`hears ${news.map(({ type }) => type).join(', ')}`, () => {
        for (const message of news) workers.at(-1).say(message);
      }),
    set: (more) => note(`state ${JSON.stringify(more)}`, () => update(more)),
    said: () => one('[data-said]').textContent,
  };
}
/** All that a worker has told in the course of a run. */
const all = (more) => [progress(more), spoken(), counted(), reached()];

test('recurrence: a run of models, from the first press to its end', async () => {
  const { begin, press, say, set, said, one } = open('a run');
  await begin();
  await press('play');
  await press('play'); // nothing: it waits
  await press('step');
  await press('load');
  await say(progress({ running: true, learner: { loss: NaN, accuracy: NaN, milliseconds: NaN } }));
  const first = said();
  await say(...all({ running: true }));
  assert.equal(said(), first, 'numbers that change all the time are not said');
  await press('play');
  await say(progress({ learner: { steps: 55 } }));
  assert.notEqual(said(), first, 'a pause is');
  await say(progress({ learner: { steps: 77 } }));
  await press('step');
  await press('play');
  await say(progress({ running: true }));
  await set({ recurrenceSource: '271828' });
  await say(spoken('271828', 60));
  await set({ recurrenceHead: 0 });
  await set({ recurrenceSeed: 5 });
  await press('play');
  await say(progress());
  await press('step');
  await say(progress({ seed: 5, done: true }));
  await press('step');
  assert.equal(one('.recurrence-learned').hidden, true, 'what was known of other weights is gone');
});

test('recurrence: weights that were trained before', async () => {
  const files = { gru: 5, gru_attention: 6, transformer: 7 };
  const asked = [];
  mock.method(globalThis, 'fetch', (url) => {
    const name = url.replace(/^.*\//, '').replace('.safetensors', '');
    asked.push(name);
    const buffer = new ArrayBuffer(files[name]);
    return Promise.resolve({ ok: true, arrayBuffer: () => Promise.resolve(buffer) });
  });
  const { begin, press, say, note, look, update } = open('loading');
  await begin();
  await press('load');
  assert.deepEqual(asked, Object.keys(files));
  await press('load'); // nothing: it waits
  await say(progress({ origin: 'before', done: true, learner: { steps: 1500 } }));
  await say(counted(1500), reached(), spoken());
  await note('in Chinese', () => {
    web.setLanguage('zh');
    look();
    update({ language: 'zh' });
  });
  await press('play');
});

test('recurrence: weights that cannot be fetched, and a worker that fails', async () => {
  const { begin, press, say, note } = open('failures');
  await begin();
  mock.method(globalThis, 'fetch', (url) =>
    Promise.resolve({ ok: !/gru_/.test(url), status: 404, arrayBuffer: () => new ArrayBuffer(1) }),
  );
  await press('load');
  mock.method(globalThis, 'fetch', () => Promise.reject('no words'));
  await press('load');
  await press('step');
  await say(...all());
  const failed = { type: 'failed', failure: { code: 'out_of_memory', message: 'no room' } };
  await say(failed);
  await press('measure');
  await say(failed);
  await press('play');
  await say(progress({ running: true }));
  await press('measure');
  await note('the worker ends', () => workers.at(-1).dispatchEvent(new Event('error')));
  await press('step');
  await say(failed);
  await press('play');
  await say(failed, progress());
});

test('recurrence: what passes cost', async () => {
  const { begin, press, say, said, one, look, note, update } = open('measuring');
  await begin();
  await press('measure');
  await say(timed(0.129, 1));
  await say(timed(0.5, 8));
  assert.equal(one('[data-chart=cost] .recurrence-words').textContent, '', 'not before the end');
  await say(timed(1, null));
  const words = one('[data-chart=cost] .recurrence-words').textContent;
  assert.equal(said(), words);
  await press('measure');
  await say(timed(0.25, 2), progress());
  await say(timed(1, 8));
  const button = one('[data-press=measure]').textContent;
  await note('in Chinese', () => {
    web.setLanguage('zh');
    look();
    update({ language: 'zh' });
  });
  assert.notEqual(one('[data-press=measure]').textContent, button);
  assert.equal(said(), words, 'it is said once');
});

test('recurrence: fields of the panel', async () => {
  const { begin, note, one, update, panel, press, set } = open('fields');
  await begin();
  const [seed, source, head] = ['seed', 'source', 'head'].map((name) => one(`#recurrence-${name}`));
  assert.equal(source.maxLength, 40);
  for (const value of ['7', '', '0', '10000', '9999', '2.5']) {
    await note(`seed ${value}`, () => enter(seed, value));
  }
  for (const value of ['12a', '', '9'.repeat(50)]) {
    await note(`source ${value}`, () => enter(source, value));
  }
  await note('head 0', () => enter(head, '0'));
  await press('draw');
  mock.method(Math, 'random', () => 0.9999);
  await set({ recurrenceSource: '' });
  await press('draw');
  // What is being typed stays, and other spaces of the same digits do.
  source.value = '1 2x';
  update({ recurrenceSource: '12' });
  assert.equal(source.value, '1 2x');
  update({ recurrenceSource: '13' });
  assert.equal(source.value, '13');
  seed.focus();
  seed.value = '44';
  update({ recurrenceSeed: 3 });
  assert.equal(seed.value, '44');
  seed.blur();
  update({});
  assert.equal(seed.value, '3');
  assert.deepEqual(told, [], 'nobody has asked for models');
  fire(panel.querySelector('qkv-matrix'), 'surface-resized');
});

test('recurrence: a panel without a view asks for what is there at first', async () => {
  const { press, panel, one, say } = open('without a view');
  await press('draw');
  await press('step');
  await say(...all());
  assert.equal(one('.recurrence-badge').textContent, '');
  assert.deepEqual(await panel.figure(), await panel.figure());
});

test('recurrence: a plot is drawn again only where it would be another one', async () => {
  const { begin, press, say, one, update, look, panel } = open('what stays');
  await begin();
  await press('measure');
  await press('step');
  await say(...all(), timed(1));
  const charts = ['accuracy', 'reach', 'cost'].map((name) => `[data-chart=${name}] svg`);
  const places = [...charts, '.said-row'];
  const kept = (before) => places.filter((place, i) => one(place) === before[i]);
  const now = () => places.map((place) => one(place));
  let before = now();
  update();
  assert.deepEqual(kept(before), places, 'the same again');
  for (const [what, news, left] of [
    ['progress', progress({ running: true }), places],
    ['counted', counted(), places],
    ['reached', reached(), places],
    ['spoken', spoken(), charts],
    ['timed', timed(1), places],
    ['part', timed(0.5, null), places],
    ['part', timed(0.6, null), places],
    ['origin', progress({ origin: 'before' }), places],
  ]) {
    before = now();
    await say(news);
    assert.deepEqual(kept(before), left, what);
  }
  for (const [patch, left] of [
    [{ recurrenceHead: 0 }, charts],
    [{ language: 'zh' }, charts],
    [{ recurrenceSource: '12' }, charts],
    [{ recurrenceSeed: 12 }, places],
  ]) {
    before = now();
    update(patch);
    assert.deepEqual(kept(before), left, JSON.stringify(patch));
  }
  before = now();
  look();
  update();
  assert.deepEqual(kept(before), charts, 'colours of another look are those of the style sheet');
  before = now();
  layOut({ ...SIZE, width: 300 });
  await rest();
  assert.deepEqual(kept(before), ['.said-row'], 'another size');
  assert.equal(one(charts[0]).getAttribute('width'), '300');
  layOut({ width: 0, height: 0 });
  before = now();
  look();
  update();
  assert.deepEqual(kept(before), charts, 'nothing can be drawn');
  layOut(SIZE);
  await rest();
  assert.equal(one(charts[2]).getAttribute('width'), '640');
  assert.equal(panel.querySelectorAll('svg.plot').length, 3);
});

test('recurrence: however much is told, it is drawn once in a while, and for who wants calm less often', async () => {
  const { begin, press, one } = open('pauses');
  await begin();
  await press('step');
  const waits = [];
  const later = globalThis.setTimeout;
  globalThis.setTimeout = (act, delay) => waits.push([act, delay]);
  const say = (steps) => workers.at(-1).say(progress({ learner: { steps } }));
  const badge = () => one('.recurrence-badge').textContent;
  try {
    for (const steps of [1, 2, 3]) say(steps);
    assert.deepEqual(waits.map(([, delay]) => delay), [80]); // prettier-ignore
    calm = true;
    const [[act]] = waits.splice(0);
    globalThis.setTimeout = later;
    act();
    await rest();
    assert.match(badge(), /\b3 of 1500/);
    globalThis.setTimeout = (again, delay) => waits.push([again, delay]);
    for (const steps of [4, 5]) say(steps);
    assert.deepEqual(waits.map(([, delay]) => delay), [500]); // prettier-ignore
  } finally {
    globalThis.setTimeout = later;
  }
});

test('recurrence: maps are painted at the size of their canvas, and by nobody else', async () => {
  const { begin, press, say, one, panel } = open('maps');
  const outside = [];
  document.body.addEventListener('surface-resized', () => outside.push('told'));
  await begin();
  await press('step');
  await say(progress(), spoken('314'));
  outside.length = 0;
  const [attention, transformer] = panel.querySelectorAll('qkv-matrix');
  for (const [view, kind] of [
    [attention, 'gru_attention'],
    [transformer, 'transformer'],
  ]) {
    // prettier-ignore
    const { canvas, size, model } = view;
    assert.deepEqual([canvas.width, canvas.height], [size.width, size.height]);
    assert.equal(canvas.drawnWith.imageSmoothingEnabled, false);
    const cells = [];
    for (let row = 0; row < model.rows; ++row) cells.push(model.describe({ row, col: row % 3 }));
    record.push('', `== cells of ${kind}`, model.name, JSON.stringify(model.home), ...cells);
    record.push(`${model.rowLabels} | ${model.colLabels} | ${model.rowHeight} ${model.bracket}`);
    record.push(model.describe({ row: 9, col: 9 }), drawnOn(canvas));
  }
  attention.canvas.width = 1;
  fire(attention, 'surface-resized');
  assert.deepEqual([attention.canvas.width, outside.length], [attention.size.width, 0]);
  await say(spoken(''));
  panel.querySelector('[data-press=step]').click();
  await say(progress({ seed: 99 }));
  panel.querySelector('[data-press=play]').click();
  await rest();
  assert.equal(one('.recurrence-reading').hidden, true);
  assert.deepEqual([attention.model, transformer.model], [null, null]);
});

test('recurrence: files are those of their models', async () => {
  mock.method(globalThis, 'fetch', (url) =>
    Promise.resolve({
      ok: true,
      arrayBuffer: () => Promise.resolve(new TextEncoder().encode(url)),
    }),
  );
  const files = await web.trainedFiles();
  for (const kind of web.KINDS) {
    assert.match(
      new TextDecoder().decode(files[kind]),
      new RegExp(`/models/recurrence/${kind}\\.`),
    );
  }
  mock.method(globalThis, 'fetch', () => Promise.resolve({ ok: false, status: 503 }));
  await assert.rejects(web.trainedFiles(), /gru\.safetensors answered 503$/);
});

test('recurrence: all of it is as it is written down', () => {
  requireWritten('recurrence-panel', [...record, '', `delays ${[...delays].sort()}`]);
});
