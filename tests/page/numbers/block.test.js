// The taps of a block, and the norms and gradients along a stack, against float64.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { erf } from '../../support/js/oracle.js';
import { root } from '../../support/js/files.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...['worker/block_taps', 'worker/deep_stack', 'shared/constants', 'worker/depth_study'].map(
    (file) => `features/block/${file}`,
  ),
  'engine/layer_weights',
);
const { init } = await import(pathToFileURL(join(root, 'dist/train.js')).href);
const qkv = await init();

const D = 64;
const EPSILON = 1e-5;
const TOKENS = ['The', 'cat', 'sat', 'on', 'the', 'mat', 'because', 'it', 'was', 'tired', '.'];

// ---- the formulas, in float64: matrices are arrays of rows ----

const rowsOf = ({ data, shape: [rows, cols] }) =>
  Array.from({ length: rows }, (_, i) => Array.from(data.subarray(i * cols, (i + 1) * cols)));
function times(a, b, bias) {
  return a.map((row) => {
    const product = bias ? Array.from(bias) : new Array(b[0].length).fill(0);
    row.forEach((x, c) => b[c].forEach((weight, j) => (product[j] += x * weight)));
    return product;
  });
}
const plus = (a, b) => a.map((row, i) => row.map((x, j) => x + b[i][j]));
const lengthOf = (row) => Math.sqrt(row.reduce((sum, x) => sum + x * x, 0));
const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
const meanLength = (rows) => rows.reduce((sum, row) => sum + lengthOf(row), 0) / rows.length;
const gelu = (x) => (x / 2) * (1 + erf(x / Math.SQRT2));

const norm = (type) => (rows) =>
  rows.map((row) => {
    const mean = type === 'layer' ? row.reduce((a, b) => a + b) / row.length : 0;
    const square = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
    return row.map((x) => (x - mean) / Math.sqrt(square + EPSILON));
  });

/** Causal attention of all heads; `heads` are their outputs, `weights` theirs. */
function attend(x, w, numHeads, temperature = 1) {
  const [q, k, v] = [times(x, w.wq, w.bq), times(x, w.wk), times(x, w.wv)];
  const dK = q[0].length / numHeads;
  const part = (row, h) => row.slice(h * dK, (h + 1) * dK);
  const heads = Array.from({ length: numHeads }, (_, h) => {
    const weights = x.map((_, i) => {
      const scores = x.map((_, j) => {
        const dot = part(q[i], h).reduce((sum, a, c) => sum + a * part(k[j], h)[c], 0);
        return j > i ? -Infinity : dot / Math.sqrt(dK) / temperature;
      });
      const most = Math.max(...scores);
      const powers = scores.map((s) => Math.exp(s - most));
      const total = powers.reduce((a, b) => a + b);
      return powers.map((p) => p / total);
    });
    return {
      weights,
      output: times(
        weights,
        v.map((row) => part(row, h)),
      ),
    };
  });
  const concat = x.map((_, i) => heads.flatMap(({ output }) => output[i]));
  return { heads, concat, output: times(concat, w.wo) };
}

/** A block by the formulas of Vaswani et al. 2017 (post) and Xiong et al. 2020 (pre). */
function block(x, w, { place, type, numHeads, temperature }) {
  const pre = place === 'pre';
  const n = norm(type);
  const read = pre ? n(x) : x;
  const { heads, concat, output: attention } = attend(read, w, numHeads, temperature);
  const sum1 = plus(x, attention);
  const middle = pre ? sum1 : n(sum1);
  const inside = pre ? n(middle) : middle;
  const hidden = times(inside, w.w1).map((row) => row.map(gelu));
  const forward = times(hidden, w.w2);
  const sum2 = plus(middle, forward);
  const [norm1, norm2] = pre ? [read, inside] : [middle, n(sum2)];
  return {
    taps: { input: x, norm1, concat, attention, sum1, norm2, hidden, forward, sum2 },
    heads,
    output: pre ? sum2 : norm2,
  };
}

/** Asks that a matrix is this one, to a share of its largest number. */
function expectNear(got, wanted, share, what) {
  const flat = wanted.flat();
  const most = flat.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  assert.equal(got.length, flat.length, what);
  const off = flat.reduce((worst, value, i) => Math.max(worst, Math.abs(value - got[i])), 0);
  assert.ok(off <= share * most, `${what}: ${off} of ${most}`);
  assert.ok(most > 0, `${what} is zero`);
}

