// @about web/src/features/masks/
// The panel about masks and order, in Node, from results that the test makes: what it shows in states that a page is seldom in,
// what a brush, a shuffle and a guess ask for, and its drawing.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { notesOf } from '../support/notes.js';
import { enter, fire, requireWritten } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, delays, layOut, leave } = openWindow();
HTMLCanvasElement.prototype.toDataURL = () => 'data:';
const { modules } = await import('../support/engine.js');
const web = await modules(
  ...[
    'panel',
    'page/mask_choice_part',
    'page/order_part',
    'page/figure',
    'shared/mask_grid',
    'state',
    'worker/frame_feature',
  ].map((name) => `features/masks/${name}`),
  'state/state',
);
const initial = { ...web.initialState('en'), text: '' };
afterEach(() => {
  leave();
  web.setLanguage('en');
  mock.restoreAll();
});

const swapsOf = (masked, free = 2e-7) => ({
  without: { masked, free },
  sinusoidal: { masked: 0.75, free: 0.5 },
});
const TOKENS = ['a', 'b', '<c>'];
/** Three tokens, of which the query at 2 may read nothing where `painted`. */
function resultOf(state = {}, more = {}) {
  const tokens = more.tokens ?? TOKENS;
  const count = tokens.length;
  const kind = { maskKind: 'causal', maskSize: 3, maskPaint: initial.maskPaint, ...state };
  const mask = web.gridMask(kind, count);
  const weights = Float32Array.from(mask, (allowed, at) => (allowed ? (at + 1) / 16 : 0));
  return {
    ...{ request: web.masksRequest({ ...initial, ...kind }), head: 1, tokens, mask, weights },
    ...{ order: tokens.map((_, i) => i), entropy: new Float32Array(count), empty: [], swaps: null },
    ...more,
  };
}

function viewOf({ state = {}, masks = resultOf(state), tokens = TOKENS, layer, ...more } = {}) {
  const own = { ...initial, ...state };
  const request = {
    layer: {
      ...{ tokens, source: own.source, positions: own.positions, temperature: 0.5, seed: 7 },
      ...{ mask: 'causal', trainedHeads: null },
      ...layer,
    },
    view: { head: 1, other: null },
  };
  return {
    ...{ state: own, list: { tokens }, look: 1, engine: { kind: 'ready' }, heads: request.layer },
    frame: { masks, request },
    ...more,
  };
}

async function put(name = 'qkv-panel-masks') {
  const panel = document.createElement(name);
  document.body.append(panel);
  const asked = [];
  document.addEventListener('state-change', ({ detail }) => asked.push(detail));
  const { lines, note } = notesOf(panel, () => ({ surfaces: panel.surfaces() }));
  await rest();
  const show = (title, more) => note(title, () => panel.update(viewOf(more)));
  return { panel, lines, note, show, asked, find: (selector) => panel.querySelector(selector) };
}

test('masks: what is shown in each state', async () => {
  const { panel, lines, note, show } = await put();
  show('before a frame', { frame: null, engine: { kind: 'loading' } });
  show('without tokens', { tokens: [], frame: null });
  show('a result');
  const same = viewOf();
  note('once more', () => panel.update(same));
  note('and again', () => panel.update(same));
  show('a frame without it', { masks: null });
  show('a failed engine', { engine: { kind: 'failed' } });
  show('another frame', { look: 2 });
  for (const maskKind of web.MASK_KINDS) show(maskKind, { state: { maskKind, maskSize: 2 } });
  show('a row without keys', { masks: resultOf({}, { empty: [2] }) });
  show('two of them', { masks: resultOf({}, { empty: [0, 2] }) });
  show('a longer text', { layer: { tokens: [...TOKENS, 'd'] } });
  show('as given', { state: { source: 'yours' } });
  show('without positions', { state: { positions: 'none' } });
  show('of a trained model', { state: { source: 'trained' } });
  show('of other weights', { state: { source: 'random' } });
  show('an emptied text', { tokens: [] });
  show('one token', { tokens: ['a'], masks: resultOf({}, { tokens: ['a'] }) });
  show('shuffled', { state: { maskShuffle: 5 }, masks: resultOf({}, { swaps: swapsOf(0.25) }) });
  show('and kept', { state: { maskShuffle: 5 }, masks: resultOf({}, { swaps: swapsOf(1e-4) }) });
  const given = { without: { masked: 1.01e-4, free: 0 }, sinusoidal: null };
  show('without positions', { state: { maskShuffle: 6 }, masks: resultOf({}, { swaps: given }) });
  web.setLanguage('zh');
  show('in Chinese', { look: 3, state: { language: 'zh' }, masks: resultOf({}, { empty: [1] }) });
  requireWritten('masks-states', lines);
});

