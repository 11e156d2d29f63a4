// @about web/src/features/block/
// The parts of the panel on blocks in a window without a browser: what they show of a block that is handed to them, cell by cell, what
// they ask for, and what they leave as it is.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { differences, enter, fire, linesOf, requireWritten } from '../support/operate.js';
import { drawnOn, hashed, openWindow, SIZE } from '../support/window.js';

const { workers, told, rest, layOut, leave, delays } = openWindow();
const ramps = [];
globalThis.ImageData = class {
  constructor(width, height) {
    const set = (ramp) => ramps.push(`${width} x ${height} ${hashed(String(ramp))}`);
    Object.assign(this, { width, height, data: { set } });
  }
};
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'panel',
    'shared/constants',
    'state',
    'page/diagram_part',
    'page/tap_map_part',
    'page/mixing_part',
    'page/cross_part',
    'page/depth_part',
  ].map((name) => `features/block/${name}`),
  'state/state',
);
const initial = web.initialState('en');
afterEach(() => {
  web.setLanguage('en');
  leave();
});

// ---- a block ----

const TOKENS = ['The', 'cat', 'sat'];
const ramp = (count, from = 1) => Float32Array.from({ length: count }, (_, i) => from + i / 8);
/** A block as the page's worker tells of it. */
function blockOf(more = {}, shown = {}) {
  const norms = web.TAPS.map((id, i) => [id, { cols: 64 + i, norms: ramp(3, i + 1) }]);
  return {
    ...{ place: 'pre', type: 'layer', tokens: TOKENS, difference: 0 },
    norms: Object.fromEntries(norms),
    heads: [ramp(3), ramp(3, 2), ramp(3, 0.5)],
    shown: {
      ...{ id: 'sum1', head: 1, mask: 'causal', rows: 3, cols: 4 },
      ...{ data: Float32Array.from({ length: 12 }, (_, i) => i - 5), range: 6, ...shown },
    },
    cross: {
      ...{ head: 1, rows: TOKENS, cols: ['A', 'dog'] },
      weights: Float32Array.of(0.25, 0.75, 0.5, 0.5, 0.875, 0.125),
    },
    ...more,
  };
}
const weights = { ...{ id: 'weights', cols: 3 }, data: ramp(9, 0).map((x) => x / 2), range: 0.5 };
const CONSTRUCTED = { source: 'constructed', trainedHeads: null };
const listOf = (tokens) => ({ tokens, total: tokens.length });
const viewOf = (block, more = {}) => ({
  ...{ state: initial, look: 1, query: 1, heads: CONSTRUCTED, list: listOf(TOKENS) },
  ...{ engine: { kind: 'ready' } },
  frame: block && { block, request: { layer: { tokens: TOKENS } } },
  ...more,
});

const record = [];
function put(element) {
  const part = document.createElement(element);
  const asked = [];
  for (const name of ['state-change', 'canvas-given']) {
    part.addEventListener(name, ({ detail }) =>
      asked.push(`${name} ${JSON.stringify(detail, (_, value) => value?.localName ?? value)}`),
    );
  }
  document.body.append(part);
  let before = [];
  const note = (title, act) => {
    act();
    const now = linesOf(part);
    const other = before.length === 0 ? now : differences(before, now);
    const lines = other.length > 30 ? [...other.slice(0, 20), hashed(other.join('\n'))] : other;
    record.push('', `=== ${element}: ${title}`, ...asked.splice(0), ...told.splice(0).map((message) => `worker: ${JSON.stringify(message)}`)); // prettier-ignore
    record.push(...ramps.splice(0).map((image) => `legend ${image}`), ...lines);
    before = now;
  };
  const one = (selector) => part.querySelector(selector);
  return { part, one, note, asked, show: (title, ...view) => note(title, () => part.update(viewOf(...view))) }; // prettier-ignore
}
const inChinese = { look: 9, state: { ...initial, language: 'zh' } };

