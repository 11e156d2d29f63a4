// What a frame has of a block: which of its parts are computed again after a change, how they are painted and taken away, and
// that both attentions are those of the formula.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';
import { numbersOf } from '../support/drawing.js';

const web = await modules(
  ...[
    ...[
      'worker/block_taps',
      'worker/cross_weights',
      'worker/depth_study',
      'page/plots',
      'page/figure',
      'worker/frame_feature',
      'shared/constants',
    ],
    ...['worker/deep_stack', 'state'],
  ].map((name) => `features/block/${name}`),
  ...['engine/layer_weights', 'domain/cividis', 'domain/sources'],
);
const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init();
const D = 64;

const model = web.modelOf(qkv, 'random', 7);
const inputOf = (tokens) => web.layerInput(qkv, model, tokens, 'sinusoidal');
const TOKENS = ['The', 'cat', 'sat'];

// ---- frames ----

const REQUEST = { place: 'pre', type: 'layer', tap: 'sum1', context: ['A', 'dog'] };
const layerOf = (tokens) => ({
  ...{ tokens, seed: 1, mask: 'causal', temperature: 1, positions: 'sinusoidal' },
});
const sceneOf = (tokens = TOKENS, { layer = {}, head = 1, heads = {} } = {}) => ({
  heads: { model, count: 4, x: inputOf(tokens), ...heads },
  layer: { ...layerOf(tokens), ...layer },
  view: { head },
});

test('block: a frame has the taps of the block, and the chosen one whole', () => {
  for (const [tap, head] of [
    ['concat', 1],
    ['weights', 2],
    ['sum2', 0],
  ]) {
    // prettier-ignore
    const { compute } = web.blockFrames({ qkv, log: [] });
    const layer = { mask: 'window', temperature: 1.5, seed: 4 };
    const view = compute({ ...REQUEST, place: 'post', tap }, sceneOf(TOKENS, { head, layer }));
    const x = { data: inputOf(TOKENS), shape: [3, D] };
    const attention = { causal: true, window: [3, 0], temperature: 1.5 };
    const options = { place: 'post', type: 'layer', head, seed: 4, attention };
    const { taps, heads, difference } = web.blockTaps(qkv, model, x, options);
    assert.deepEqual([view.place, view.type, view.tokens], ['post', 'layer', TOKENS]);
    assert.equal(view.difference, difference);
    assert.deepEqual(
      view.heads,
      heads.map(({ norms }) => norms),
    );
    for (const id of web.TAPS) {
      assert.deepEqual(view.norms[id], { cols: taps[id].cols, norms: taps[id].norms });
    }
    const { rows, cols, data } = taps[tap];
    const range = Math.max(...Array.from(data, Math.abs));
    assert.deepEqual(view.shown, { id: tap, head, mask: 'window', rows, cols, data, range });
  }
  const open = { layer: { mask: 'none' } };
  const { shown } = web.blockFrames({ qkv, log: [] }).compute({ ...REQUEST, tap: 'weights' }, sceneOf(TOKENS, open)); // prettier-ignore
  assert.ok(shown.range < 1 && shown.range === Math.max(...shown.data), 'a range below 1');
});

test('block: of long texts the first 64 tokens are read, and a sentence of no words reads nothing', () => {
  const log = [];
  const { compute } = web.blockFrames({ qkv, log });
  const many = Array.from({ length: 66 }, (_, i) => `w${i}`);
  const { tokens, norms, cross } = compute(REQUEST, sceneOf(many));
  assert.deepEqual(tokens, many.slice(0, 64));
  assert.equal(norms.input.norms.length, 64);
  assert.equal(cross.weights.length, 128);
  const empty = compute({ ...REQUEST, context: [] }, sceneOf()).cross;
  assert.deepEqual(empty, { head: 1, rows: TOKENS, cols: [], weights: new Float32Array() });
});