test('masks: what is said of empty rows stays until another result, or until there is no text', async () => {
  const { show, find } = await put();
  const { hidden: first } = find('.empty-rows');
  const hidden = (more) => {
    show('', more);
    return find('.empty-rows').hidden;
  };
  assert.equal(first, true);
  assert.equal(hidden({ masks: resultOf({}, { empty: [2] }) }), false);
  assert.equal(hidden({ masks: null, tokens: ['a'] }), false);
  assert.equal(hidden({ frame: null }), false);
  assert.equal(hidden({ masks: null, tokens: [] }), true);
  assert.equal(hidden({ masks: null }), true);
  assert.equal(hidden({ masks: resultOf({}, { empty: [2] }), tokens: [] }), true);
});

test('masks: what is said of each cell', async () => {
  const { find, lines, show } = await put();
  const { matrix } = find('qkv-mask-grid');
  for (const [title, masks] of [
    ['causal', resultOf()],
    ['an empty row', resultOf({}, { empty: [1] })],
    ['without a weight', resultOf({ maskKind: 'none' }, { weights: Float32Array.of(1) })],
  ]) {
    show(title, { masks });
    lines.length = title === 'causal' ? 0 : lines.length;
    for (let at = 0; at < 9; at++) {
      lines.push(matrix.model.describe({ row: Math.floor(at / 3), col: at % 3 }));
    }
  }
  const { home, bracket, rows, cols, look, rowHeight, name } = matrix.model;
  lines.push(JSON.stringify({ home, bracket, rows, cols, look, rowHeight, name }));
  requireWritten('masks-cells', lines);
});

test('masks: the brush turns the first cell over, and makes the others of its stroke like it', async () => {
  const { find, show, asked } = await put();
  const plot = find('.matrix-plot');
  find('.matrix-cells').getBoundingClientRect = () => ({ left: 0, top: 0, width: 30, height: 30 });
  const say = (type, row, col) =>
    fire(plot, type, PointerEvent, {
      ...{ clientX: 10 * col + 5, clientY: 10 * row + 5, pointerType: 'mouse', pointerId: 1 },
    });
  const stroke = (...cells) => {
    asked.length = 0;
    cells.forEach(([row, col], i) => say(i === 0 ? 'pointerdown' : 'pointermove', row, col));
    say('pointerup', ...cells.at(-1));
    return asked.map(({ maskKind, maskPaint }) => [
      maskKind,
      ...[0, 1, 2].map((row) => maskPaint.slice(4 * row, 4 * row + 1)),
    ]);
  };
  assert.deepEqual(stroke([0, 0]), [], 'without a state nothing is painted');
  show('', { frame: null });
  assert.deepEqual(stroke([0, 0]), [], 'nor without a result');
  show('');
  assert.deepEqual(stroke([0, 1], [0, 2], [1, 2]), [
    ['painted', 'c', 'c', 'e'],
    ['painted', 'e', 'c', 'e'],
    ['painted', 'e', 'e', 'e'],
  ]);
  assert.deepEqual(stroke([2, 0], [1, 0]), [
    ['painted', 'e', 'e', '6'],
    ['painted', 'e', '6', '6'],
  ]);
});

test('masks: what was painted is said when its result is there', async () => {
  const { find, show } = await put();
  const said = [];
  Object.defineProperty(find('[role=status][aria-live]'), 'textContent', {
    set(text) {
      said.push(text);
    },
  });
  show('');
  show('', { look: 2 });
  await rest();
  assert.deepEqual(said, []);
  const plot = find('.matrix-plot');
  fire(plot, 'keydown', KeyboardEvent, { key: 'ArrowUp' });
  await rest();
  said.length = 0;
  const space = new KeyboardEvent('keydown', { key: ' ', bubbles: true, cancelable: true });
  plot.dispatchEvent(space);
  assert.equal(space.defaultPrevented, true);
  await rest();
  assert.deepEqual(said, []);
  delays.clear();
  show('', { masks: resultOf({ maskKind: 'none' }) });
  assert.deepEqual([...delays], [150]);
  await rest();
  assert.equal(said.length, 1);
  assert.match(said[0], /query 1 “b”, key 0 “a”: weight/);
  show('', { masks: resultOf({ maskKind: 'causal' }) });
  await rest();
  assert.equal(said.length, 1);
});

test('masks: what the controls ask for', async () => {
  const { asked, show, find } = await put();
  show('');
  for (const kind of ['prefix', 'none']) {
    const radio = find(`[name=mask-kind][value=${kind}]`);
    radio.checked = true;
    fire(radio, 'change');
  }
  const slider = find('#mask-size');
  assert.deepEqual([slider.min, slider.max], ['1', '16']);
  enter(slider, '5');
  assert.deepEqual(asked.splice(0), [
    { maskKind: 'prefix' },
    { maskKind: 'none' },
    { maskSize: 5 },
  ]);
  for (const [random, seed] of [
    [0, 1],
    [0.5, 500000],
    [0.9999999, 999999],
  ]) {
    mock.method(Math, 'random', () => random);
    find('.shuffle').click();
    assert.deepEqual(asked.splice(0), [{ maskShuffle: seed }]);
  }
  show('', { state: { maskShuffle: 4 } });
  find('.as-written').click();
  assert.deepEqual(asked.splice(0), [{ maskShuffle: 0 }]);
});