const layerOf = (source) => {
  const model = web.modelOf(qkv, source, 7);
  const data = web.layerInput(qkv, model, TOKENS, 'sinusoidal');
  return { model, x: { data, shape: [TOKENS.length, D] } };
};

for (const source of ['constructed', 'random'])
  for (const place of ['pre', 'post'])
    for (const type of ['layer', 'rms'])
      test(`block: every tap equals the formulas: ${source}, ${place}, ${type}`, () => {
        const { model, x } = layerOf(source);
        const head = 1;
        const temperature = 1.5;
        const attention = { causal: true, temperature };
        const options = { place, type, head, seed: 3, attention };
        const { taps, heads, difference } = web.blockTaps(qkv, model, x, options);
        const { numHeads, bq } = model;
        const matrix = (data, rows) => rowsOf({ data, shape: [rows, data.length / rows] });
        const weights = {
          ...{ wq: matrix(model.wq, D), wk: matrix(model.wk, D), wv: matrix(model.wv, D), bq },
          wo: matrix(model.wo, bq.length),
          w1: rowsOf(web.glorot('block w1', 3, [D, 4 * D])),
          w2: rowsOf(web.glorot('block w2', 3, [4 * D, D])),
        };
        const exact = block(rowsOf(x), weights, { place, type, numHeads, temperature });
        // Scores of constructed heads on normalised rows reach some 300, and exp() of them a few thousand u.
        const share = 1e-4;
        for (const [id, wanted] of Object.entries(exact.taps)) {
          expectNear(taps[id].data, wanted, share, id);
          expectNear(
            taps[id].norms,
            wanted.map((row) => [lengthOf(row)]),
            share,
            `norms of ${id}`,
          );
        }
        expectNear(taps.weights.data, exact.heads[head].weights, share, 'weights');
        const dK = bq.length / numHeads;
        heads.forEach((part, h) => {
          const rows = weights.wo.slice(h * dK, (h + 1) * dK);
          expectNear(part.data, times(exact.heads[h].output, rows), share, `head ${h}`);
        });
        const sum = taps.attention.data.map((_, i) =>
          heads.reduce((s, { data }) => s + data[i], 0),
        );
        expectNear(sum, exact.taps.attention, share, 'the heads add up');
        // What is said below the bars: alone they are longer than together.
        const alone = heads.reduce((total, { norms }) => total + mean(norms), 0);
        assert.ok(alone > 1.05 * mean(taps.attention.norms));
        assert.equal(difference, 0, 'the block operator, bit for bit');
        expectNear(taps[place === 'pre' ? 'sum2' : 'norm2'].data, exact.output, share, 'output');
      });

test('block: a path visits every tap once, and the stream is on it', () => {
  for (const place of ['pre', 'post']) {
    assert.deepEqual([...web.PATHS[place]].sort(), [...web.TAPS].sort());
    const places = web.STREAM[place].map((id) => web.PATHS[place].indexOf(id));
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    assert.equal(web.STREAM[place].at(-1), web.PATHS[place].at(-1));
  }
});

const drain = (study) => {
  let step;
  do step = study.next();
  while (!step.done);
  return step.value;
};

test('block: weights of a stack follow the rule that is named', () => {
  const options = { depth: 8, seed: 5 };
  const glorot = web.weightsOf(3, D, { ...options, rule: 'glorot' });
  const scaled = web.weightsOf(3, D, { ...options, rule: 'scaled' });
  for (const [name, { data, shape }] of Object.entries(glorot)) {
    const bound = Math.sqrt(6 / (shape[0] + shape[1]));
    const most = data.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    assert.ok(most <= bound && most > 0.99 * bound, name);
    const variance = data.reduce((sum, w) => sum + w * w, 0) / data.length;
    // Of n uniform numbers the mean square is off by sqrt(4/5 / n) of itself.
    assert.ok(Math.abs(variance / (bound ** 2 / 3) - 1) < 5 * Math.sqrt(0.8 / data.length), name);
    const factor = name === 'wo' || name === 'w2' ? 1 / 4 : 1;
    data.forEach((w, i) => assert.equal(scaled[name].data[i], Math.fround(w * factor)));
  }
  const other = web.weightsOf(4, D, { ...options, rule: 'glorot' });
  assert.notDeepEqual(other.wq.data, glorot.wq.data, 'layers differ');
});

