// Masks on a trained model, in Node: keys are cut from all its heads, against weights that are scaled again by hand and against passes in
// which every edge is cut for itself; and what the panel says of it.
import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { close } from '../support/close.js';
import { openFamily } from '../support/own_model.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules, packageModule } = await import('../support/engine.js');
const web = await modules(
  'features/model/worker/{cut_pass,open_model}',
  'features/masks/{panel,state}',
  'features/masks/worker/{frame_feature,masked_grid}',
  'features/masks/shared/mask_grid',
  'state/state',
  'i18n/i18n',
);
afterEach(leave);

const ids = [3, 1, 4, 1, 5, 9];
const T = ids.length;
let qkv;
before(async () => (qkv = await (await packageModule('index')).init()));

const opened = (family) => openFamily(web.open, qkv, family);
/** Every cell of a mask. */
const maskOf = (allows) =>
  Uint8Array.from({ length: T * T }, (_, at) => Number(allows(Math.floor(at / T), at % T)));
const softmax = (row) => {
  const powers = Array.from(row, Math.exp);
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((x) => x / sum);
};

describe('masks: a trained model', () => {
  const asked = maskOf((row, col) => col !== 1 && col !== row - 2 && row !== 4);

  for (const [family, causal] of [['llama', true], ['gpt2', true], ['bert', false]]) {
    test(`keys are cut from all heads of ${family}, and what it never reads stays masked`, async () => {
      const of = await opened(family);
      const found = web.cutPass(qkv, of, ids, { mask: asked, head: 2 });
      assert.deepEqual([...found.mask], [...asked].map((a, at) => (causal && at % T > Math.floor(at / T) ? 0 : a)));
      const { layers } = of.model.forward(ids, { inspect: { weights: true, layers: [0] } });
      const whole = layers.get(0).weights.data.subarray(2 * T * T, 3 * T * T);
      for (let row = 0; row < T; row++) {
        const left = whole.slice(row * T, row * T + T).map((w, col) => w * found.mask[row * T + col]);
        const sum = left.reduce((a, b) => a + b);
        let entropy = 0;
        left.forEach((w, col) => {
          const p = sum > 0 ? w / sum : 0;
          if (p > 0) entropy -= p * Math.log(p);
          close(found.weights[row * T + col], p, 1e-5, `${row} on ${col}`);
        });
        close(found.entropy[row], entropy, 1e-4, `entropy of row ${row}`);
      }
      if (!causal) return assert.equal(found.next, null);
      // The same, an edge at a time.
      const edit = [];
      for (let layer = 0; layer < 2; layer++) {
        found.mask.forEach((allowed, at) => {
          const [row, key] = [Math.floor(at / T), at % T];
          if (allowed || key > row) return;
          edit.push({ site: 'scores', layer, rows: [row, row + 1], keys: [key, key + 1], value: -Infinity });
        });
      }
      const read = [{ site: 'weights', layers: [1] }];
      const cut = of.model.forward(ids, { rows: 'last', edit, read });
      const second = web.cutPass(qkv, of, ids, { mask: asked, head: 5 });
      const wanted = cut.activations.get('weights', 1).data.subarray(T * T, 2 * T * T);
      second.weights.forEach((w, at) => close(w, wanted[at], 1e-6, `layer 1, ${at}`));
      const plain = of.model.forward(ids, { rows: 'last' });
      for (const [name, { logits }] of Object.entries({ whole: plain, cut })) {
        const p = softmax(logits.data);
        assert.equal(found.next[name].length, 3);
        const [first] = found.next[name];
        assert.equal(first.label, String(p.indexOf(Math.max(...p))));
        close(first.p, Math.max(...p), 1e-5, name);
      }
      assert.notEqual(found.next.whole[0].p, found.next.cut[0].p);
    });
  }

  test('under a mask that takes nothing away it is as it is, in one pass without edits', async () => {
    const of = await opened('llama');
    const passes = [];
    const model = { forward: (...all) => (passes.push(all[1]), of.model.forward(...all)) };
    for (const allows of [() => true, (row, col) => col <= row]) {
      const { next, weights } = web.cutPass(qkv, { ...of, model }, ids, { mask: maskOf(allows), head: 0 });
      assert.equal(next.cut, null);
      const { layers } = of.model.forward(ids, { inspect: { weights: true, layers: [0] } });
      assert.deepEqual([...weights], [...layers.get(0).weights.data.subarray(0, T * T)]);
    }
    assert.deepEqual(passes.map(({ edit }) => edit), [[], []]);
  });

  test('the grid has its first sixteen tokens in their order, under the mask that is chosen', () => {
    const asks = [];
    const learned = {
      cut(mask, count, head) {
        asks.push([[...mask], count, head]);
        return { mask, weights: new Float32Array(count ** 2), entropy: new Float32Array(count), next: null };
      },
    };
    const tokens = Array.from({ length: 20 }, (_, i) => `t${i}`);
    const request = { maskKind: 'padding', maskSize: 16, maskPaint: web.OPEN_PAINT, maskShuffle: 7 };
    const grid = web.learnedGrid(learned, { tokens }, request, 3);
    assert.deepEqual([grid.tokens, grid.order.at(-1), grid.swaps, grid.head], [tokens.slice(0, 16), 15, null, 3]);
    assert.deepEqual(asks, [[[...web.gridMask(request, 16)], 16, 3]]);
    assert.equal(grid.empty.length, 16);
  });

  test('the frames ask the model again for another mask, text or head, and not for another order', () => {
    let passes = 0;
    const learned = { cut: (mask, count) => (passes++, { mask, weights: new Float32Array(count ** 2), entropy: new Float32Array(count), next: null }) };
    const { compute } = web.masksFrames({ qkv, log: [], whole: null });
    const layer = { source: 'trained', tokens: ['a', 'b'], trained: { model: 1, ids: [1, 2] } };
    const heads = { learned };
    const request = { maskKind: 'causal', maskSize: 3, maskPaint: web.OPEN_PAINT, maskShuffle: 0 };
    const ask = (change = {}, more = {}, head = 0) =>
      compute({ ...request, ...change }, { heads, layer: { ...layer, ...more }, view: { head } });
    const first = ask();
    assert.equal(ask({ maskShuffle: 5 }), first);
    for (const [change, more, head] of [[{ maskKind: 'none' }], [{}, { tokens: ['a', 'c'] }], [{}, {}, 1]]) {
      const before = passes;
      ask(change, more, head);
      assert.equal(passes, before + 1);
    }
    assert.equal(compute(request, { heads: {}, layer: { ...layer, trained: null }, view: { head: 0 } }), null);
  });
}); // prettier-ignore

