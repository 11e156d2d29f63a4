// @about web/src/features/map/
// Arcs, names and drawings of the map in Node, from frames that the test makes: which arcs and labels are drawn, what heads are
// called and said to do, and what is taken away.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { frameOf, mapScene, rowOf, tokensOf } from '../support/map_frames.js';
import { fire, requireWritten } from '../support/operate.js';
import { hashed, openWindow, SIZE } from '../support/window.js';

const { rest, layOut, leave } = openWindow();
HTMLCanvasElement.prototype.toDataURL = function () {
  return `data:of-${this.width}x${this.height}`;
};
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...['page/arcs_part', 'page/figure'].map((name) => `features/map/${name}`),
  'features/head_names',
  'ui/heatmap_svg',
  'state/state',
);

const initial = { ...web.initialState('en'), text: 'told by the list' };
const { viewOf, put } = mapScene(initial);
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

test('arcs: keys go from query to query, also where a matrix has no cells to go to', async () => {
  const { part, show } = put('qkv-arcs');
  const state = { look: 'arcs' };
  show('before a width', { state });
  await rest();
  const list = { tokens: tokensOf(70) };
  const frame = frameOf({ ...list, query: 40 });
  show('many tokens', { state, frame, list, query: 40 });
  const stage = part.querySelector('[role=slider]');
  const value = (name) => stage.getAttribute(`aria-value${name}`);
  assert.deepEqual(
    [stage.tabIndex, value('min'), value('max'), value('now')],
    [0, '0', '69', '40'],
  );
  assert.match(value('text'), /attends to/);
  const to = [];
  const listen = ({ detail }) => to.push(detail.query);
  document.addEventListener('state-change', listen);
  const keys = ['ArrowDown', 'ArrowUp', 'PageDown', 'PageUp', 'Home', 'End', 'Tab', 'x'];
  const taken = keys.filter((key) => !fire(stage, 'keydown', KeyboardEvent, { key }));
  document.removeEventListener('state-change', listen);
  assert.deepEqual(to, [41, 39, 50, 30, 0, 69]);
  assert.deepEqual(taken, keys.slice(0, 6), 'the page does not scroll');
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
      return { head, weights: all('weights'), scores: all('scores') };
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
  for (const count of [17, 18, 45, 46, 64, 65]) draw(`${count}`, count, { query: 5 });
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
