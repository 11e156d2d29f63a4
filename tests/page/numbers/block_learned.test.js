// A layer of a trained model in the block panel, in Node: what is read of it, against sums and products by hand; and what the panel shows.
import assert from 'node:assert/strict';
import { afterEach, before, describe, test } from 'node:test';
import { families } from '../../package/models/support/families.js';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { close } from '../support/close.js';
import { openFamily } from '../support/own_model.js';
import { openWindow } from '../support/window.js';

const { leave } = openWindow();
const { modules, packageModule } = await import('../support/engine.js');
const web = await modules(
  'features/model/worker/{layer_pass,open_model}',
  'features/block/panel',
  'features/block/worker/frame_feature',
  'features/block/page/figure',
  'state/state',
);
afterEach(leave);

const ids = [3, 1, 4, 1, 5, 9];
const T = ids.length;
let qkv;
before(async () => (qkv = await (await packageModule('index')).init()));

const opened = (family) => openFamily(web.open, qkv, family);
const ALL = ['input', 'weights', 'concat', 'attention', 'sum1', 'hidden', 'forward', 'sum2'];
const worst = (a, b) => a.data.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);

describe('block: a layer of a trained model', () => {
  for (const [family, missing] of [
    ['llama', []],
    ['gpt2', []],
    ['gemma2', []],
    ['gpt_neox', ['sum1']],
    ['olmoe', ['hidden']],
  ]) {
    test(`the stream of ${family} is what came in and what was added`, async () => {
      const of = await opened(family);
      const [first, second] = [0, 6].map((head) => web.layerPass(of, ids, head));
      assert.deepEqual([first.layer, second.layer], [0, 1]);
      const { residual: residuals } = of.model.forward(ids, { inspect: { residuals: true } }).layers.get(0);
      assert.deepEqual([...first.places.sum2.data], [...residuals.data]);
      assert.deepEqual([...second.places.input.data], [...residuals.data]);
      for (const { places, heads, difference } of [first, second]) {
        assert.deepEqual(Object.keys(places).sort(), ALL.filter((id) => !missing.includes(id)).sort());
        const { input, attention, sum1, forward, sum2 } = places;
        const middle = attention.data.map((x, i) => x + input.data[i]);
        if (sum1) assert.ok(worst(sum1, middle) < 1e-5, family);
        const out = middle.map((x, i) => x + forward.data[i]);
        close(difference, worst(sum2, out), 1e-6, 'difference');
        assert.ok(difference < 1e-5, `${difference}`);
        for (const id of ['input', 'concat', 'attention', 'sum2']) assert.equal(places[id].shape[0], T);
        // Heads add up to attention, but for a bias, which is the same at every token.
        if (family === 'gemma2') continue; // a norm comes between
        const sum = (at) => heads.reduce((total, { data }) => total + data[at], 0);
        const d = input.shape[1];
        for (let at = d; at < T * d; at++) {
          close(attention.data[at] - sum(at), attention.data[at % d] - sum(at % d), 1e-5, `${at}`);
        }
      }
    });
  }

  test('weights are those of the head that is asked for, and heads stand side by side by tokens', async () => {
    const of = await opened('llama');
    const { places, heads } = web.layerPass(of, ids, 6);
    const { weights, v } = of.model.forward(ids, { inspect: { weights: true, projections: true } }).layers.get(1);
    assert.deepEqual([...places.weights.data], [...weights.data.subarray(2 * T * T, 3 * T * T)]);
    const [width, kv] = [v.shape[3], v.shape[1]];
    for (const [head, row, col] of [[0, 0, 0], [2, 5, 3], [3, 4, width - 1]]) {
      let mixed = 0;
      for (let key = 0; key < T; key++) {
        mixed += weights.data[(head * T + row) * T + key] * v.data[(Math.floor((head * kv) / 4) * T + key) * width + col];
      }
      close(places.concat.data[row * 4 * width + head * width + col], mixed, 1e-5, `head ${head}`);
    }
    assert.equal(heads.length, 4);
  });

  test('of every family, and of models without a feed-forward part, there is what the package reads', async () => {
    for (const family of Object.keys(families)) {
      const of = await opened(family).catch(() => null); // what reads two texts is none of this panel's
      if (of === null || family === 't5') continue; // its decoder needs a source, which the panel does not have
      const { numLayers, numHeads } = of.info;
      const { places, heads } = web.layerPass(of, ids, numLayers * numHeads - 1);
      assert.ok(places.sum2 && places.attention && heads.length > 0, family);
      of.model.dispose();
    }
    for (const name of ['names', 'austen']) {
      const file = new File([readFileSync(join(root, `models/${name}/${name}.safetensors`))], name);
      const options = { signal: new AbortController().signal, onProgress: () => undefined };
      const of = await web.open(qkv, { kind: 'files', files: [file] }, options);
      const { places, difference } = web.layerPass(of, ids, 5);
      const wanted = name === 'austen' ? ALL : ['input', 'weights', 'concat', 'attention', 'sum2'];
      assert.deepEqual(Object.keys(places).sort(), [...wanted].sort());
      assert.ok(difference < 1e-4, `${difference}`);
      of.model.dispose();
    }
  });

  test('of an encoder with norms after the sums nothing is compared', async () => {
    const of = await opened('bert');
    assert.equal(web.layerPass(of, ids, 0).difference, null);
  });

  test('the frames read a layer again for another head or text, and show the last place for one that is not there', () => {
    const asked = [];
    const array = (rows, cols) => ({ data: new Float32Array(rows * cols).fill(2), shape: [rows, cols] });
    const learned = {
      layer(head, count) {
        asked.push([head, count]);
        const places = { input: array(2, 4), weights: array(2, 2), sum2: array(2, 4) };
        return { layer: 1, places, heads: [array(2, 4), array(2, 4)], difference: 0 };
      },
    };
    const { compute } = web.blockFrames({ qkv, log: [] });
    const heads = { learned };
    const layer = { source: 'trained', tokens: ['a', 'b'], mask: 'causal' };
    const ask = (tap, head = 3) => compute({ tap }, { heads, layer, view: { head } });
    const block = ask('norm1');
    assert.deepEqual([block.shown.id, block.path, block.tokens], ['sum2', ['input', 'weights', 'sum2'], ['a', 'b']]);
    assert.deepEqual(block.learned, { layer: 1, firstHead: 2 });
    assert.deepEqual([...block.norms.input.norms], [4, 4]);
    assert.equal(ask('weights').shown.rows, 2);
    assert.deepEqual(asked, [[3, 2]], 'another place is of the same pass');
    ask('weights', 2);
    assert.equal(asked.length, 2);
    assert.equal(compute({ tap: 'input' }, { heads: {}, layer, view: { head: 0 } }), null);
    const { svg, table } = web.blockFigure(block, 1, null);
    assert.match(svg.body, /Layer 1 of the loaded model/);
    assert.deepEqual(table.slice(1, 3), [['X, the tokens', 4, 4], ['Stream + feed-forward', 4, 4]]);
  });

  test('the panel shows the layer without norms to choose, and says what is not read', async () => {
    const of = await opened('llama');
    const state = { ...web.initialState('en'), source: 'trained', blockTap: 'hidden', head: 6 };
    const learned = { layer: (head, count) => web.layerPass(of, ids.slice(0, count), head) };
    const tokens = ids.map(String);
    const layer = { source: 'trained', tokens, mask: 'causal', trainedHeads: { layers: 2, perLayer: 4 } };
    const { compute } = web.blockFrames({ qkv, log: [] });
    const block = compute({ tap: 'hidden' }, { heads: { learned }, layer, view: { head: 6 } });
    const panel = document.createElement('qkv-panel-block');
    document.body.append(panel);
    const view = { state, engine: { kind: 'ready' }, look: 1, heads: layer, query: 2, theme: 'light' };
    panel.update({ ...view, list: { tokens }, frame: { request: { layer }, block } });
    const all = (selector) => [...panel.querySelectorAll(selector)];
    const rows = all('.block-tap input').map(({ value }) => value);
    assert.deepEqual(rows, ALL);
    assert.equal(panel.querySelector('.block-tap :checked').value, 'hidden');
    assert.equal(panel.querySelector('.tap-title').textContent, 'Feed-forward, hidden layer');
    assert.match(panel.querySelector('qkv-block-diagram h3').textContent, /^Layer 1 of the loaded model/);
    assert.equal(panel.querySelector('qkv-block-diagram .tools-row').hidden, true);
    assert.match(panel.querySelector('.same').textContent, /a difference of at most .* the norms is not read\.$/);
    assert.deepEqual(all('.block-heads th[scope=row]').map(({ textContent }) => textContent.match(/1\.\d/)[0]), ['1.0', '1.1', '1.2', '1.3']);
    assert.match(all('.block-heads .shown th')[0].textContent, /1\.2/);
    const shown = all('.card').filter((card) => !card.hidden && !card.classList.contains('any-text'));
    assert.equal(shown.length, 1, 'a stack and another sentence are of the page’s own heads');
    assert.equal(panel.querySelector('.placeholder').hidden, true);
    panel.update({ ...view, look: 2, list: { tokens: [] }, frame: null });
    assert.match(panel.querySelector('.placeholder').textContent, /^No trained model is here/);
  });
}); // prettier-ignore
