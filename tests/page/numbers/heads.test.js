// The heads of the page, in Node: the weights that are drawn or written down, what a head reads and gives, one row of it, and
// the check in float64, each against its formula.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from '../../../dist/index.js';
import { sinusoid } from '../../support/js/oracle.js';
import { modules } from '../support/engine.js';

const web = await modules(
  ...['layer_weights', 'heads', 'full_layer', 'exact_head', 'picture_values', 'random'].map(
    (name) => `engine/${name}`,
  ),
);
const qkv = await init();
const { uniform, hashText } = web;

const [D, K, HEADS] = [64, 16, 3];
const drawn = (name, count) => uniform(hashText(name, 1), count, 0.5);
/** A layer in which every number is another. */
const model = {
  numHeads: HEADS,
  ...Object.fromEntries(['wq', 'wk', 'wv'].map((name) => [name, drawn(name, D * HEADS * K)])),
  ...{ bq: drawn('bq', HEADS * K), wo: drawn('wo', HEADS * K * D), positionWidth: 16 },
  embed: (token) => uniform(hashText(token, 2), D, 1),
};
const TOKENS = ['a', 'b', 'c', 'd', 'e', 'f'];
const x = web.layerInput(qkv, model, TOKENS, 'sinusoidal');
const COUNT = TOKENS.length;
const range = (count) => Array.from({ length: count }, (_, i) => i);

function requireNear(got, wanted, bound, what) {
  assert.equal(got.length, wanted.length, what);
  wanted.forEach((value, i) => {
    const same = Object.is(got[i], value) || Math.abs(got[i] - value) <= bound;
    assert.ok(same, `${what} ${i}: ${got[i]}, not ${value}`);
  });
}

/** x W + b of one head, [T, 16]. */
const projected = (weight, bias, head) =>
  range(COUNT * K).map((at) => {
    const [t, c] = [Math.floor(at / K), at % K];
    const column = head * K + c;
    return range(D).reduce(
      (sum, i) => sum + x[t * D + i] * weight[i * HEADS * K + column],
      bias ? bias[column] : 0,
    );
  });

/** One row of a head from its queries, keys and values. */
function rowOf({ q, k, v, width }, row, mask, temperature) {
  const count = k.length / width;
  const scores = range(count).map((j) => {
    const [first, end] = { none: [0, count], causal: [0, row + 1], window: [row - 3, row + 1] }[
      mask
    ];
    if (j < first || j >= end) return -Infinity;
    const dot = range(width).reduce((s, c) => s + q[row * width + c] * k[j * width + c], 0);
    return dot / Math.sqrt(width);
  });
  const most = Math.max(...scores);
  const powers = scores.map((score) => Math.exp((score - most) / temperature));
  const sum = powers.reduce((a, b) => a + b);
  const weights = powers.map((power) => power / sum);
  const entropy = weights.reduce((h, p) => (p > 0 ? h - p * Math.log(p) : h), 0);
  const output = range(width).map((c) => weights.reduce((s, w, j) => s + w * v[j * width + c], 0));
  return { scores, weights, entropy, lse: Math.log(sum) + most / temperature, output };
}

const partsOf = (head) => ({
  q: projected(model.wq, model.bq, head),
  k: projected(model.wk, null, head),
  v: projected(model.wv, null, head),
  width: K,
});
const NUMBERS = {
  q: [0.3, -1, 2, 0.5, 1, 1, -0.7, 0.2, 3, -2],
  k: [1, 0.2, -0.5, 2, 0.1, 1, 1, 1, -1, 0.4],
  v: [5, 1, -2, 3, 0.5, 7, 2, 2, -4, 6],
};
const EXTRAS = { returnWeights: true, returnLogits: 'biased', returnEntropy: true, returnLse: true }; // prettier-ignore
const LAYERS = ['none', 'causal', 'window'].flatMap((mask) => [
  { mask, temperature: 1 },
  { mask, temperature: 0.6 },
]);