test('block: the way of a token', () => {
  const { part, show, one, asked } = put('qkv-block-diagram');
  show('before a frame', null);
  show('a block', blockOf());
  const row = one('.block-tap');
  part.update(viewOf(blockOf()));
  assert.equal(one('.block-tap'), row, 'rows stay');
  show('another query', blockOf(), { query: 2 });
  show('a query that is cut off', blockOf(), { query: 3 });
  show('no query', blockOf(), { query: -1 });
  const near = blockOf({ place: 'post', difference: 1.25e-7 });
  const post = { state: { ...initial, blockNorm: 'post', blockType: 'rms', blockTap: 'norm2' } };
  show('post-norm', near, post);
  show('post-norm before its frame', blockOf(), post);
  const { norms } = blockOf();
  const hidden = { ...norms, hidden: { cols: 256, norms: ramp(3, 7) } };
  show('a query of 0', blockOf({ norms: hidden }), { query: 0 });
  web.setLanguage('zh');
  show('in Chinese', blockOf(), inChinese);
  web.setLanguage('en');
  for (const [name, value] of [
    ...[['block-place', 'post'], ['block-place', 'pre'], ['block-type', 'rms']], // prettier-ignore
    ...[['block-type', 'layer'], ['block-tap', 'hidden'], ['block-tap', 'input']], // prettier-ignore
  ]) {
    const radio = one(`[name=${name}][value=${value}]`);
    radio.checked = true;
    fire(radio, 'change');
  }
  const other = document.createElement('input');
  for (const [name, value] of [
    ['block-place', 'layer'],
    ['block-type', 'sum1'],
    ['block-tap', 'pre'],
    ['other', 'pre'],
    ['other', 'rms'],
    ['other', 'sum1'],
  ]) {
    // prettier-ignore
    Object.assign(other, { name, value });
    part.append(other);
    fire(other, 'change');
  }
  fire(one('.block-rows'), 'change');
  const changes = [['blockNorm', 'post'], ['blockNorm', 'pre'], ['blockType', 'rms'], ['blockType', 'layer'], ['blockTap', 'hidden'], ['blockTap', 'input']]; // prettier-ignore
  assert.deepEqual(
    asked,
    changes.map(([field, value]) => `state-change {"${field}":"${value}"}`),
  );
});

/** What a matrix says of itself and of all its cells. */
function cellsOf({ matrix }) {
  const { model } = matrix;
  const { rows, cols, name, home, rowHeight, bracket, look, rowLabels, colLabels } = model;
  const cells = [];
  for (let row = 0; row <= rows; ++row) {
    for (let col = 0; col <= cols; ++col) cells.push(model.describe({ row, col }));
  }
  const places = JSON.stringify({ home, rowHeight, bracket, look });
  const told = cells.length > 20 ? [...cells.slice(0, 6), hashed(cells.join('\n'))] : cells;
  return [name, `${rowLabels} | ${colLabels} | ${places}`, ...told, drawnOn(matrix.canvas)];
}
const point = (part, row, col) => {
  const { matrix } = part;
  Object.defineProperty(matrix, 'shown', { value: row === null ? null : { row, col }, configurable: true }); // prettier-ignore
  fire(matrix, 'cell-shown', CustomEvent, { detail: {} });
  delete matrix.shown;
};

test('block: the matrix at a tap', async () => {
  const { part, show, note } = put('qkv-block-map');
  await rest();
  show('before a frame', null);
  assert.equal(part.matrix.model, null);
  for (const [title, block, more] of [
    ['a sum', blockOf()],
    ['a sum of zeros', blockOf({}, { data: new Float32Array(12), range: 0 })],
    ['many rows', blockOf({}, { rows: 20, data: new Float32Array(80) })],
    ['as many rows as are high', blockOf({}, { rows: 16, data: new Float32Array(64) })],
    ['weights', blockOf({}, weights)],
    ['weights through a window', blockOf({}, { ...weights, mask: 'window' })],
    ['weights without a mask', blockOf({}, { ...weights, mask: 'none' }), { query: 7 }],
    ['no query', blockOf({}, { ...weights, mask: 'none', head: 3 }), { query: -1 }],
    ['a random layer', blockOf({}, { ...weights, head: 2 }), { heads: { ...CONSTRUCTED, source: 'random' } }], // prettier-ignore
    ['in Chinese', blockOf(), inChinese],
  ]) {
    web.setLanguage(more === inChinese ? 'zh' : 'en');
    show(title, block, more);
    record.push(...cellsOf(part), JSON.stringify(part.surfaces()));
    for (const [row, col] of [[0, 0], [1, 2], [2, 1], [2, 2], [8, 8], [null]]) {
      // prettier-ignore
      note(`${title}, points at ${row} ${col}`, () => point(part, row, col));
    }
  }
  const labels = () => part.matrix.model.colLabels;
  part.update(viewOf(blockOf()));
  const known = labels();
  part.update(viewOf(blockOf(), { look: 3 }));
  assert.equal(labels(), known, 'labels that are the same ones need not be drawn again');
  const { model } = part.matrix;
  const block = blockOf();
  part.update(viewOf(block));
  const drawn = part.matrix.model;
  assert.notEqual(drawn, model);
  part.update(viewOf(block));
  assert.equal(part.matrix.model, drawn);
  show('no block any more', null);
  assert.equal(part.matrix.model, null);
  point(part, 0, 0);
});

