// The map and its parts in Node, from frames that the test makes: what is shown, said and asked for in states that a page is
// seldom in, what a hand brings about, and what is not drawn again.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { notesOf } from '../support/notes.js';
import { fire, requireWritten } from '../support/operate.js';
import { hashed, openWindow, SIZE } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
HTMLCanvasElement.prototype.toDataURL = function () {
  return `data:of-${this.width}x${this.height}`;
};
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['panel', 'arcs', 'heads', 'picture', 'readout', 'names', 'figure'].map(
    (name) => `features/map/${name}`,
  ),
  ...['state/state', 'domain/sources', 'ui/matrix/palette'],
);
customElements.define('qkv-panel-map', web.MapPanel);

const initial = { ...web.initialState('en'), text: 'told by the list' };
afterEach(() => {
  leave();
  web.setLanguage('en');
  globalThis.devicePixelRatio = 1;
});

/** Numbers with many digits, to four of them. */
const rounded = (text) =>
  text.replace(/-?\d+\.\d{5,}(e-?\d+)?/g, (number) =>
    String(Number(Number(number).toPrecision(4))),
  );

// ---- frames ----

const tokensOf = (count) => Array.from({ length: count }, (_, i) => `t${i}`);
/** A row of weights that differ by head, row and key; of equal scores where `even`. */
function rowOf(count, head, row, mask, even = false) {
  const end = mask === 'none' ? count : row + 1;
  const first = mask === 'window' ? Math.max(0, row - 3) : 0;
  const scores = Float32Array.from({ length: count }, (_, key) => {
    if (key < first || key >= end) return -Infinity;
    return even ? 0 : Math.round(8 * Math.sin(1 + 3 * head + 5 * row + 7 * key)) / 4;
  });
  const powers = Array.from(scores, Math.exp);
  const sum = powers.reduce((a, b) => a + b, 0);
  const weights = Float32Array.from(powers, (power) => power / sum);
  const entropy = -weights.reduce((h, p) => h + (p > 0 ? p * Math.log(p) : 0), 0);
  const largest = weights.indexOf(Math.max(...weights));
  return { row, weights, scores, entropy, lse: Math.log(sum), largest };
}

function frameOf({ tokens = tokensOf(4), head = 0, other = null, mask = 'causal', ...more } = {}) {
  const count = tokens.length;
  const { show = 'weights', query = 2, told = query, source = 'constructed', ...rest } = more;
  const row = (of, at) => (at === null ? null : rowOf(count, of, at, mask, more.even));
  const few = count <= 64 && count > 0;
  const matrix = Array.from({ length: count }, (_, at) => [
    ...rowOf(count, head, at, mask).weights,
  ]);
  return {
    request: {
      layer: {
        ...{ tokens, mask, source, seed: 7, temperature: 1, positions: 'sinusoidal' },
        trainedHeads: null,
      },
      view: { head, other, show, query, told },
      surfaces: {},
    },
    ...{ query: row(head, query), told: row(head, told), range: 1, step: 1, numHeads: 6 },
    otherTold: other === null ? null : row(other, told),
    matrix: few ? Float32Array.from(matrix.flat()) : null,
    ...rest,
  };
}

const report = (...numbers) => ({
  heads: numbers.map(([entropy, distance, first, rank]) => ({ entropy, distance, first, rank })),
});
const REPORT = report(
  ...[
    [1.5, 2, 0.25, 3],
    [0.5, 1, 0.75, NaN],
    [1.5, 3, 0.5, 2],
  ],
  ...[
    [0.25, 0, 1, NaN],
    [1, 2, 0.125, 4],
    [0.75, 5, 0, 1],
  ],
);

/** What panels are handed: the tokens of the frame, unless told otherwise. */
function viewOf({ frame = frameOf(), state = {}, ...more } = {}) {
  return {
    ...{ state: { ...initial, ...state }, frame, report: null, look: 1, query: 2, theme: 'light' },
    list: { tokens: frame?.request.layer.tokens ?? tokensOf(4) },
    engine: { kind: 'ready' },
    heads: { source: state.source ?? 'constructed', trainedHeads: null },
    ...more,
  };
}

