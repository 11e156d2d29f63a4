// The panel about masks and order, in Node, from results that the test makes: what it shows in states that a page is seldom in,
// what a brush, a shuffle and a guess ask for, and its drawing.
import assert from 'node:assert/strict';
import { afterEach, mock, test } from 'node:test';
import { openWindow } from '../support/window.js';

const { rest, leave } = openWindow();
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
    [{ state: { source: 'trained' }, tokens: [] }, 'masks.learned'],
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
