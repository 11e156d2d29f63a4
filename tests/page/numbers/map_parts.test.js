// The map and its parts in Node, from frames that the test makes: what is shown, said and asked for in states that a page is
// seldom in, what a hand brings about, and what is not drawn again.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { frameOf, mapScene, REPORT, report, rowOf, tokensOf } from '../support/map_frames.js';
import { fire } from '../support/operate.js';
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

test('map: a place without a picture says why, and has no legend', async () => {
  const { show, find, texts } = await mapOf();
  const why = () => [find('.placeholder').hidden, ...texts('.placeholder'), find('.legend').hidden];
  const empty = { tokens: [] };
  const shown = [true, '', false];
  for (const [more, expected] of [
    [{ frame: null, engine: { kind: 'loading' } }, shown],
    [{}, shown],
    [{ list: empty, query: -1 }, [false, 'The map appears with the first word.', true]],
    [{ engine: { kind: 'failed' } }, [false, web.textOf('map.failed'), true]],
    [{}, shown],
  ]) {
    show(more);
    assert.deepEqual(why(), expected);
  }
  show({ list: empty, state: { source: 'trained' } });
  assert.match(texts('.placeholder')[0], /model/);
});

test('map: its legend has the scale of what is shown', async () => {
  const { show, texts, part } = await mapOf();
  const left = () => [...part.querySelectorAll('.ticks span')].map(({ style }) => style.left);
  for (const [frame, words, places] of [
    [{ show: 'weights' }, ['0', '0.25', '0.5', '0.75', '1'], ['0%', '25%', '50%', '75%', '100%']],
    [{ show: 'scores', range: 2 }, ['−2.00', '0', '2.00'], ['0%', '50%', '100%']],
    [{ other: 2, range: 0.5 }, ['−0.500', '0', '0.500'], ['0%', '50%', '100%']],
  ]) {
    show({ frame: frameOf(frame) });
    assert.deepEqual([texts('.ticks span'), left()], [words, places]);
  }
  show({ frame: frameOf({ show: 'log' }) });
  assert.deepEqual(texts('.ticks span'), ['10⁻⁶', '10⁻⁴', '0.01', '1']);
});

test('map: the numbers under the crosshair are those of the described row', async () => {
  const { show, hover, click, key, find, texts } = await mapOf();
  const said = [];
  for (const name of ['state-change', 'row-described']) {
    document.addEventListener(name, ({ detail }) => said.push(detail));
  }
  const pair = () => [...texts('.pair .query'), ...texts('.pair .key')];
  const shown = (weight) => Number(texts('qkv-readout .weight')[0]) - weight;
  show({});
  const home = rowOf(4, 0, 2, 'causal');
  assert.deepEqual(pair(), ['t2', `t${home.largest}`], 'the strongest key of the query at first');
  hover(3, 1);
  assert.deepEqual(said.splice(0), [3]);
  assert.deepEqual(pair(), ['t2', `t${home.largest}`], 'until its row is there');
  const row = rowOf(4, 0, 3, 'causal');
  show({ frame: frameOf({ described: 3 }) });
  assert.deepEqual(pair(), ['t3', 't1']);
  assert.ok(Math.abs(shown(row.weights[1])) < 1e-5);
  assert.deepEqual(texts('.largest li').length, 4);
  const now = find('.legend-now').style.left;
  assert.ok(Math.abs(parseFloat(now) - 100 * row.weights[1]) < 0.01, now);
  hover(1, 3);
  show({ frame: frameOf({ described: 1 }) });
  assert.deepEqual([...texts('.rank'), find('.legend-now').hidden], ['masked', true]);
  assert.deepEqual(texts('.sum'), ['1.00000']);
  show({ frame: frameOf({ described: 1, other: 2 }) });
  assert.equal(find('.other-line').hidden, false);
  said.length = 0;
  click(1, 1);
  assert.deepEqual(said.splice(0).at(-1), { query: 1 });
  show({ frame: frameOf({ query: 1, described: 1 }), query: 1 });
  assert.match(texts('.pin-hint')[0], /^Pinned/);
  click(1, 1);
  assert.match(texts('.pin-hint')[0], /to pin a cell/);
  key('m');
  assert.deepEqual(pair(), ['t1', 't1'], 'from a masked key to the largest weight');
  key('m');
  const order = [...rowOf(4, 0, 1, 'causal').weights].map((weight, at) => [weight, at]);
  order.sort(([a], [b]) => b - a);
  const after = order[(order.findIndex(([, at]) => at === 1) + 1) % 4][1];
  assert.deepEqual(pair(), ['t1', `t${after}`], 'the next largest weight');
});