/** An element on the page, its notes, and `show`, which hands it another view than the last by some fields. */
function put(name, inner = '') {
  const holder = document.createElement('div');
  holder.innerHTML = `<${name}>${inner}</${name}>`;
  document.body.append(holder);
  const part = holder.firstChild;
  const { lines, note } = notesOf(
    part,
    () => ({ surfaces: part.surfaces(), shown: part.shown }),
    ({ localName, children }) => (localName === 'svg' && children.length > 40 ? 'short' : 'open'),
  );
  const show = (title, more) => note(title, () => part.update(viewOf(more)));
  return { part, lines, note, show };
}

// ---- the map ----

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
    const { describe, nextLargest } = matrix.model;
    for (let at = 0; at < 16; at++) {
      const cell = { row: at >> 2, col: at & 3 };
      lines.push(`${title}: ${describe(cell)}; then ${nextLargest(cell)}`);
    }
  }
  part.update(viewOf({ ...frame(), list: { tokens: tokensOf(5) } }));
  const { describe, nextLargest, home } = matrix.model;
  lines.push(JSON.stringify([describe({ row: 2, col: 0 }), nextLargest({ row: 2, col: 3 }), home]));
  assert.deepEqual(state, { query: 1 });
  requireWritten('map-crosshair', lines);
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
  const heads = [0, 1].map(() => ({ weights: new Float32Array(16), scores: new Float32Array(16) }));
  const tensors = () => Promise.resolve({ request: frameOf().request, heads });
  const figure = (more) => part.figure(viewOf(more), tensors);
  assert.equal(await figure({ frame: null }), null);
  assert.equal(await figure({ list: { tokens: [] } }), null);
  assert.equal((await figure({})).name, 'map');
});

// ---- heads ----

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

// ---- arcs ----

test('arcs: which are drawn, and which labels', async () => {
  const { part, lines, note, show } = put('qkv-arcs');
  const arcs = { look: 'arcs' };
  show('before a width', { state: arcs });
  await rest();
  note('with a width');
  show('hidden', { state: { look: 'map' } });
  show('shown', { state: arcs });
  const [frame, list] = [frameOf({ query: 1 }), { tokens: tokensOf(4) }];
  show('another query', { state: arcs, frame, list, query: 1 });
  show('the same', { state: arcs, frame, list, query: 1 });
  show('another look', { state: arcs, frame, list, query: 1, look: 2 });
  show('not current', { state: arcs, list: { tokens: tokensOf(5) } });
  show('without a row', { state: arcs, frame: frameOf({ query: null, told: null }) });
  for (const count of [18, 19, 45, 46, 70]) {
    const frame = frameOf({ tokens: tokensOf(count), query: count - 1 });
    show(`${count} tokens`, { state: arcs, frame, query: count - 1 });
  }
  const many = frameOf({ tokens: tokensOf(70), query: null });
  show('many without a row', { state: arcs, frame: many });
  show('few again', { state: arcs });
  for (const width of [320.4, 500, 501]) {
    layOut({ width, height: 9 });
    await rest();
    note(`${width} wide`);
  }
  layOut(SIZE);
  note('a click on a query', () => fire(part.querySelectorAll('.arc-query')[1], 'click'));
  note('a click on a key', () => fire(part.querySelector('.arc-key'), 'click'));
  note('a click between', () => fire(part.querySelector('svg'), 'click'));
  requireWritten('map-arcs', lines);
});