test('masks: its canvas is given away, and its legend painted', async () => {
  const given = [];
  document.addEventListener('canvas-given', ({ detail }) => given.push(detail));
  const { find } = await put();
  assert.deepEqual(
    given.map(({ name, canvas }) => [name, canvas]),
    [['masks', find('.matrix-cells')]],
  );
  const [[name, image, x, y]] = find('.legend canvas').drawnWith.drawn;
  assert.deepEqual([name, image.width, image.height, x, y], ['putImageData', 256, 1, 0, 0]);
});

test('masks: its surface is asked for as soon as there is a state', async () => {
  const { panel, show, find } = await put();
  assert.deepEqual(panel.surfaces(), {});
  show('', { frame: null });
  assert.deepEqual(panel.surfaces(), { masks: { width: 0, height: 0 } });
  show('');
  const { size } = find('qkv-mask-grid').matrix;
  assert.ok(size.width > 100);
  assert.deepEqual(panel.surfaces(), { masks: size });
  layOut(SIZE);
});

test('masks: what a guess asks for, and how it is judged', async () => {
  const { lines, note, show, panel, find } = await put('qkv-mask-order');
  const state = { masksAsk: true };
  const swaps = (masked, more) => ({ masks: resultOf({}, { swaps: swapsOf(masked) }), ...more });
  show('asked', { state });
  show('asked while it is shuffled', swaps(0.5, { state: { ...state, maskShuffle: 9 } }));
  const guess = (value) => note(`guess ${value}`, () => find(`[data-guess=${value}]`).click());
  const told = (title, masked, more) =>
    show(title, swaps(masked, { state: { maskShuffle: 9, ...more } }));
  guess('keeps');
  told('judged', 0.5);
  told('a difference of rounding', 1e-4);
  told('a difference just above', 1.0001e-4);
  told('another size', 0.5, { maskSize: 2 });
  told('as before', 0.5);
  show('asked again', swaps(0.5, { state: { ...state, maskShuffle: 9 } }));
  guess('breaks');
  told('judged', 0.5);
  note('again', () => find('.guess-again').click());
  await rest();
  show('asked as it is written', { state });
  guess('show');
  told('not judged', 0.5);
  show('asked as it is written', { state });
  guess('breaks');
  show('its own order, of the seed 1', swaps(0.5, { state: { maskShuffle: 1 } }));
  show('before the result', { state: { maskShuffle: 1 } });
  for (const [name, more] of Object.entries({
    'another kind': { maskKind: 'none' },
    'another paint': { maskPaint: '0'.repeat(64) },
    'another source': { source: 'random' },
    'another order': { maskShuffle: 2 },
  })) {
    show(`asked before ${name}`, { state });
    find('[data-guess=breaks]').click();
    show(name, swaps(0.5, { state: { maskShuffle: 1, ...more } }));
  }
  note('a guess of nothing we know', () =>
    panel.dispatchEvent(new CustomEvent('guessed', { detail: 'perhaps' })),
  );
  requireWritten('masks-guess', lines);
});

test('masks: the focus goes to the first answer after another turn was asked for', async () => {
  const { show, find } = await put('qkv-mask-order');
  show('', { state: { masksAsk: true } });
  find('[data-guess=breaks]').click();
  show('', { state: { maskShuffle: 1 }, masks: resultOf({}, { swaps: swapsOf(1) }) });
  find('.guess-again').click();
  show('', { state: { masksAsk: true } });
  await rest();
  assert.equal(document.activeElement, find('[data-guess=keeps]'));
});

test('masks: its drawing, its table, and the picture of it', async () => {
  const lines = [];
  const canvas = document.createElement('canvas');
  for (const state of [{}, { maskKind: 'padding', maskSize: 1, source: 'random' }]) {
    const { frame } = viewOf({ state });
    const { name, svg, table, data } = web.masksFigure(frame, frame.masks, canvas);
    lines.push('', `== ${name}, ${svg.width} x ${svg.height}, ${Object.keys(data)}`);
    lines.push(...svg.body.replaceAll('><', '>\n<').split('\n'));
    lines.push(...table.map((row) => row.join(' | ')));
  }
  requireWritten('masks-figures', lines);
  const { panel } = await put();
  assert.equal(await panel.figure(viewOf({ frame: null })), null);
  assert.equal(await panel.figure(viewOf({ masks: null })), null);
  assert.equal((await panel.figure(viewOf())).name, 'masks');
  const { pictures } = web.masksFrames({ log: [] });
  const result = resultOf();
  assert.equal(pictures.masks.of(result), result);
  const { rows, cols, values, signed, allowed, mask, place } = pictures.masks.picture(result);
  assert.deepEqual([rows, cols, signed, allowed(1)], [3, 3, false, [0, 3]]);
  assert.deepEqual([values, mask], [result.weights, result.mask]);
  assert.deepEqual([place(0), place(1), place(0.5)], [0, 255, 128]);
});
