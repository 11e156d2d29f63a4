// @about web/src/features/map/
// The map and its parts in Node, from frames that the test makes: what is shown, said and asked for in states that a page is
// seldom in, what a hand brings about, and what is not drawn again.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { frameOf, mapScene, REPORT, report, rowOf, tokensOf } from '../support/map_frames.js';
import { fire, requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
const { modules } = await import('../support/engine.js');
const web = await modules('features/map/panel', 'state/state');
customElements.define('qkv-panel-map', web.MapPanel);

const { viewOf, put } = mapScene({ ...web.initialState('en'), text: 'told by the list' });
afterEach(() => {
  leave();
  web.setLanguage('en');
  globalThis.devicePixelRatio = 1;
});

/** A map of 4 x 4 cells, whose cells are ten pixels wide. */
async function mapOf(inner) {
  const one = put('qkv-panel-map', inner);
  await rest();
  const plot = one.part.querySelector('.matrix-plot');
  const canvas = one.part.querySelector('.matrix-cells');
  canvas.getBoundingClientRect = () => ({ left: 0, top: 0, width: 40, height: 40 });
  const at = (row, col) => ({ clientX: 10 * col + 5, clientY: 10 * row + 5, pointerType: 'mouse' });
  return {
    ...one,
    hover: (row, col) => fire(plot, 'pointermove', PointerEvent, at(row, col)),
    click: (row, col) => fire(plot, 'click', MouseEvent, at(row, col)),
    key: (name) => fire(plot, 'keydown', KeyboardEvent, { key: name }),
  };
}

test('map: from the first frame on', async () => {
  const { part, lines, note, show } = await mapOf();
  const loading = { engine: { kind: 'loading' }, frame: null, list: { tokens: tokensOf(4) } };
  show('before a frame', loading);
  for (const name of ['scores', 'log', 'weights']) {
    show(`before a frame, ${name}`, { ...loading, state: { show: name } });
  }
  const frame = frameOf();
  const list = { tokens: frame.request.layer.tokens };
  const state = {};
  const view = viewOf({ frame, state, list });
  note('the first frame', () => part.update(view));
  note('the same again', () => part.update(view));
  show('its report', { frame, list, report: REPORT });
  show('another state', { frame, list, state: { head: 3 }, report: REPORT });
  show('a frame of other words', { frame, list: { tokens: [...tokensOf(3), 'else'] } });
  show('an empty text', { frame, list: { tokens: [] }, query: -1 });
  show('no model', { frame, list: { tokens: [] }, state: { source: 'trained' } });
  show('an engine that failed', { frame, engine: { kind: 'failed' } });
  show('and again', { frame, list });
  web.setLanguage('zh');
  show('in Chinese', { frame, list, look: 2, state: { language: 'zh' } });
  requireWritten('map-first', lines);
});

test('map: what is shown under the crosshair', async () => {
  const { part, lines, note, show, hover, click, key } = await mapOf();
  let state = {};
  document.addEventListener('state-change', ({ detail }) => (state = { ...state, ...detail }));
  const frame = (more) => ({ frame: frameOf(more) });
  show('a frame', frame());
  note('hovered', () => hover(3, 1));
  show('its row', frame({ told: 3 }));
  note('another cell of the row', () => hover(3, 3));
  note('a masked one', () => hover(1, 3));
  show('its row', frame({ told: 1 }));
  note('the first', () => hover(0, 0));
  for (const [name, more] of Object.entries({
    scores: { show: 'scores', range: 2 },
    sqrt: { show: 'sqrt' },
    log: { show: 'log' },
    'a difference': { other: 2, range: 0.5 },
    'a difference of scores': { other: 2, range: 0.5, show: 'scores' },
    'no range': { other: 2, range: 0 },
    'a difference with another row': { other: 2, range: 0.5, otherTold: rowOf(4, 2, 0, 'causal') },
    'a difference that is not there yet': { other: 2, range: 0.5, otherTold: null },
    'without a mask': { mask: 'none' },
    'under a window': { mask: 'window' },
  })) {
    show(name, frame({ told: 3, ...more }));
    note(`${name}: key 1`, () => hover(3, 1));
    note(`${name}: key 0`, () => hover(3, 0));
  }
  show('fewer words', { frame: frameOf({ told: 3 }), list: { tokens: ['t0'] } });
  note('pinned', () => click(1, 1));
  show('the pinned row', { ...frame({ query: 1, told: 1 }), query: 1 });
  show('not current', { ...frame({ query: 1, told: 1 }), query: 2, list: { tokens: tokensOf(5) } });
  show('another query', { ...frame({ query: 0, told: 0 }), query: 0 });
  note('unpinned', () => click(1, 1));
  note('and again', () => click(1, 1));
  for (const name of ['m', 'm', 'm', 'm', 'ArrowDown', 'm']) note(name, () => key(name));
  const { matrix } = part.querySelector('qkv-picture');
  for (const [title, more] of [
    ['of one row', { query: 3, told: 1 }],
    ['of two', { query: 1, told: 2, mask: 'none' }],
    ['under a window', { query: 3, told: 3, mask: 'window' }],
  ]) {
    part.update(viewOf(frame(more)));
    const { describe, knows, nextLargest } = matrix.model;
    for (let at = 0; at < 16; at++) {
      const cell = { row: at >> 2, col: at & 3 };
      assert.equal(knows(cell), /weight/.test(describe(cell)), `${title}: ${describe(cell)}`);
      lines.push(`${title}: ${describe(cell)}; then ${nextLargest(cell)}`);
    }
  }
  part.update(viewOf({ ...frame(), list: { tokens: tokensOf(5) } }));
  const { describe, knows, nextLargest, home } = matrix.model;
  assert.equal(knows({ row: 0, col: 3 }), false, 'a frame of other words tells nothing');
  lines.push(JSON.stringify([describe({ row: 2, col: 0 }), nextLargest({ row: 2, col: 3 }), home]));
  assert.deepEqual(state, { query: 1 });
  requireWritten('map-crosshair', lines);
});

test('map: where no hand is, the numbers are those of the query, whichever it becomes', async () => {
  const { part, show, hover, click, key } = await mapOf();
  const plot = part.querySelector('.matrix-plot');
  const said = [];
  document.addEventListener('row-told', ({ detail }) => said.push(detail));
  /** Another query is chosen; says which rows the map asked for since the last time, and which one it then tells. */
  const choose = (query, count = 4) => {
    const tokens = tokensOf(count);
    const was = said.at(-1) ?? query;
    show('', { frame: frameOf({ tokens, query, told: Math.min(was, count - 1) }), query });
    show('', { frame: frameOf({ tokens, query, told: said.at(-1) ?? query }), query });
    const marked = !part.querySelector('.legend-now').hidden;
    return [said.splice(0), part.querySelector('qkv-readout .query').textContent, marked];
  };
  assert.deepEqual(choose(2), [[], 't2', true]);
  hover(3, 1);
  fire(plot, 'pointerleave');
  assert.deepEqual(choose(1), [[3, null], 't1', true], 'the pointer has left');
  click(3, 1);
  assert.deepEqual(choose(1), [[3, null], 't1', true], 'a pin goes when another query is chosen');
  key('ArrowDown');
  fire(plot, 'blur');
  assert.deepEqual(choose(0), [[2, null], 't0', true], 'the keyboard is elsewhere');
  hover(3, 2);
  assert.deepEqual(choose(0), [[3], 't3', true], 'the pointer is there');
  assert.deepEqual(choose(1, 3), [[null], 't1', true], 'its row is gone');
});

test('map: controls, sizes, and what it says of many tokens', async () => {
  const { part, lines, note, show } = await mapOf();
  show('a frame', {});
  const choose = (selector, value) =>
    note(`${selector} is ${value}`, () => {
      const control = part.querySelector(selector);
      if (control.type === 'radio') control.checked = true;
      else control.value = value;
      fire(control, 'change');
    });
  for (const show of ['scores', 'log']) choose(`[name=show][value=${show}]`, 'chosen');
  for (const look of ['arcs', 'map']) choose(`[name=look][value=${look}]`, 'chosen');
  choose('#minus', '3');
  choose('#minus', '');
  for (const order of ['rank', 'number', 'none']) choose('#sort', order);
  choose('[name=head][value="4"]', 'chosen');
  show('another head', { state: { other: 3, show: 'log', look: 'map', head: 2 } });
  show('as arcs', { state: { look: 'arcs' } });
  show('two heads', { frame: frameOf({ numHeads: 2 }), state: { source: 'random' } });
  const many = (count, more) => ({ frame: frameOf({ tokens: tokensOf(count), ...more }) });
  layOut({ width: 60, height: 20 });
  await rest();
  for (const count of [40, 41]) show(`${count} tokens on 40 pixels`, many(count));
  show('some rows stand for others', many(41, { step: 2 }));
  show('all rows again', many(4, { step: 1 }));
  layOut({ width: 0, height: 0 });
  layOut(SIZE);
  await rest();
  globalThis.devicePixelRatio = 2;
  show('twice as sharp', { look: 3 });
  requireWritten('map-controls', lines);
});

test('map: heads of another model have other names, though there are as many', async () => {
  const { part, show } = await mapOf();
  const names = () =>
    ['#minus option:last-child', '.head:nth-child(8) .head-name'].map(
      (selector) => part.querySelector(selector).textContent,
    );
  const of = (layers, perLayer) => ({
    ...{ frame: frameOf({ numHeads: 8 }), state: { source: 'trained' } },
    heads: { source: 'trained', trainedHeads: { layers, perLayer } },
  });
  const seen = [[2, 4], [4, 2]].map(([layers, perLayer]) => (show('', of(layers, perLayer)), names())); // prettier-ignore
  assert.deepEqual(seen, [
    ['Head 1.3', 'Head 1.3'],
    ['Head 3.1', 'Head 3.1'],
  ]);
});

test('map: its canvases are given away once, as soon as it stands', async () => {
  const given = [];
  document.addEventListener('canvas-given', ({ detail: { name, canvas } }) => {
    given.push(`${name} ${canvas.className}`.trim());
  });
  const { part } = await mapOf();
  const heads = Array.from({ length: 6 }, (_, head) => `head-${head}`);
  assert.deepEqual(given.sort(), [...heads, 'map matrix-cells']);
  document.body.append(part);
  assert.equal(given.length, 7);
});

test('map: before there is a width nothing is said of pixels', async () => {
  layOut({ width: 0, height: 0 });
  const { part, show } = put('qkv-panel-map');
  await rest();
  show('', { frame: frameOf({ tokens: tokensOf(70) }) });
  assert.equal(part.querySelector('.pooled').hidden, true);
  assert.deepEqual(part.surfaces(), { map: { width: 0, height: 0 } });
  layOut(SIZE);
});

test('map: the cells of the HTML stand until the canvas has them', async () => {
  document.documentElement.lang = 'en';
  const given =
    '<div class="first-map" lang="zh"><i class="first-cells">zh</i></div>' +
    '<div class="first-map" lang="en"><i class="first-cells">en</i></div>';
  const cells = (part) => part.querySelector('.matrix-plot > .first-cells')?.textContent ?? null;
  const first = web.initialState('en');
  const painted = frameOf();
  painted.request.surfaces = { map: SIZE };
  const steps = [];
  const { part } = await mapOf(given);
  steps.push(cells(part));
  part.update(viewOf({ state: first }));
  steps.push(cells(part));
  part.update(viewOf({ state: first, frame: painted }));
  steps.push(cells(part));
  await rest();
  steps.push(cells(part));
  assert.deepEqual(steps, ['en', 'en', 'en', null]);
  const { part: other } = await mapOf(given);
  other.update(viewOf({ state: { ...first, head: 1 } }));
  assert.equal(cells(other), null);
  const { part: none } = await mapOf();
  assert.equal(cells(none), null);
});

test('map: a figure wants a frame and tokens', async () => {
  const { part } = await mapOf();
  const heads = [0, 1].map((head) => ({
    ...{ head, weights: new Float32Array(16), scores: new Float32Array(16) },
  }));
  const wanted = [];
  const tensors = (which) => {
    wanted.push(which);
    return Promise.resolve({ request: frameOf().request, heads });
  };
  const figure = (more, ask = tensors) => part.figure(viewOf(more), ask);
  assert.equal(await figure({ frame: null }), null);
  assert.equal(await figure({ list: { tokens: [] } }), null);
  const made = await figure({});
  assert.equal(made.name, 'map');
  assert.deepEqual(wanted, ['shown'], 'a picture takes the heads that are shown');
  assert.equal((await made.allData()).heads, heads);
  assert.deepEqual(wanted, ['shown', 'all'], 'and JSON all of them');
  const large = { list: { tokens: tokensOf(600) } }; // 6 heads of 600 x 600
  const many = await figure(large);
  assert.deepEqual([many.data.heads, many.allData], [heads, undefined], 'or, of many, those that are shown'); // prettier-ignore
  assert.deepEqual(wanted, ['shown', 'all', 'shown']);
  const gone = () => Promise.resolve({ request: frameOf().request, heads: [] });
  assert.equal(await figure({}, gone), null, 'of a trained model that is gone there is none');
});

test('map: what stood in the place of the canvas is taken away once', async () => {
  const { part } = await mapOf();
  const painted = frameOf();
  painted.request.surfaces = { map: SIZE };
  const view = viewOf({ state: web.initialState('en'), frame: painted });
  part.update(view);
  await rest();
  const later = globalThis.requestAnimationFrame;
  let asked = 0;
  globalThis.requestAnimationFrame = (act) => (asked++, later(act));
  part.update(view);
  await rest();
  globalThis.requestAnimationFrame = later;
  assert.equal(asked, 0, 'no frame is asked for when nothing is left to do');
});

test('heads: pictures, names, measures and their order', async () => {
  const { part, lines, note, show } = put('qkv-heads');
  note('laid out', () => undefined);
  await rest();
  note('with a size');
  show('before a report', {});
  for (const order of ['entropy', 'distance', 'first', 'rank', 'number']) {
    show(order, { report: REPORT, state: { order } });
    lines.push(Array.from(part.querySelectorAll('input'), ({ value }) => value).join(' '));
  }
  show('a report of few', { report: report([1, 2, 3, 4]), state: { order: 'rank' } });
  const heads = { source: 'trained', trainedHeads: { layers: 2, perLayer: 40 } };
  show('many heads', { heads, state: { source: 'trained', head: 7 } });
  show('one head', { heads: { source: 'yours', trainedHeads: null }, report: REPORT });
  show('random heads', { heads: { source: 'random', trainedHeads: null }, report: REPORT });
  show('before a frame', { frame: null, state: { head: 2, mask: 'none' } });
  globalThis.devicePixelRatio = 1.6;
  show('sharper', { look: 2 });
  for (const width of [640, 110.6, 8, 100]) {
    layOut({ width, height: 9 });
    await rest();
    note(`${width} wide`);
  }
  layOut(SIZE);
  requireWritten('map-heads', lines);
});

test('heads: the focus stays on a head that moves', async () => {
  const { part, show } = put('qkv-heads');
  await rest();
  show('', { report: REPORT });
  const radio = part.querySelector('[value="3"]');
  radio.focus();
  show('', { report: REPORT, state: { order: 'entropy' } });
  assert.equal(document.activeElement, radio);
  assert.equal(part.querySelector('input'), radio);
});
