// The panel about masks and order, in Node, from results that the test makes: what it shows in states that a page is seldom in,
// what a brush, a shuffle and a guess ask for, and its drawing.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { enter, fire } from '../support/operate.js';
import { openWindow, SIZE } from '../support/window.js';

const { rest, delays, layOut, leave } = openWindow();
HTMLCanvasElement.prototype.toDataURL = () => 'data:';
const { modules } = await import('../support/engine.js');
const web = await modules(
  'features/masks/{panel,feature,state}',
  'features/masks/page/{order_part,figure}',
  'features/masks/shared/mask_grid',
  'features/masks/worker/frame_feature',
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
  await rest();
  const show = (more) => panel.update(viewOf(more));
  const find = (selector) => panel.querySelector(selector);
  return { panel, show, asked, find, text: (selector) => find(selector).textContent };
}

test('masks: without a grid the panel says why', async () => {
  const { show, find, text } = await put();
  for (const [more, why] of [
    [{ frame: null, engine: { kind: 'loading' } }, 'map.loading'],
    [{}, null],
    [{ masks: null }, null], // the last result stays
    [{ tokens: [] }, 'map.empty'],
    [{ engine: { kind: 'failed' } }, 'map.failed'],
    [{ state: { source: 'trained' } }, 'masks.learned'],
  ]) {
    show(more);
    const hidden = ['.placeholder', '.legend', 'qkv-matrix'].map((name) => find(name).hidden);
    const shown = why === null;
    assert.deepEqual(hidden, [shown, !shown, !shown], JSON.stringify(more));
    if (!shown) assert.equal(text('.placeholder'), web.textOf(why));
  }
});

test('masks: the kind that is chosen is explained, and has a size where it takes one', async () => {
  const { show, find, text } = await put();
  for (const maskKind of web.MASK_KINDS) {
    show({ state: { maskKind, maskSize: 2 } });
    assert.equal(find('[name=mask-kind]:checked').value, maskKind);
    assert.equal(text('.how'), web.textOf(`masks.${maskKind}How`));
    const sized = ['window', 'padding', 'prefix'].includes(maskKind);
    assert.deepEqual([find('.size').hidden, find('#mask-size').value], [!sized, '2']);
    if (!sized) continue;
    assert.equal(text('.size label'), web.textOf(`masks.${maskKind}Size`));
    assert.match(find('#mask-size').getAttribute('aria-valuetext'), /^2 /);
  }
});

test('masks: it says of which layer the weights are, and which rows have no key', async () => {
  const { show, text } = await put();
  for (const [more, words] of [
    [{}, 'Head “previous token”, τ 0.5, positions: sinusoidal, as set above.'],
    [{ state: { positions: 'none' } }, 'Head “previous token”, τ 0.5, positions: none, as set above.'],
    [{ state: { source: 'random' } }, 'Head “Head 2”, τ 0.5, positions: sinusoidal, as set above.'],
    [{ state: { source: 'yours' } }, 'Head “Q and K as given”, τ 0.5, positions: –, as set above.'],
    [{ layer: { tokens: [...TOKENS, 'd'] } }, 'Head “previous token”, τ 0.5, positions: sinusoidal, as set above. The first 3 of 4 tokens.'],
  ]) {
    show(more);
    assert.equal(text('.about'), words);
  } // prettier-ignore
  show({ masks: resultOf({}, { empty: [0, 2] }) });
  assert.match(text('.empty-rows'), /^No key is left for 0 “a”, 2 “<c>”\./);
});

test('masks: what a shuffle changes is measured with and without positions, and explained', async () => {
  const { show, find, text } = await put();
  const cells = () =>
    ['without-free', 'without-masked', 'sinusoidal-free', 'sinusoidal-masked'].map((name) =>
      text(`[data-swap=${name}]`),
    );
  const shuffled = (swaps) => show({ state: { maskShuffle: 5 }, masks: resultOf({}, { swaps }) });
  show();
  assert.deepEqual([find('.swapped').hidden, find('.as-written').disabled], [true, true]);
  for (const [swaps, values, explained] of [
    [swapsOf(0.25), ['2.0×10⁻⁷', '0.25', '0.50', '0.75'], 'masks.maskBreaks'],
    [swapsOf(1e-4), ['2.0×10⁻⁷', '1.0×10⁻⁴', '0.50', '0.75'], 'masks.maskKeeps'],
    [{ without: { masked: 1.01e-4, free: 0 }, sinusoidal: null }, ['0', '1.0×10⁻⁴', '–', '–'], 'masks.maskBreaks'],
  ]) {
    shuffled(swaps);
    assert.deepEqual([find('.swapped').hidden, find('.as-written').disabled], [false, false]);
    assert.deepEqual([cells(), text('.mask-why')], [values, web.textOf(explained)]);
    assert.equal(text('.sequence'), 'Now: a · b · <c>');
  } // prettier-ignore
  show({ tokens: ['a'], masks: resultOf({}, { tokens: ['a'] }) });
  assert.equal(find('.shuffle').disabled, true, 'one token has no other order');
});