/** Holds all rows of a head, and each by itself, to the formula. */
function requireRows(head, parts, count) {
  for (const layer of LAYERS) {
    const what = JSON.stringify(layer);
    const rows = range(count).map((row) => rowOf(parts, row, layer.mask, layer.temperature));
    const all = head.all(layer, EXTRAS);
    for (const [name, from] of [
      ['weights', 'weights'],
      ['logits', 'scores'],
      ['entropy', 'entropy'],
    ]) {
      requireNear(
        all[name].data,
        rows.flatMap((row) => row[from]),
        3e-5,
        `${name} ${what}`,
      );
    }
    rows.forEach((wanted, row) => {
      const data = web.rowData(head, row, layer);
      requireNear(data.weights, wanted.weights, 3e-5, `${what} ${row}`);
      requireNear(data.scores, wanted.scores, 3e-5, `${what} ${row}`);
      requireNear([data.entropy, data.lse], [wanted.entropy, wanted.lse], 1e-4, `${what} ${row}`);
      assert.deepEqual([data.row, data.largest], [row, wanted.weights.indexOf(Math.max(...wanted.weights))]); // prettier-ignore
    });
  }
}

describe('heads: of a model', () => {
  const inputs = { tensor: qkv.tensor([COUNT, D], x), out: qkv.tensor([COUNT, D]) };
  const heads = range(HEADS).map((head) => new web.LayerHead(qkv, model, head, () => inputs));

  test('are the formula’s, all rows and each row by itself', () => {
    heads.forEach((head, i) => requireRows(head, partsOf(i), COUNT));
  });

  test('give their own part of the layer’s output, at no cost of memory', () => {
    const whole = new web.FullLayer(qkv).of(model);
    const tensor = { data: x, shape: [COUNT, D] };
    const wanted = whole.forward(tensor, { causal: true, temperature: 0.7 }).output.data;
    const sum = new Float64Array(COUNT * D);
    for (const [i, head] of heads.entries()) {
      head.all({ mask: 'causal', temperature: 0.7 }, {});
      const rows = range(COUNT).map((row) => rowOf(partsOf(i), row, 'causal', 0.7).output);
      const own = range(COUNT * D).map((at) => {
        const part = rows[Math.floor(at / D)];
        return part.reduce((s, value, c) => s + value * model.wo[(i * K + c) * D + (at % D)], 0);
      });
      requireNear(inputs.out.view(), own, 1e-4, `head ${i}`);
      own.forEach((value, at) => (sum[at] += value));
    }
    requireNear(wanted, [...sum], 3e-4, 'the layer');
  });
});

describe('heads: of numbers as they are given', () => {
  const head = new web.GivenHead(qkv, NUMBERS);

  test('are the formula’s, all rows and each row by itself', () => {
    requireRows(head, { ...NUMBERS, width: 2 }, 5);
  });
});

describe('rows:', () => {
  const of = (more) => ({ data: Float32Array.from([1]), ...more });
  const full = { weights: of(), logits: of(), entropy: of(), lse: of() };

  test('are an error where the head leaves a part of them out', () => {
    for (const name of Object.keys(full)) {
      const less = { row: () => ({ ...full, [name]: undefined }) };
      assert.throws(() => web.rowData(less, 0, {}), /^Error: the head left out a result$/, name);
    }
  });

  test('have the first of those that weigh most', () => {
    const lists = [[0.1, 0.4, 0.4, 0.1], [0.3, 0.3, 0.2], [0, 0, 1], [0.2, 0.1]];
    const largest = (weights) => web.rowData({ row: () => ({ ...full, weights: { data: Float32Array.from(weights) } }) }, 0, {}).largest;
    assert.deepEqual(lists.map(largest), [1, 0, 2, 0]);
  }); // prettier-ignore

  test('of a picture: the ends of its scale are the largest that is not masked, and finite', () => {
    const ends = (list, mask) => web.valuesOf(Float32Array.from(list), 'scores', mask).range;
    assert.equal(ends([-5, 1, 2, 3], 'none'), 5, 'the first cell');
    assert.equal(ends([0, 1, 2, -6], 'causal'), 6, 'the last cell');
    assert.equal(ends([0, 9, 0, 0], 'causal'), 0, 'a masked cell');
    assert.equal(ends([Infinity, 4, NaN, 1], 'none'), 4, 'what is no number has no place');
    assert.equal(web.valuesOf(Float32Array.of(0.2, 0, 0.5, 0.5), 'weights', 'none').range, 1);
    assert.equal(ends([], 'none'), 0);
    const far = Array(36).fill(0);
    far[5 * 6 + 1] = 4; // before the window of the last row
    far[5 * 6 + 2] = 3;
    assert.deepEqual([ends(far, 'window'), ends(far, 'causal')], [3, 4]);
  });
});

