// The parts of the panel on blocks in a window without a browser: what they show of a block that is handed to them, what they
// request, and what they leave as it is.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { fire } from '../support/operate.js';
import { putPart } from '../support/part.js';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
globalThis.ImageData = class {
  data = { set() {} };
};
const { modules } = await import('../support/engine.js');
const parts = ['diagram', 'tap_map', 'mixing', 'cross', 'depth'].map((name) => `page/${name}_part`);
const web = await modules(
  ...['panel', 'shared/constants', 'state', ...parts].map((name) => `features/block/${name}`),
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
/** A block as the page's worker tells of it: tap number i has lengths i + 1, i + 1 1/8 and i + 1 1/4. */
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
const many = listOf(Array.from({ length: 70 }, (_, i) => `w${i}`));
const viewOf = (block, { state, ...more } = {}) => ({
  ...{ state: { ...initial, ...state }, look: 1, query: 1, heads: CONSTRUCTED },
  ...{ list: listOf(TOKENS), engine: { kind: 'ready' } },
  frame: block && { block, request: { layer: { tokens: TOKENS } } },
  ...more,
});

function put(element) {
  const put = putPart(element, 'state-change');
  return { ...put, show: (...view) => put.part.update(viewOf(...view)) };
}

test('block: the way of a token has the lengths at every tap, in the order of the block', () => {
  const { show, one, all, text, texts } = put('qkv-block-diagram');
  const order = () => all('[name=block-tap]').map(({ value }) => value);
  show(null);
  assert.deepEqual(order(), web.PATHS.pre);
  show(blockOf());
  const row = one('.block-tap');
  assert.deepEqual(texts('.block-shape'), web.TAPS.map((_, i) => `3 × ${64 + i}`)); // prettier-ignore
  const lengths = ['1.13', '2.13', '', '4.13', '5.13', '6.13', '7.13', '8.13', '9.13', '10.1'];
  assert.deepEqual(texts('[data-mean]'), lengths, 'a row of weights has no length worth a number');
  assert.deepEqual(texts('[data-token]'), lengths, 'that of the middle token is the mean');
  assert.equal(text('.block-of'), '“cat”');
  assert.match(text('.same'), /^With pre-norm the heads read normalised rows.*bit for bit\.$/);
  assert.equal(one('[name=block-tap]:checked').value, 'sum1');
  show(blockOf(), { query: 2 });
  assert.equal(one('.block-tap'), row, 'rows stay');
  assert.equal(text('[data-token=input]'), '1.25');
  for (const query of [3, -1]) {
    show(blockOf(), { query });
    assert.equal(text('.block-of') + texts('[data-token]').join(''), '', 'no such token');
  }
  const near = blockOf({ place: 'post', difference: 1.25e-7 });
  show(near, { state: { blockNorm: 'post', blockType: 'rms', blockTap: 'norm2' } });
  assert.deepEqual(order(), web.PATHS.post);
  assert.deepEqual(all('.on-stream input').map(({ value }) => value), web.STREAM.post); // prettier-ignore
  assert.equal(texts('.block-name').at(-1), 'Output of the block');
  assert.deepEqual(all(':checked').map(({ value }) => value), ['post', 'rms', 'norm2']); // prettier-ignore
  assert.match(text('.same'), /^With post-norm.*those of the map above\. .*differs from the last row by at most 1\.2×10⁻⁷\.$/); // prettier-ignore
  web.setLanguage('zh');
  show(blockOf(), { look: 9 });
  assert.equal(text('.block-name'), 'X：词元');
});

/** Has a matrix show a cell; what it says then stands below the legend. */
function point(part, row, col) {
  const { matrix } = part;
  Object.defineProperty(matrix, 'shown', { value: { row, col }, configurable: true });
  fire(matrix, 'cell-shown', CustomEvent, { detail: {} });
  delete matrix.shown;
  return part.querySelector('.described').textContent;
}

test('block: the matrix at a tap, and a number of it in words', async () => {
  const { part, one, texts, text, show } = put('qkv-block-map');
  await rest();
  show(null);
  assert.deepEqual([part.matrix.model, one('.legend').hidden], [null, true]);
  const now = () => (one('.legend-now').hidden ? null : Number.parseFloat(one('.legend-now').style.left)); // prettier-ignore
  show(blockOf());
  const { rows, cols, rowLabels, colLabels, rowHeight, home, name } = part.matrix.model;
  assert.deepEqual([rows, cols, rowLabels, rowHeight, home], [3, 4, TOKENS, 24, { row: 1, col: 0 }]); // prettier-ignore
  assert.deepEqual([...colLabels], ['0', '1', '2', '3']);
  assert.deepEqual([name, text('.tap-title')], ['Stream + attention: 3 tokens by 4 numbers', 'Stream + attention']); // prettier-ignore
  assert.deepEqual(texts('.ticks span'), ['−6.00', '0', '6.00']);
  // Row 1 is -1, 0, 1, 2; the legend goes from -6 to 6.
  for (const [col, value, at] of [
    [0, '−1.00000', 500 / 12],
    [1, '0', 50],
    [3, '2.00000', 800 / 12],
  ]) {
    assert.equal(point(part, 1, col), `token 1 “cat”, number ${col}: ${value}`);
    assert.ok(Math.abs(now() - at) < 0.01, `${col} at ${now()}`);
  }
  show(blockOf({}, { data: new Float32Array(12), range: 0 }));
  assert.equal(now(), null, 'of nothing but zeros there is no place');
  show(blockOf({}, { rows: 20, data: new Float32Array(80) }));
  assert.equal(part.matrix.model.rowHeight, 20, '400 pixels for 20 rows');
});

test('block: the weights at a tap are masked as in the map', async () => {
  const { part, one, texts, text, show } = put('qkv-block-map');
  await rest();
  show(blockOf({}, weights));
  const { rowHeight, rowLabels, colLabels } = part.matrix.model;
  assert.deepEqual([rowHeight, rowLabels, colLabels], ['square', TOKENS, TOKENS]);
  assert.deepEqual(texts('.ticks span'), ['0', '0.500', '1.00']);
  assert.match(text('.tap-about'), /^The weights of the head “previous token” in this block\./);
  assert.equal(point(part, 2, 1), 'query 2 “sat”, key 1 “cat”: weight 0.437500');
  assert.equal(Number.parseFloat(one('.legend-now').style.left), 43.75);
  assert.equal(point(part, 1, 2), 'query 1 “cat”, key 2 “sat”: masked, weight 0');
  assert.equal(one('.legend-now').hidden, true);
  show(blockOf({}, { ...weights, mask: 'none' }), { query: 7 });
  assert.equal(part.matrix.model.home.row, 2, 'the last, if there is no such query');
  assert.equal(point(part, 1, 2), 'query 1 “cat”, key 2 “sat”: weight 0.312500');
  show(blockOf({}, weights), { query: -1, heads: { ...CONSTRUCTED, source: 'random' } });
  assert.match(text('.tap-about'), /the head “Head 2”/);
  assert.equal(part.matrix.model.home.row, 0);
  const { model } = part.matrix;
  const block = blockOf({}, weights);
  show(block);
  assert.notEqual(part.matrix.model, model);
  const again = part.matrix.model;
  show(block);
  assert.equal(part.matrix.model, again, 'the same is not drawn again');
});

test('block: what W_O makes of heads: the longest has the whole bar', () => {
  const { one, all, texts, text, show } = put('qkv-block-mixing');
  show(null);
  assert.equal(one('tbody tr'), null);
  const block = blockOf();
  show(block);
  const row = one('tbody tr');
  assert.deepEqual(texts('tbody .block-number'), ['1.13', '1.13', '2.13', '2.13', '0.625', '0.625']); // prettier-ignore
  const bars = all('.bar i').map(({ style }) => Number.parseFloat(style.width));
  [1.125, 2.125, 0.625].forEach((mean, i) => assert.ok(Math.abs(bars[i] - (100 * mean) / 2.125) < 0.01)); // prettier-ignore
  assert.equal(text('tr.shown th'), 'previous token');
  assert.match(text('.mixed'), /the lengths of the parts add up to 3\.88; the length of their sum is 5\.13/); // prettier-ignore
  show(block);
  show(null);
  assert.equal(one('tbody tr'), row, 'of before, until there is another');
  show(block, { query: 0 });
  assert.deepEqual(texts('tbody td:last-child'), ['1.00', '2.00', '0.500']);
  show(block, { query: 3 });
  assert.equal(texts('tbody td:last-child').join('') + text('.block-of'), '');
  show(blockOf({}, { head: 0 }), { heads: { ...CONSTRUCTED, source: 'random' } });
  assert.equal(text('tr.shown th'), 'Head 1');
});

test('block: one sentence reads another', async () => {
  const { part, show, text, one, take } = put('qkv-block-cross');
  await rest();
  show(null);
  assert.deepEqual([part.matrix.model, one('.legend').hidden], [null, true]);
  show(blockOf());
  const { rows, cols, rowLabels, colLabels, name, home } = part.matrix.model;
  assert.deepEqual([rows, cols, rowLabels, colLabels], [3, 2, TOKENS, ['A', 'dog']]);
  assert.deepEqual(home, { row: 1, col: 0 }, 'the first of two equal weights');
  assert.equal(name, 'Head “previous token”: 3 queries of one sentence by 2 keys of the other');
  assert.match(text('.cross-intro'), /the head “previous token” does this/);
  assert.equal(point(part, 0, 1), 'query 0 “The”, key 1 “dog”: weight 0.750000');
  for (const [query, at] of [
    [-1, { row: 0, col: 1 }],
    [5, { row: 2, col: 0 }],
  ]) {
    show(blockOf(), { query });
    assert.deepEqual(part.matrix.model.home, at, 'the largest weight of that row');
  }
  show(blockOf({ cross: { ...blockOf().cross, cols: [], weights: new Float32Array() } }));
  assert.deepEqual([part.matrix.model, one('.legend').hidden], [null, true], 'an empty sentence');
  const field = one('#block-context');
  assert.equal(field.value, web.CONTEXTS.en);
  field.focus();
  field.value = 'ab';
  fire(field, 'input');
  assert.deepEqual(take(), [{ blockContext: 'ab' }]);
  show(blockOf(), { look: 20 });
  assert.equal(field.value, 'ab', 'what is typed stays');
  field.blur();
  show(blockOf(), { look: 21, state: { blockContext: 'x y' } });
  assert.equal(field.value, 'x y');
  web.setLanguage('zh');
  show(blockOf(), { look: 22, state: { language: 'zh' } });
  assert.equal(field.value, web.CONTEXTS.zh);
  show(null);
  assert.deepEqual([part.matrix.model, point(part, 0, 0)], [null, '']);
});

test('block: the panel, and what stands there instead of it', () => {
  const { show, text, one, all } = put('qkv-panel-block');
  const failed = { engine: { kind: 'failed' } };
  const [yours, trained] = ['yours', 'trained'].map((source) => ({ state: { source } }));
  for (const [block, more, cards, placeholder] of [
    [null, { engine: { kind: 'loading' } }, true, null],
    [blockOf(), {}, true, null],
    [blockOf(), { list: listOf([]) }, false, /^The map appears with the first word/],
    [null, yours, false, /^Your own numbers are queries and keys without tokens/],
    [null, { ...trained, list: listOf([]) }, false, /^No trained model is here/],
    [blockOf(), failed, true, /^The engine is not running/],
    [null, { ...failed, ...yours }, false, /^The engine is not running/],
  ]) {
    show(block, more);
    assert.ok(all('.card:not(.any-text)').every(({ hidden }) => hidden === !cards));
    assert.equal(one('.placeholder').hidden, placeholder === null);
    if (placeholder) assert.match(text('.placeholder'), placeholder);
    assert.equal(one('.block-run').disabled, !cards);
  }
  show(blockOf(), { list: listOf(many.tokens.slice(0, 64)) });
  assert.doesNotMatch(text('.block-weights'), /reads the first/);
  show(blockOf(), { list: many, state: { source: 'random', seed: 7 } });
  assert.match(text('.block-weights'), /random weights, seed 7.*The block reads the first 64 of 70 tokens\.$/); // prettier-ignore
});