test('arcs: of a row the strongest keys that carry seven tenths of it', () => {
  const arcsOf = (...weights) => {
    const row = { row: 3, weights: Float64Array.from(weights) };
    const frame = { request: { layer: { tokens: weights.map(String) } }, matrix: null, query: row };
    return web.arcsOf(frame).map(({ query, key, weight }) => `${query} ${key} ${weight}`);
  };
  assert.deepEqual(arcsOf(0.25, 0.5, 0.25), ['3 1 0.5', '3 0 0.25']);
  assert.deepEqual(arcsOf(0.7, 0.3), ['3 0 0.7']);
  assert.deepEqual(arcsOf(0.69, 0.31), ['3 0 0.69', '3 1 0.31']);
  assert.deepEqual(arcsOf(0.1, 0, 0.2), ['3 2 0.2', '3 0 0.1']);
  assert.deepEqual(arcsOf(0, 0), []);
  const frame = { request: { layer: { tokens: ['a', 'b'] } }, query: null };
  assert.deepEqual(web.arcsOf({ ...frame, matrix: null }), []);
  const matrix = Float32Array.of(1, 0, 0.25, 0.75);
  assert.deepEqual(web.arcsOf({ ...frame, matrix }), [
    { query: 0, key: 0, weight: 1 },
    { query: 1, key: 1, weight: 0.75 },
  ]);
});

// ---- names and files ----

test('names: what heads are called, and what is said of them', () => {
  const lines = [];
  const trainedHeads = { layers: 2, perLayer: 3 };
  for (const language of ['en', 'zh']) {
    web.setLanguage(language);
    for (const source of ['constructed', 'random', 'trained', 'yours']) {
      for (let head = 0; head < 7; head++) {
        lines.push(web.headName({ source, trainedHeads }, head));
        for (const positions of ['none', 'sinusoidal']) {
          for (const mask of ['none', 'causal', 'window']) {
            const keys = web.storyOf({ source, positions, mask }, head).join(' ');
            lines.push(`${language} ${source} ${head} ${positions} ${mask}: ${keys}`);
          }
        }
      }
      lines.push(web.provenance(source, 12));
    }
    const state = { ...initial, language };
    for (const tokens of [[], ['no'], ['Cat', 'the', 'cat', 'dogs'], ['小猫', '狗']]) {
      lines.push(web.headStory(state, 0, tokens), web.headStory(state, 2, tokens));
    }
  }
  requireWritten('map-names', lines);
});

test('map: its drawing, over counts, looks and colours', () => {
  const lines = [];
  const canvas = Object.assign(document.createElement('canvas'), { width: 33, height: 44 });
  const draw = (title, count, { look = 'map', ...more } = {}) => {
    const tokens = Array.from({ length: count }, (_, i) => `token number ${i}`);
    const frame = frameOf({ tokens, ...more });
    const heads = [0, 1, 2].map((head) => {
      const rows = Array.from({ length: count }, (_, row) => rowOf(count, head, row, 'causal'));
      const all = (name) => Float32Array.from(rows.flatMap((row) => [...row[name]]));
      return { weights: all('weights'), scores: all('scores') };
    });
    const view = viewOf({ frame: more.frame === null ? null : frame, state: { look } });
    const { svg, table } = web.mapFigure(view, { request: frame.request, heads }, canvas);
    lines.push('', `== ${title}: ${svg.width} x ${svg.height}`);
    const drawn = svg.body.replaceAll('><', '>\n<').split('\n').map(rounded);
    const told = table.map((row) => rounded(JSON.stringify(row)));
    if (count < 10) lines.push(...drawn, ...told);
    else
      for (const part of [drawn, told]) lines.push(`${part.length} lines ${hashed(part.join())}`);
  };
  draw('one token', 1);
  draw('a few', 5, { head: 1 });
  for (const show of ['scores', 'sqrt', 'log']) draw(show, 4, { show, range: 2 });
  draw('a difference', 4, { head: 1, other: 2, range: 0.5 });
  draw('without a frame', 3, { show: 'scores', frame: null });
  for (const count of [18, 46, 64, 65]) draw(`${count}`, count, { query: 5 });
  draw('as arcs', 5, { look: 'arcs' });
  for (const count of [46, 70]) draw(`${count} as arcs`, count, { look: 'arcs', query: 40 });
  requireWritten('map-figures', lines);
});

test('map: what is no number has the colour in a drawing that it has on the page', () => {
  for (const show of ['scores', 'weights', 'sqrt', 'log', 'difference']) {
    assert.equal(web.colours(show, 1)(NaN), '#ff00ff', show);
    assert.notEqual(web.colours(show, 1)(0.25), '#ff00ff', show);
  }
});