test('block: weights over another sentence are those of the formula', () => {
  const [x, context] = [TOKENS, ['A', 'dog', 'saw', 'it']].map((tokens) => ({ data: inputOf(tokens), shape: [tokens.length, D] })); // prettier-ignore
  const width = model.wq.length / D;
  const own = { ...model, bq: Float32Array.from({ length: width }, (_, i) => Math.sin(i)) };
  const project = ({ data, shape }, matrix, head, bias) =>
    Array.from({ length: shape[0] }, (_, row) =>
      Array.from({ length: 16 }, (_, c) => {
        let sum = bias ? bias[head * 16 + c] : 0;
        for (let k = 0; k < D; ++k) sum += data[row * D + k] * matrix[k * width + head * 16 + c];
        return sum;
      }),
    );
  for (const head of [0, 2]) {
    const found = web.crossWeights(qkv, own, { x, context, head }, 1.5);
    const [q, k] = [project(x, own.wq, head, own.bq), project(context, own.wk, head)];
    q.forEach((query, row) => {
      const powers = k.map((key) => Math.exp(query.reduce((sum, a, c) => sum + a * key[c], 0) / 4 / 1.5)); // prettier-ignore
      const total = powers.reduce((a, b) => a + b);
      powers.forEach((power, col) => {
        assert.ok(Math.abs(found[row * 4 + col] - power / total) < 1e-5, `${head} ${row} ${col}`);
      });
    });
  }
});

test('block: how far the block operator is from the last row, and that it is given back', () => {
  const x = { data: inputOf(TOKENS), shape: [3, D] };
  const disposed = [];
  const withBlock = (forward) =>
    Object.assign(Object.create(qkv), {
      transformerBlock(config, weights) {
        const block = qkv.transformerBlock(config, weights);
        return {
          forward: (...args) => forward(block.forward(...args), ...args),
          dispose: () => disposed.push(block.dispose()),
        };
      },
    });
  const options = { place: 'pre', type: 'rms', head: 0, seed: 3, attention: { causal: true } };
  const differenceOf = (change) => {
    const other = withBlock((result) => {
      const data = result.output.data.slice();
      change(data);
      return { output: { ...result.output, data } };
    });
    return web.blockTaps(other, model, x, options).difference;
  };
  assert.equal(differenceOf(() => undefined), 0); // prettier-ignore
  const off = differenceOf((data) => ((data[5] += 0.5), (data[7] -= 2)));
  assert.ok(Math.abs(off - 2) < 1e-5, `${off}`);
  assert.ok(Number.isNaN(differenceOf((data) => (data[9] = NaN))));
  assert.equal(disposed.length, 3);
  const broken = withBlock(() => {
    throw new Error('it broke');
  });
  assert.throws(() => web.blockTaps(broken, model, x, options), /it broke/);
  assert.equal(disposed.length, 4);
});

// ---- what is asked for ----

test('block: what a state asks for, and what a link says of it', () => {
  const state = { blockNorm: 'post', blockType: 'rms', blockTap: 'hidden', language: 'en', tokenizer: 'words' }; // prettier-ignore
  const asked = (more) => web.blockRequest({ ...state, blockContext: '', ...more });
  const { context, ...others } = asked();
  assert.deepEqual(others, { place: 'post', type: 'rms', tap: 'hidden' });
  assert.equal(context.join(' '), 'A tired dog saw the cat on a mat .');
  assert.ok(asked({ language: 'zh' }).context.join('').startsWith('一只累了的狗'));
  assert.deepEqual(asked({ blockContext: 'one two' }).context, ['one', 'two']);
  assert.equal(asked({ blockContext: 'a '.repeat(80) }).context.length, 64);
  const { read, write } = web.blockFields.blockContext;
  for (const how of [read, write]) {
    assert.equal(how('x'.repeat(600)).length, 500);
    assert.equal(how(`${'x'.repeat(499)}😀`), `${'x'.repeat(499)}\uFFFD`);
  }
  assert.deepEqual(['constructed', 'random', 'trained', 'yours'].map(web.hasBlock), [true, true, false, false]); // prettier-ignore
});

// ---- stacks ----

const requestOf = (layer = {}) => ({
  layer: { ...layerOf(TOKENS), source: 'random', seed: 7, ...layer },
  ...{ type: 'layer', depth: 2, seed: 3, rule: 'scaled' },
});