test('masks: what is said of empty rows stays until another result, or until there is no text', async () => {
  const { show, find } = await put();
  const { hidden: first } = find('.empty-rows');
  const hidden = (more) => {
    show(more);
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

test('masks: a cell says its weight, that it is masked, or that its row is empty', async () => {
  const { find, show } = await put();
  const { matrix } = find('qkv-mask-grid');
  const masks = resultOf({}, { empty: [1] });
  show({ masks });
  for (let at = 0; at < 9; at++) {
    const [row, col] = [Math.floor(at / 3), at % 3];
    const said = matrix.model.describe({ row, col });
    const names = `query ${row} “${TOKENS[row]}”, key ${col} “${TOKENS[col]}”: `;
    if (row === 1) assert.equal(said, `${names}masked, like the whole row: all zeros`);
    else if (col > row) assert.equal(said, `${names}masked, weight 0`);
    else {
      assert.ok(said.startsWith(`${names}weight `), said);
      assert.equal(Number(said.split('weight ')[1]), (at + 1) / 16);
    }
  }
  const { home, rows, cols, name } = matrix.model;
  assert.deepEqual([home, rows, cols], [{ row: 2, col: 0 }, 3, 3]);
  assert.match(name, /^Head “previous token”, 3 queries by 3 keys\./);
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
  show({ frame: null });
  assert.deepEqual(stroke([0, 0]), [], 'nor without a result');
  show();
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
  show();
  show({ look: 2 });
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
  show({ masks: resultOf({ maskKind: 'none' }) });
  assert.deepEqual([...delays], [150]);
  await rest();
  assert.equal(said.length, 1);
  assert.match(said[0], /query 1 “b”, key 0 “a”: weight/);
  show({ masks: resultOf({ maskKind: 'causal' }) });
  await rest();
  assert.equal(said.length, 1);
});

test('masks: what the controls ask for', async () => {
  const { asked, show, find } = await put();
  show();
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
  show({ state: { maskShuffle: 4 } });
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
  show({ frame: null });
  assert.deepEqual(panel.surfaces(), { masks: { width: 0, height: 0 } });
  show();
  const { size } = find('qkv-mask-grid').matrix;
  assert.ok(size.width > 100);
  assert.deepEqual(panel.surfaces(), { masks: size });
  layOut(SIZE);
});

test('masks: a guess is right when the mask changes the output by more than rounding, and is about one order', async () => {
  const { show, panel, find, text, asked } = await put('qkv-mask-order');
  const state = { masksAsk: true };
  const verdict = () => find('qkv-guess [role=status]').textContent;
  const result = (masked, more) =>
    show({ masks: resultOf({}, { swaps: swapsOf(masked) }), state: { maskShuffle: 9, ...more } });
  const guess = (value) => {
    result(0.5, state);
    assert.equal(find('.swapped').hidden, true, 'no answer before the guess');
    assert.equal(verdict(), '');
    asked.length = 0;
    find(`[data-guess=${value}]`).click();
    assert.deepEqual(asked, [{ masksAsk: false, maskShuffle: 9 }]);
  };
  for (const [value, masked, right] of [
    ['keeps', 0.5, false],
    ['keeps', 1e-4, true],
    ['keeps', 1.0001e-4, false],
    ['breaks', 0.5, true],
    ['breaks', 1e-4, false],
  ]) {
    guess(value);
    result(masked);
    assert.equal(verdict().startsWith(web.textOf('guess.right')), right, `${value} ${masked}`);
    assert.match(verdict(), /differ by at most/);
  }
  for (const more of [
    { maskKind: 'none' },
    { maskSize: 2 },
    { maskPaint: '0'.repeat(64) },
    { source: 'random' },
    { maskShuffle: 2 },
  ]) {
    guess('breaks');
    result(0.5, more);
    assert.equal(verdict(), '', `a guess is not about ${JSON.stringify(more)}`);
  }
  guess('breaks');
  const frame = viewOf({ masks: resultOf({}, { swaps: swapsOf(0.5) }) });
  panel.update({
    ...frame,
    state: { ...frame.state, maskShuffle: 9 },
    list: { tokens: ['d', ...TOKENS] },
  });
  assert.equal(verdict(), '', 'a guess is not about another number of tokens');
  guess('show');
  result(0.5);
  assert.equal(verdict(), '', 'who only wants to see it has guessed nothing');
  show({ state });
  find('[data-guess=breaks]').click();
  assert.equal(asked.at(-1).maskShuffle, 1, 'what is as written is shuffled');
  find('.guess-again').click();
  assert.deepEqual(asked.at(-1), { masksAsk: true });
  panel.dispatchEvent(new CustomEvent('guessed', { detail: 'perhaps' }));
  result(0.5);
  assert.equal(verdict(), '');
  show({ state });
  assert.match(text('qkv-guess'), /under the mask “causal”/);
});

test('masks: the focus goes to the first answer after another turn was asked for', async () => {
  const { show, find } = await put('qkv-mask-order');
  show({ state: { masksAsk: true } });
  find('[data-guess=breaks]').click();
  show({ state: { maskShuffle: 1 }, masks: resultOf({}, { swaps: swapsOf(1) }) });
  find('.guess-again').click();
  show({ state: { masksAsk: true } });
  await rest();
  assert.equal(document.activeElement, find('[data-guess=keeps]'));
});

test('masks: its file has the weights in a table, and what is masked hatched', async () => {
  const canvas = document.createElement('canvas');
  for (const [state, title, masked] of [
    [{}, 'previous token · causal · τ 0.5 · ', 3],
    [{ maskKind: 'padding', maskSize: 1, source: 'random' }, 'Head 2 · padding · τ 0.5 · ', 3],
  ]) {
    const { frame } = viewOf({ state });
    const { svg, table } = web.masksFigure(frame, frame.masks, canvas);
    assert.ok(svg.body.includes(title));
    assert.equal(svg.body.split('url(#masked)').length - 1, masked);
    const { weights } = frame.masks;
    const rows = TOKENS.map((token, row) => [token, ...weights.slice(3 * row, 3 * row + 3)]);
    assert.deepEqual(table, [['', ...TOKENS], ...rows]);
  }
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