/** What blocks [from, depth) make of x, in float64, and the stream on the way. */
function stack(x, weights, options, from = 0) {
  const stream = [x];
  for (const w of weights.slice(from)) stream.push(block(stream.at(-1), w, options).output);
  return stream;
}

for (const [place, type, rule] of [
  ['pre', 'layer', 'scaled'],
  ['post', 'rms', 'glorot'],
])
  test(`block: norms and gradients by depth are those of float64: ${place}, ${type}, ${rule}`, () => {
    const depth = 2;
    const data = layerOf('random').x.data.slice(0, 2 * D);
    const x = { data, shape: [2, D] };
    const options = { place, type, depth, seed: 2, rule, attention: { causal: true } };
    const found = drain(web.stackCurves(qkv, x, options));
    const weights = Array.from({ length: depth }, (_, layer) =>
      Object.fromEntries(
        Object.entries(web.weightsOf(layer, D, options)).map(([name, w]) => [name, rowsOf(w)]),
      ),
    );
    const exact = { place, type, numHeads: web.STACK_HEADS };
    const stream = stack(rowsOf(x), weights, exact);
    stream.forEach((rows, l) => {
      assert.ok(Math.abs(found.stream[l] / meanLength(rows) - 1) < 1e-5, `stream ${l}`);
    });
    const probes = Array.from(
      { length: web.PROBES },
      (_, p) => web.direction([2, D], options.seed, p).data,
    );
    probes.forEach((u) => assert.ok(Math.abs(lengthOf([...u]) - 1) < 1e-6));
    for (let l = 0; l <= depth; l++) {
      // u . output as each number of the input of block l moves: a central difference in float64.
      const step = 1e-4;
      const squares = probes.map(() => 0);
      for (let i = 0; i < 2 * D; i++) {
        const moved = (by) =>
          stack(
            stream[l].map((row, r) => row.map((value, c) => value + (r * D + c === i ? by : 0))),
            weights,
            exact,
            l,
          )
            .at(-1)
            .flat();
        const [above, below] = [moved(step), moved(-step)];
        probes.forEach((u, p) => {
          const slope = above.reduce((sum, y, o) => sum + u[o] * (y - below[o]), 0) / (2 * step);
          squares[p] += slope ** 2;
        });
      }
      const wanted = Math.sqrt(squares.reduce((a, b) => a + b) / probes.length);
      assert.ok(
        Math.abs(found.gradient[l] / wanted - 1) < 1e-4,
        `${l}: ${found.gradient[l]}, ${wanted}`,
      );
    }
  });

test('block: over stacks there stand the geometric mean, the least and the greatest', () => {
  const layer = {
    ...{ tokens: TOKENS, source: 'random', seed: 7, positions: 'sinusoidal', mask: 'causal' },
    ...{ temperature: 1.5, trained: null, trainedHeads: null },
  };
  const options = { type: 'rms', depth: 1, seed: 3, rule: 'glorot' };
  const request = { layer, ...options };
  const study = web.depthStudy(qkv, request);
  const { curves, request: told } = drain(study);
  assert.deepEqual(told, request);
  const { x } = layerOf('random');
  const attention = { causal: true, temperature: 1.5 };
  for (const place of web.NORM_PLACES) {
    const stacks = Array.from({ length: web.STACKS }, (_, i) =>
      drain(web.stackCurves(qkv, x, { place, ...options, seed: options.seed + i, attention })),
    );
    for (const what of ['stream', 'gradient']) {
      const { middle, low, high } = curves[place][what];
      assert.equal(middle.length, 2);
      middle.forEach((found, l) => {
        const all = stacks.map((stack) => stack[what][l]);
        const product = all.reduce((a, b) => a * b, 1);
        assert.ok(
          Math.abs(found / product ** (1 / all.length) - 1) < 1e-12,
          `${place} ${what} ${l}`,
        );
        assert.deepEqual([low[l], high[l]], [Math.min(...all), Math.max(...all)]);
      });
    }
  }
  assert.equal(drain(web.depthStudy(qkv, { ...request, layer: { ...layer, tokens: [] } })), null);
});