test('block: what W_O makes of heads', () => {
  const { part, show, one } = put('qkv-block-mixing');
  show('before a frame', null);
  const block = blockOf();
  show('a block', block);
  const row = one('tbody tr');
  part.update(viewOf(block));
  assert.equal(one('tbody tr'), row);
  part.update(viewOf(null));
  assert.equal(one('tbody tr'), row, 'of before, until there is another');
  show('another query', block, { query: 0 });
  show('a query that is cut off', block, { query: 3 });
  show('another head', blockOf({}, { head: 0 }), { heads: { ...CONSTRUCTED, source: 'random' } });
  web.setLanguage('zh');
  show('in Chinese', block, inChinese);
});

test('block: one sentence reads another', async () => {
  const { part, show, note, one } = put('qkv-block-cross');
  await rest();
  show('before a frame', null);
  const { cross } = blockOf();
  for (const [title, block, more] of [
    ['a sentence', blockOf()],
    ['no query', blockOf(), { query: -1 }],
    ['a query beyond', blockOf(), { query: 5 }],
    ['an empty sentence', blockOf({ cross: { ...cross, cols: [], weights: new Float32Array() } })],
    ['other weights', blockOf({ cross: { ...cross, head: 2, weights: Float32Array.of(0, 0, 0.5, 0.5, 1, 0) } })], // prettier-ignore
    ['written by the reader', blockOf(), { state: { ...initial, blockContext: 'x y' }, query: 2 }],
    ['in Chinese', blockOf(), inChinese],
  ]) {
    web.setLanguage(more === inChinese ? 'zh' : 'en');
    show(title, block, more);
    if (!part.matrix.model) continue;
    record.push(...cellsOf(part), JSON.stringify(part.surfaces()));
    for (const [row, col] of [[0, 1], [2, 0], [5, 5], [null]]) {
      // prettier-ignore
      note(`${title}, points at ${row} ${col}`, () => point(part, row, col));
    }
  }
  const field = one('#block-context');
  note('typing', () => {
    field.focus();
    field.value = 'ab';
    fire(field, 'input');
  });
  part.update(viewOf(blockOf(), { look: 20 }));
  assert.equal(field.value, 'ab', 'what is typed stays');
  field.blur();
  part.update(viewOf(blockOf(), { look: 21 }));
  assert.equal(field.value, web.CONTEXTS.en);
  const [block, at] = [blockOf(), { look: 22 }];
  part.update(viewOf(block, at));
  const { model } = part.matrix;
  part.update(viewOf(block, at));
  assert.equal(part.matrix.model, model, 'the same again');
  show('no block any more', null);
  assert.equal(part.matrix.model, null);
  note('points at nothing', () => point(part, 0, 0));
});

test('block: the panel, and what stands there instead of it', () => {
  const { show, part } = put('qkv-panel-block');
  const long = listOf(Array.from({ length: 70 }, (_, i) => `w${i}`));
  const stateOf = (more) => ({ state: { ...initial, ...more } });
  const shown = [];
  for (const [title, block, more] of [
    ['before a frame', null, { engine: { kind: 'loading' } }],
    ['a block', blockOf()],
    ['as many tokens as a block reads', blockOf(), { list: listOf(long.tokens.slice(0, 64)) }],
    ['more tokens', blockOf(), { list: long, ...stateOf({ source: 'random', seed: 7 }) }],
    ['no tokens', blockOf(), { list: listOf([]) }],
    ['the reader’s numbers', null, stateOf({ source: 'yours' })],
    ['a trained model', null, stateOf({ source: 'trained' })],
    ['an engine that failed', blockOf(), { engine: { kind: 'failed' } }],
    ['a failure and nothing to show', null, { engine: { kind: 'failed' }, ...stateOf({ source: 'yours' }) }], // prettier-ignore
  ]) {
    part.update(viewOf(block, more));
    const of = (selector) => part.querySelector(selector);
    const cards = Array.from(part.querySelectorAll('.card'), ({ hidden }) => hidden);
    shown.push(title, `${cards} | ${of('.placeholder').hidden} ${of('.placeholder').textContent}`);
    shown.push(of('.block-weights').textContent, of('.block-run').disabled);
  }
  record.push('', '=== the panel', ...shown.map(String), JSON.stringify(Object.keys(part.surfaces()))); // prettier-ignore
  show('as it is then', blockOf());
});

// ---- stacks ----

const band = (from, factor) => {
  const middle = [0, 1, 2].map((l) => from * factor ** l);
  return { middle, low: middle.map((x) => 0.8 * x), high: middle.map((x) => 1.3 * x) };
};
const curves = (from) => ({ stream: band(from, 1.5), gradient: band(1 / from, 0.7) });
const resultOf = (request) => ({
  type: 'result',
  result: { request, curves: { pre: curves(2), post: curves(3) } },
});