describe('models: drawn by chance', () => {
  test('are drawn by Glorot’s rule from the seed, with embeddings of unit variance', () => {
    for (const seed of [0, 7]) {
      const made = web.modelOf(qkv, 'random', seed);
      const bound = Math.sqrt(6 / 128);
      for (const name of ['wq', 'wk', 'wv', 'wo']) {
        assert.deepEqual(made[name], uniform(hashText(`weight ${name}`, seed), 4096, bound), name);
      }
      assert.deepEqual([made.numHeads, made.positionWidth, made.bq], [4, 64, new Float32Array(64)]);
      assert.deepEqual(made.embed('cat'), uniform(hashText('token cat', seed), 64, Math.sqrt(3)));
    }
  });
});

describe('models: written down', () => {
  const made = web.modelOf(qkv, 'constructed', 7);
  /** Entries of a head's matrices as [matrix, from, to, value]: names begin at 16, positions at 0. */
  const copied = (matrix, start, gain) => range(K).map((c) => [matrix, start + c, c, gain]);
  const turned = range(8).flatMap((pair) => {
    const [at, angle] = [2 * pair, 10000 ** (-pair / 8)];
    const [cos, sin] = [32 * Math.cos(angle), 32 * Math.sin(angle)];
    const [a, b] = [at, at + 1];
    return [[a, a, cos], [b, a, -sin], [a, b, sin], [b, b, cos]].map((entry) => ['wq', ...entry]); // prettier-ignore
  });
  const waves = [0, 10, 24, 40, 80, 80, 80, 80].flatMap((gain, pair) =>
    [2 * pair, 2 * pair + 1].map((c) => ['wq', c, c, gain]),
  );
  const ENTRIES = [
    [['wq', 32, 0, 36], ['wk', 33, 0, 1], ...range(14).flatMap((c) => [['wq', c, c + 2, 6], ['wk', c, c + 2, 1]])], // prettier-ignore
    [...turned, ...copied('wk', 0, 1)],
    [...copied('wq', 16, 40), ...copied('wk', 16, 1)],
    copied('wk', 0, 1),
    [...waves, ...copied('wk', 0, 1)],
    [],
  ];

  test('have these weights and no others', () => {
    const wanted = { wq: Array(6144).fill(0), wk: Array(6144).fill(0), wv: Array(6144).fill(0) };
    ENTRIES.forEach((entries, head) => {
      for (const [matrix, from, to, value] of [...entries, ...copied('wv', 16, 1)]) {
        wanted[matrix][from * 96 + head * K + to] = value;
      }
    });
    for (const name of ['wq', 'wk', 'wv']) requireNear(made[name], wanted[name], 1e-5, name);
    const start = range(K).map((c) => 32 * (c % 2)); // PE(0), 32 times
    const bias = range(6).flatMap((head) => (head === 3 ? start : Array(K).fill(0)));
    assert.deepEqual([...made.bq], bias);
    assert.deepEqual([made.numHeads, made.positionWidth, made.wo.length], [6, 16, 6144]);
  });

  test('know a word by its signs, whatever its case, and by two features', () => {
    const [cat, Cat, mat, it] = ['cat', 'Cat', 'mat', 'it'].map(made.embed);
    assert.deepEqual(cat, Cat);
    const parts = (embedded) => [embedded.slice(0, 16), embedded.slice(16, 32), embedded.slice(32)];
    for (const [embedded, features] of [
      [cat, [0, 1]],
      [mat, [0, 0]],
      [it, [1, 0]],
    ]) {
      const [position, name, rest] = parts(embedded);
      assert.ok(
        position.every((value) => value === 0) && name.every((value) => Math.abs(value) === 0.25),
      );
      assert.deepEqual([...rest.slice(0, 2)], features);
      assert.ok(rest.slice(2).every((value) => value === 0));
    }
    for (const word of ['cat', 'mat', 'it', '猫']) {
      const signs = uniform(hashText(`name ${word}`, 0), 16, 1).map((draw) => Math.sign(draw) / 4);
      assert.deepEqual(made.embed(word).slice(16, 32), signs, word);
    }
  });

  test('average the names that their heads find', () => {
    for (let at = 0; at < 6144; at++) {
      const [from, to] = [Math.floor(at / D) % K, at % D];
      assert.equal(made.wo[at], to === 16 + from ? Math.fround(1 / 6) : 0, `${at}`);
    }
  });
});