test('block: a stack reads the first 64 tokens with the mask, positions and temperature of the layer', () => {
  const seen = {};
  const watched = Object.assign(Object.create(qkv), {
    layerNorm(x, options) {
      seen.x ??= { shape: x.shape, data: x.data.slice() };
      return qkv.layerNorm(x, options);
    },
    attention(q, k, v, options) {
      seen.options ??= options;
      return qkv.attention(q, k, v, options);
    },
  });
  const many = Array.from({ length: 66 }, (_, i) => `w${i}`);
  const layer = { tokens: many, mask: 'window', positions: 'none', temperature: 2 };
  web.depthStudy(watched, requestOf(layer)).next();
  const data = web.layerInput(qkv, model, many.slice(0, 64), 'none');
  assert.deepEqual(seen.x, { shape: [64, D], data });
  const { causal, window, temperature } = seen.options;
  assert.deepEqual([causal, window, temperature], [true, [3, 0], 2]);
});

// ---- figures ----

const band = (from, count) => {
  const middle = Array.from({ length: count }, (_, l) => from * 1.25 ** l);
  return { middle, low: middle.map((v) => v / 2), high: middle.map((v) => 3 * v) };
};
const depthOf = (count) => ({
  request: requestOf(),
  curves: Object.fromEntries(
    ['pre', 'post'].map((place, i) => [place, { stream: band(1 + i, count), gradient: band(5 + i, count) }]), // prettier-ignore
  ),
});

test('block: what is taken away has the mean length at each tap, that of the token, and the stacks', () => {
  const { compute } = web.blockFrames({ qkv, log: [] });
  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  for (const place of ['pre', 'post']) {
    const block = compute({ ...REQUEST, place }, sceneOf());
    for (const [query, token] of [
      [1, 'cat'],
      [7, ''],
    ]) {
      const { name, svg, table, data } = web.blockFigure(block, query, null);
      assert.deepEqual([name, Object.keys(data), table[0]], ['block', ['block', 'depth'], ['', 'mean length', token]]); // prettier-ignore
      const lengths = web.PATHS[place].filter((id) => id !== 'weights').map((id) => block.norms[id].norms); // prettier-ignore
      const numbers = [...lengths, ...block.heads].map((of) => [mean(of), of[query] ?? NaN]);
      assert.deepEqual(table.slice(1).map(([, ...row]) => row), numbers); // prettier-ignore
      assert.equal(svg.body.split('<text').length - 1, 3 * (1 + lengths.length));
    }
    const alone = web.blockFigure(block, 0, null);
    const both = web.blockFigure(block, 0, depthOf(3));
    assert.ok(both.svg.height > alone.svg.height + 2 * 260, 'room for both drawings');
    const { pre, post } = depthOf(3).curves;
    const bands = [pre.stream, pre.gradient, post.stream, post.gradient];
    assert.deepEqual(
      both.table.slice(alone.table.length + 1),
      [0, 1, 2].map((l) => [l, ...bands.flatMap(({ middle, low, high }) => [middle[l], low[l], high[l]])]), // prettier-ignore
    );
  }
  assert.deepEqual(web.endsOf(band(2, 3)), { first: '2.00', last: '3.13', low: '1.00', high: '6.00' }); // prettier-ignore
});

test('block: curves have points up to 24 blocks, ticks at whole numbers of them, and rise with the lengths', () => {
  const pens = { pen: (mark) => ({ class: mark }), area: web.fileArea };
  for (const [depth, ticks] of [
    [1, [0, 1]],
    [3, [0, 1, 2, 3]],
    [12, [0, 2, 4, 6, 8, 10, 12]],
    [24, [0, 5, 10, 15, 20]],
    [25, [0, 5, 10, 15, 20, 25]],
  ]) {
    const drawn = web.drawStream(pens, 400, depthOf(depth + 1));
    assert.equal(drawn.split('<circle').length - 1, depth <= 24 ? 2 * (depth + 1) : 0);
    const labels = Array.from(drawn.matchAll(/text-anchor="middle">(\d+)</g), ([, tick]) => Number(tick)); // prettier-ignore
    assert.deepEqual(labels, ticks);
    if (depth > 24) continue;
    const heights = numbersOf(drawn, 'circle', 'cy').slice(0, depth + 1);
    const steps = heights.slice(1).map((y, i) => heights[i] - y);
    assert.ok(steps.every((step) => step > 0 && Math.abs(step - steps[0]) < 0.2), 'equal factors, equal steps'); // prettier-ignore
  }
});
