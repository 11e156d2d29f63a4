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

test('map: the numbers under the crosshair are those of the row that was asked for', async () => {
  const { show, hover, click, key, find, texts } = await mapOf();
  const said = [];
  for (const name of ['state-change', 'row-told']) {
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
  show({ frame: frameOf({ told: 3 }) });
  assert.deepEqual(pair(), ['t3', 't1']);
  assert.ok(Math.abs(shown(row.weights[1])) < 1e-5);
  assert.deepEqual(texts('.largest li').length, 4);
  const now = find('.legend-now').style.left;
  assert.ok(Math.abs(parseFloat(now) - 100 * row.weights[1]) < 0.01, now);
  hover(1, 3);
  show({ frame: frameOf({ told: 1 }) });
  assert.deepEqual([...texts('.rank'), find('.legend-now').hidden], ['masked', true]);
  assert.deepEqual(texts('.sum'), ['1.00000']);
  show({ frame: frameOf({ told: 1, other: 2 }) });
  assert.equal(find('.other-line').hidden, false);
  said.length = 0;
  click(1, 1);
  assert.deepEqual(said.splice(0).at(-1), { query: 1 });
  show({ frame: frameOf({ query: 1, told: 1 }), query: 1 });
  assert.match(texts('.pin-hint')[0], /^Pinned/);
  click(1, 1);
  assert.match(texts('.pin-hint')[0], /to pin a cell/);
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
    { query: 3, told: 1 },
    { query: 1, told: 2, mask: 'none' },
    { query: 3, told: 3, mask: 'window' },
  ]) {
    part.update(viewOf({ frame: frameOf(frame) }));
    const { mask = 'causal', query, told } = frame;
    const { describe, knows } = matrix.model;
    for (let at = 0; at < 16; at++) {
      const cell = { row: at >> 2, col: at & 3 };
      const names = `query ${cell.row} “t${cell.row}”, key ${cell.col} “t${cell.col}”`;
      const { weights } = rowOf(4, 0, cell.row, mask);
      const rank = 1 + weights.filter((weight) => weight > weights[cell.col]).length;
      const allowed = weights.filter((weight) => weight > 0).length;
      const [said, weight] = describe(cell).split(/(?<=: weight )|(?=, rank)/);
      if (weights[cell.col] === 0) assert.equal(describe(cell), `${names}: masked, weight 0`);
      else if (cell.row !== query && cell.row !== told) assert.equal(describe(cell), names);
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

test('map: where no hand is, the numbers are those of the query, whichever it becomes', async () => {
  const { part, show, hover, click, key } = await mapOf();
  const plot = part.querySelector('.matrix-plot');
  const said = [];
  document.addEventListener('row-told', ({ detail }) => said.push(detail));
  /** Another query is chosen; says which rows the map asked for since the last time, and which one it then tells. */
  const choose = (query, count = 4) => {
    const tokens = tokensOf(count);
    const was = said.at(-1) ?? query;
    show({ frame: frameOf({ tokens, query, told: Math.min(was, count - 1) }), query });
    show({ frame: frameOf({ tokens, query, told: said.at(-1) ?? query }), query });
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

test('map: its controls show the state and change it', async () => {
  const { part, show, find, texts } = await mapOf();
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  show({});
  for (const [selector, value, change] of [
    ['[name=show][value=scores]', null, { show: 'scores' }],
    ['[name=look][value=arcs]', null, { look: 'arcs' }],
    ['#minus', '3', { other: 3 }],
    ['#minus', '', { other: null }],
    ['#sort', 'rank', { order: 'rank' }],
    ['[name=head][value="4"]', null, { head: 4 }],
  ]) {
    const control = find(selector);
    if (value === null) control.checked = true;
    else control.value = value;
    fire(control, 'change');
    assert.deepEqual(asked.splice(0), [change]);
  }
  fire(Object.assign(find('#sort'), { value: 'none' }), 'change');
  assert.deepEqual(asked, []);
  show({ state: { other: 3, show: 'log', head: 2 } });
  assert.deepEqual([find('#minus').value, find('[name=show]:checked').value], ['3', 'log']);
  assert.equal(texts('#minus option').length, 1 + 6);
  show({ state: { look: 'arcs' } });
  const hidden = [...part.querySelectorAll('.on-map')].map((element) => element.hidden);
  assert.ok(hidden.every(Boolean));
  assert.equal(part.parts[1].surfaces().map, undefined, 'no map is painted then');
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
  const seen = [[2, 4], [4, 2]].map(([layers, perLayer]) => (show(of(layers, perLayer)), names())); // prettier-ignore
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
  show({ frame: frameOf({ tokens: tokensOf(70) }) });
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

test('heads: there are as many pictures as heads, at most 64, as sharp as the screen', async () => {
  const { part, show, find, texts } = put('qkv-heads');
  await rest();
  const trained = { source: 'trained', trainedHeads: { layers: 2, perLayer: 40 } };
  const yours = { source: 'yours', trainedHeads: null };
  for (const [more, count] of [[{}, 6], [{ heads: trained, state: { source: 'trained', head: 7 } }, 64], [{ heads: yours }, 1]]) {
    show(more);
    const shown = [...part.querySelectorAll('.head')].filter(({ hidden }) => !hidden);
    assert.deepEqual([shown.length, Object.keys(part.surfaces()).length], [count, count]);
  } // prettier-ignore
  globalThis.devicePixelRatio = 2;
  const side = (SIZE.width - 8) * 2;
  assert.deepEqual(part.surfaces(), { 'head-0': { width: side, height: side } });
  layOut({ width: 8, height: 9 });
  await rest();
  assert.deepEqual(part.surfaces(), {}, 'no room');
  layOut(SIZE);
  show({ frame: null, state: { head: 2, mask: 'none' } });
  assert.equal(find('input:checked').value, '2');
  assert.ok(texts('#heads-caption')[0].endsWith(`${Math.log(4).toPrecision(3)}.`));
});

test('heads: the focus stays on a head that moves', async () => {
  const { part, show } = put('qkv-heads');
  await rest();
  show({ report: REPORT });
  const radio = part.querySelector('[value="3"]');
  radio.focus();
  show({ report: REPORT, state: { order: 'entropy' } });
  assert.equal(document.activeElement, radio);
  assert.equal(part.querySelector('input'), radio);
});