test('block: the curves of stacks, from the press to another one', async () => {
  const { show, note, one, part, asked } = put('qkv-block-depth');
  const stateOf = (more) => ({ state: { ...initial, ...more } });
  let look = 1;
  const press = (name) => note(`presses ${name}`, () => one(name).click());
  note('without a view', () => {
    one('.block-run').click();
    one('.block-draw').click();
  });
  show('at first', null);
  for (const more of [
    stateOf({ source: 'yours' }),
    stateOf({ source: 'trained' }),
    { list: listOf([]) },
  ]) {
    // prettier-ignore
    show(`nothing to compute of ${look}`, null, { ...more, look: ++look });
  }
  show('a layer', null, { ...stateOf({ blockDepth: 3 }), look: ++look });
  press('.block-run');
  const [worker] = workers;
  const { request } = worker.heard.at(-1);
  const say = (message) => note(`hears ${JSON.stringify(message).slice(0, 60)}`, () => workers.at(-1).say(message)); // prettier-ignore
  say({ type: 'progress', done: 0.126 });
  say(resultOf(request));
  const keep = one('[data-figure=stream] svg');
  part.update(viewOf(null, { ...stateOf({ blockDepth: 3 }), look }));
  assert.equal(one('[data-figure=stream] svg'), keep, 'the same again');
  assert.equal(worker.heard.length, 2);
  // A slider that moves: what is asked for is what it rests at.
  for (const blockDepth of [4, 5]) part.update(viewOf(null, { ...stateOf({ blockDepth }), look }));
  assert.equal(worker.heard.length, 2);
  await rest();
  assert.deepEqual(worker.heard.slice(2).map((message) => message.request.depth), [5]); // prettier-ignore
  part.update(viewOf(null, { ...stateOf({ blockDepth: 5 }), look: ++look }));
  await rest();
  assert.equal(worker.heard.length, 3, 'another look is no other question');
  part.update(viewOf(null, { ...stateOf({ blockDepth: 6, source: 'yours' }), look }));
  await rest();
  assert.equal(worker.heard.length, 3, 'of no layer nothing is asked');
  show('in Chinese', null, { ...stateOf({ blockDepth: 5, language: 'zh' }), look: ++look });
  say({ type: 'failed', failure: { code: 'out_of_memory', message: 'no room' } });
  part.update(viewOf(null, { ...stateOf({ blockDepth: 7 }), look }));
  await rest();
  assert.equal(worker.heard.length, 3, 'after a failure it waits for a press');
  press('.block-run');
  say({ type: 'failed', failure: { code: 'unexpected', message: 'it broke' } });
  press('.block-run');
  say({ type: 'result', result: null });
  press('.block-run');
  const random = { ...request, type: 'rms', rule: 'scaled', seed: 30, depth: 2, layer: { ...request.layer, source: 'random', seed: 8 } }; // prettier-ignore
  say(resultOf(random));
  for (const blockSeed of [1, 9994, 9995]) {
    part.update(viewOf(null, { ...stateOf({ blockSeed }), look: ++look }));
    note(`others after seed ${blockSeed}`, () => one('.block-draw').click());
  }
  await rest();
  note('a slider', () => {
    one('#block-depth').value = '9';
    fire(one('#block-depth'), 'input');
  });
  note('a rule', () => enter(one('#block-rule'), 'scaled'));
  asked.length = 0;
  note('no rule', () => enter(one('#block-rule'), 'none'));
  const many = listOf(Array.from({ length: 70 }, (_, i) => `w${i}`));
  part.update(viewOf(null, { list: many, look: ++look }));
  one('.block-run').click();
  assert.equal(workers.at(-1).heard.at(-1).request.layer.tokens.length, 64);
  workers.at(-1).say(resultOf(random));
  layOut({ ...SIZE, width: 300 });
  await rest();
  assert.equal(one('[data-figure=gradient] svg').getAttribute('width'), '300');
  layOut({ width: 0, height: 0 });
  const small = one('[data-figure=stream] svg');
  part.update(viewOf(null, { look: ++look }));
  assert.equal(one('[data-figure=stream] svg'), small, 'without a size nothing is drawn');
  layOut(SIZE);
  await rest();
  assert.equal(one('[data-figure=stream] svg').getAttribute('width'), '640');
  told.length = 0;
});

test('block: all of it is as it is written down', () => {
  requireWritten('block-parts', [...record, '', `delays ${[...delays].sort()}`]);
});