test('masks: the panel says what the model expects, and that its tokens stay in order', () => {
  const state = { ...web.initialState('en'), source: 'trained' };
  const masks = {
    ...{ head: 5, tokens: ['a', 'b'], order: [0, 1], mask: Uint8Array.of(1, 0, 0, 1), empty: [], swaps: null },
    ...{ request: web.masksRequest(state), weights: new Float32Array(4), entropy: new Float32Array(2) },
    next: { whole: [{ label: 'x', p: 0.5 }, { label: 'y', p: 0.25 }], cut: [{ label: 'z', p: 0.75 }] },
  };
  const layer = { source: 'trained', tokens: ['a', 'b', 'c'], temperature: 1, trainedHeads: { layers: 2, perLayer: 4 } };
  const panel = document.createElement('qkv-panel-masks');
  document.body.append(panel);
  const text = (selector) => panel.querySelector(selector).textContent;
  const view = { state, engine: { kind: 'ready' }, look: 1, list: { tokens: ['a', 'b', 'c'] } };
  panel.update({ ...view, frame: { request: { layer }, masks } });
  assert.equal(text('.cut-next'), 'After b the model expects x 50.0%, y 25.0%; under this mask z 75.0%.');
  assert.match(text('.about'), /^Head 1\.1 of the loaded model, the first 2 of 3 tokens/);
  const own = { ...masks, next: { ...masks.next, cut: null } };
  panel.update({ ...view, look: 3, frame: { request: { layer }, masks: own } });
  assert.equal(text('.cut-next'), 'After b the model expects x 50.0%, y 25.0%; this mask is its own.');
  assert.match(text('qkv-mask-order'), /stay in their order/);
  assert.equal(panel.querySelector('.shuffle').closest('[hidden]') !== null, true);
  assert.equal(panel.querySelector('qkv-matrix').model.rows, 2);
  panel.update({ ...view, look: 2, list: { tokens: [] }, frame: { request: { layer }, masks: null } });
  assert.match(text('.placeholder'), /^No heads of a trained model are here/);
}); // prettier-ignore