describe('models: what the layer reads', () => {
  test('is each token’s numbers, and the encoding of its position added to the first of them', () => {
    const near = (got, width) =>
      TOKENS.forEach((token, t) => {
        const embedded = model.embed(token);
        const wanted = [...embedded].map(
          (value, c) => value + (c < width ? sinusoid(t, c, width) : 0),
        );
        requireNear(got.slice(t * D, (t + 1) * D), wanted, 1e-6, `${token} ${width}`);
      });
    near(x, 16);
    near(web.layerInput(qkv, { ...model, positionWidth: 64 }, TOKENS, 'sinusoidal'), 64);
    near(web.layerInput(qkv, model, TOKENS, 'none'), 0);
    assert.equal(web.layerInput(qkv, model, [], 'none').length, 0);
  });

  test('is read by a head in its own columns', () => {
    const matrix = Float32Array.from({ length: 3 * 48 }, (_, i) => i);
    const wanted = [32, 80, 128].flatMap((from) => range(16).map((c) => from + c));
    assert.deepEqual([...web.columnsOf(matrix, 3, 2)], wanted);
  });
});

describe('checks: in float64', () => {
  test('a head’s queries, keys and values are those of the formula', () => {
    for (const head of [0, 2]) {
      const wanted = partsOf(head);
      const { q, k, v, width, scale } = web.exactProjections(x, model, head);
      for (const [name, got] of Object.entries({ q, k, v }))
        requireNear(got, wanted[name], 1e-12, name);
      assert.deepEqual([width, scale], [16, undefined]);
      assert.equal('v' in web.exactHead(x, model, head), false);
    }
  });

  test('a row is softmax of q·k / √d over the keys that are allowed', () => {
    const exact = web.exactHead(x, model, 1);
    for (const layer of LAYERS) {
      for (const row of range(COUNT)) {
        const wanted = rowOf(partsOf(1), row, layer.mask, layer.temperature).weights;
        requireNear(web.exactRow(exact, row, layer), wanted, 1e-12, JSON.stringify(layer));
      }
    }
    const options = { mask: 'none', temperature: 1 };
    const scaled = web.exactRow({ ...exact, scale: 0.5 }, 2, options);
    requireNear(scaled, web.exactRow(exact, 2, { ...options, temperature: 0.5 }), 1e-12, 'scale');
    const large = { q: Float64Array.of(1000), k: Float64Array.of(1000), width: 1 };
    assert.deepEqual([...web.exactRow(large, 0, options)], [1], 'where exp would overflow');
  });

  test('compare row by row, pause after each, and find what is worst', () => {
    const exact = { ...partsOf(0), width: K };
    const options = { mask: 'causal', temperature: 0.8 };
    const rows = range(COUNT).map((row) => rowOf(partsOf(0), row, 'causal', 0.8));
    const run = (change) => {
      const weights = Float64Array.from(rows.flatMap((row) => row.weights));
      const entropy = Float64Array.from(rows.map((row) => row.entropy));
      change({ weights, entropy });
      const work = web.checkHead(exact, { weights, entropy }, options);
      let steps = 0;
      let turn = work.next();
      for (; !turn.done; turn = work.next()) steps++;
      assert.equal(steps, COUNT);
      return turn.value;
    };
    for (const [change, ...wanted] of [
      [() => undefined, 0, 0, 0],
      [({ weights }) => (weights[2 * COUNT + 1] += 0.25), 0.25, 0, 0.25],
      [({ weights }) => (weights[COUNT + 5] = 0.125), 0.125, 0, 0.125], // a masked one
      [({ weights }) => ((weights[30] += 0.25), (weights[31] -= 0.25)), 0.25, 0, 0],
      [({ entropy }) => ((entropy[0] += 0.5), (entropy[3] += 0.25)), 0, 0.5, 0],
      [({ weights }) => (weights[7] = NaN), NaN, 0, NaN],
    ]) {
      const { weights, entropy, rowSum } = run(change);
      requireNear([weights, entropy, rowSum], wanted, 1e-9, `${change}`);
    }
  });
});