test('map: a cell says its weight and rank, that it is masked, or only its names', async () => {
  const { part, find } = await mapOf();
  const { matrix } = find('qkv-picture');
  for (const frame of [
    { query: 3, described: 1 },
    { query: 1, described: 2, mask: 'none' },
    { query: 3, described: 3, mask: 'window' },
  ]) {
    part.update(viewOf({ frame: frameOf(frame) }));
    const { mask = 'causal', query, described } = frame;
    const { describe, knows } = matrix.model;
    for (let at = 0; at < 16; at++) {
      const cell = { row: at >> 2, col: at & 3 };
      const names = `query ${cell.row} “t${cell.row}”, key ${cell.col} “t${cell.col}”`;
      const { weights } = rowOf(4, 0, cell.row, mask);
      const rank = 1 + weights.filter((weight) => weight > weights[cell.col]).length;
      const allowed = weights.filter((weight) => weight > 0).length;
      const [said, weight] = describe(cell).split(/(?<=: weight )|(?=, rank)/);
      if (weights[cell.col] === 0) assert.equal(describe(cell), `${names}: masked, weight 0`);
      else if (cell.row !== query && cell.row !== described) assert.equal(describe(cell), names);
      else {
        assert.equal(said, `${names}: weight `);
        assert.ok(Math.abs(Number(weight) / weights[cell.col] - 1) < 1e-5);
        assert.ok(describe(cell).endsWith(`, rank ${rank} of ${allowed}`), describe(cell));
      }
      assert.equal(knows(cell), /weight/.test(describe(cell)));
    }
  }
  part.update(viewOf({ list: { tokens: tokensOf(5) } }));
  const { describe, knows } = matrix.model;
  assert.deepEqual([describe({ row: 2, col: 0 }), knows({ row: 0, col: 3 })], ['', false]);
});

test('map: says when tokens share a pixel, and when only some rows are computed', async () => {
  const { show, find } = await mapOf();
  layOut({ width: 60, height: 20 });
  await rest();
  const many = (count, more) => ({ frame: frameOf({ tokens: tokensOf(count), ...more }) });
  show(many(4));
  const { width } = find('qkv-matrix').size;
  for (const [more, pooled, sampled] of [
    [many(width), false, false],
    [many(width + 1), true, false],
    [many(width + 1, { step: 2 }), false, true],
    [many(4, { step: 1 }), false, false],
  ]) {
    show(more);
    assert.deepEqual([find('.pooled').hidden, find('.sampled').hidden], [!pooled, !sampled]);
  }
  layOut(SIZE);
});

test('heads: are in the order of what they are sorted by, and say it', async () => {
  const { part, show, find, texts } = put('qkv-heads');
  await rest();
  const order = () => Array.from(part.querySelectorAll('input'), ({ value }) => Number(value));
  show({});
  assert.deepEqual(texts('.head-measure'), Array(6).fill(''), 'before there is a report');
  const signs = { number: 'H', entropy: 'H', distance: 'Δ', first: 'w₀', rank: 'r' };
  for (const [by, sign] of Object.entries(signs)) {
    show({ report: REPORT, state: { order: by } });
    const value = (head) => REPORT.heads[head][by] ?? head;
    const known = [0, 1, 2, 3, 4, 5].filter((head) => !Number.isNaN(value(head)));
    const sorted = known.sort((a, b) => value(a) - value(b) || a - b);
    assert.deepEqual(
      order().filter((head) => known.includes(head)),
      sorted,
      by,
    );
    const measure = by === 'number' ? 'entropy' : by;
    const said = order().map((head) => REPORT.heads[head][measure]);
    texts('.head-measure').forEach((text, i) => {
      if (Number.isNaN(said[i])) assert.equal(text, '');
      else assert.equal(Number(text.replace(`${sign} `, '')), said[i], `${by}: ${text}`);
    });
    assert.ok(texts('#heads-caption')[0].startsWith(`${sign}: `));
    assert.equal(find('#sort').value, by);
  }
  show({ report: report([1, 2, 3, 4]), state: { order: 'rank' } });
  assert.deepEqual(order(), [0, 1, 2, 3, 4, 5], 'those without a number keep their order');
});
