// What the panel of a trained model computes, in Node: scores of heads, steps of a selection, planes and embeddings, each
// against the formula, and against what the package itself does with the same model.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { file } from '../support/austen.js';
import { close } from '../support/close.js';
import { modules, packageModule } from '../support/engine.js';
import { randomOf } from '../support/random.js';

const web = await modules(
  'features/model/worker/{selection,head_scores,safetensors,analyses}',
  'domain/nearest',
  'engine/principal_plane',
  'domain/prefix_matching',
  'features/learn/shared/head_scores',
);
const qkv = await (await packageModule('index')).init();
const spectra = await (await packageModule('spectra')).init();

function numbers(count, seed = 1) {
  const random = randomOf(seed);
  return Float32Array.from({ length: count }, () => random() * 2 - 1);
}

describe('selection', () => {
  const logits = numbers(40).map((x) => 4 * x);
  const softmax = (temperature) => {
    const powers = Array.from(logits, (x) => Math.exp(x / temperature));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };

  test('probabilities are those of the formula, likeliest first', () => {
    const { order, p } = web.select(qkv, logits, { temperature: 0.7, topK: 0, topP: 1 });
    const wanted = softmax(0.7);
    wanted.forEach((value, id) => close(p[id], value, 1e-6, `token ${id}`));
    for (let i = 1; i < order.length; i++) assert.ok(p[order[i - 1]] >= p[order[i]]);
  });

  test('top-k leaves k, top-p of those the fewest that reach it', () => {
    for (const topK of [0, 1, 5, 100]) {
      for (const topP of [0.1, 0.5, 0.9, 1]) {
        const found = web.select(qkv, logits, { temperature: 1, topK, topP });
        const ranked = softmax(1).sort((a, b) => b - a);
        const left = ranked.slice(0, topK || 40);
        const sum = left.reduce((a, b) => a + b);
        let [kept, before] = [0, 0];
        while (kept < left.length && before < topP) before += left[kept++] / sum;
        assert.equal(found.keptK, left.length);
        assert.equal(found.keptP, kept, `top-k ${topK}, top-p ${topP}`);
      }
    }
  });

  test('temperature 0 leaves the likeliest token', () => {
    const { order, p, keptP } = web.select(qkv, logits, { temperature: 0, topK: 5, topP: 0.9 });
    assert.deepEqual([keptP, p[order[0]]], [1, 1]);
    assert.equal(order[0], logits.indexOf(Math.max(...logits)));
  });
});

describe('scores of heads', () => {
  test('heads that do what the scores are named after have 1, and uniform ones what is left', () => {
    const count = 9; // a begin and four tokens that are there twice
    const head = (keyOf) =>
      Float32Array.from({ length: count ** 2 }, (_, at) => {
        const [t, key] = [Math.floor(at / count), at % count];
        return keyOf(t) === key ? 1 : 0;
      });
    assert.equal(web.previousScore(head((t) => t - 1)), 1);
    assert.equal(web.firstScore(head(() => 0)), 1);
    const twice = [0, 1, 2, 3, 4, 1, 2, 3, 4];
    const induction = head((t) => t - 3);
    assert.equal(web.prefixMatching(induction, twice), 1);
    const same = head((t) => t - 4);
    assert.equal(web.prefixMatching(same, twice), 0);
    // "Induction" is one measure, here and where heads are trained, also of a row that has a token three times.
    const thrice = [0, 1, 2, 1, 2, 1, 2, 1, 3];
    const learned = web.keysOf('induction', { ids: thrice, targets: [] });
    assert.deepEqual(learned[7], [2, 4, 6]);
    const weights = numbers(count ** 2);
    const measured = web.prefixMatching(weights, thrice);
    close(measured, web.scoreOf(learned, weights), 1e-6, 'learn');
    const uniform = Float32Array.from({ length: count ** 2 }, (_, at) => {
      const t = Math.floor(at / count);
      return at % count <= t ? 1 / (t + 1) : 0;
    });
    const mean = Array.from({ length: 8 }, (_, i) => 1 / (i + 2)).reduce((a, b) => a + b) / 8;
    close(web.previousScore(uniform), mean, 1e-7, 'previous');
    close(web.firstScore(uniform), mean, 1e-7, 'first');
  });
});

test('what is read twice is as long as the model allows, behind what it begins with', () => {
  const twice = (maxLength, begin) =>
    web.repeatedIds({ info: { maxLength, vocabulary: 9 }, begin });
  for (const [maxLength, begin, repeated] of [
    [1000, null, 50],
    [1000, 3, 50],
    [20, null, 10],
    [20, 3, 9],
    [21, 3, 10],
  ]) {
    const { ids, repeated: told } = twice(maxLength, begin);
    assert.equal(told, repeated);
    const lead = begin === null ? [] : [begin];
    const once = ids.slice(lead.length, lead.length + repeated);
    assert.deepEqual(ids, [...lead, ...once, ...once]);
    assert.ok(once.every((id) => Number.isInteger(id) && id >= 0 && id < 9));
  }
  assert.equal(new Set(twice(1000, null).ids).size, 9, 'any token');
});

describe('the plane', () => {
  /** All eigenvalues of a symmetric matrix and their vectors, by Jacobi's rotations. */
  function jacobi(matrix) {
    const n = matrix.length;
    const a = matrix.map((row) => [...row]);
    const v = a.map((_, i) => a.map((__, j) => (i === j ? 1 : 0)));
    for (let sweep = 0; sweep < 60; sweep++) {
      for (let p = 0; p < n; p++) {
        for (let q = p + 1; q < n; q++) {
          const angle = Math.atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
          const [c, s] = [Math.cos(angle), Math.sin(angle)];
          for (let i = 0; i < n; i++) {
            [a[i][p], a[i][q]] = [c * a[i][p] - s * a[i][q], s * a[i][p] + c * a[i][q]];
          }
          for (let i = 0; i < n; i++) {
            [a[p][i], a[q][i]] = [c * a[p][i] - s * a[q][i], s * a[p][i] + c * a[q][i]];
            [v[i][p], v[i][q]] = [c * v[i][p] - s * v[i][q], s * v[i][p] + c * v[i][q]];
          }
        }
      }
    }
    return a.map((row, i) => ({ value: row[i], vector: v.map((line) => line[i]) }));
  }
  test('points and shares are those of the two largest eigenvectors', () => {
    const [rows, width] = [60, 8];
    const data = numbers(rows * width, 5).map((x, i) => x * (1 + (i % width)) + (i % width));
    const mean = Array.from(
      { length: width },
      (_, c) =>
        Array.from({ length: rows }, (__, r) => data[r * width + c]).reduce((a, b) => a + b) / rows,
    );
    const centred = (r, c) => data[r * width + c] - mean[c];
    const scatter = mean.map((_, a) =>
      mean.map((__, b) =>
        Array.from({ length: rows }, (___, r) => centred(r, a) * centred(r, b)).reduce(
          (x, y) => x + y,
        ),
      ),
    );
    const found = jacobi(scatter).sort((a, b) => b.value - a.value);
    const total = found.reduce((sum, { value }) => sum + value, 0);
    const { points, shares } = web.principalPlane(spectra, data, width);
    for (const axis of [0, 1]) {
      const { value, vector } = found[axis];
      close(shares[axis], value / total, 1e-7, `share ${axis}`);
      const along = (r) => vector.reduce((sum, x, c) => sum + x * centred(r, c), 0);
      const sign = Math.sign(along(0)) * Math.sign(points[axis]);
      for (let r = 0; r < rows; r++) close(points[2 * r + axis], sign * along(r), 1e-4, `row ${r}`);
    }
  });

  test('neighbours are those of the largest cosine', () => {
    const [rows, width] = [50, 6];
    const data = numbers(rows * width, 3);
    const row = (r) => Array.from(data.subarray(r * width, (r + 1) * width));
    const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    const cosine = (a, b) => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
    const wanted = Array.from({ length: rows }, (_, id) => ({
      id,
      cosine: cosine(row(7), row(id)),
    }))
      .filter(({ id }) => id !== 7)
      .sort((a, b) => b.cosine - a.cosine)
      .slice(0, 5);
    const found = web.nearest(data, width, { of: 7, count: 5 });
    assert.deepEqual(
      found.map(({ id }) => id),
      wanted.map(({ id }) => id),
    );
    found.forEach((each, i) => close(each.cosine, wanted[i].cosine, 1e-6, `neighbour ${i}`));
  });

  test('a row of zeros is as far from all others as one at a right angle', () => {
    const data = Float32Array.of(1, 0, 0, 0, -1, 0, 2, 1);
    const at = (of) => web.nearest(data, 2, { of, count: 3 });
    assert.deepEqual(
      at(0).map(({ id }) => id),
      [3, 1, 2],
    );
    assert.deepEqual(
      at(1).map(({ cosine }) => Math.abs(cosine)),
      [0, 0, 0],
    );
  });
});

describe('files', () => {
  test('the embeddings of the file are those of the model: its logits are products with them', async () => {
    const header = await web.headerOf(file);
    assert.equal(web.tokensOf(header).tokens.length, 78);
    const embedding = await web.embeddingOf(file, header, [78, 128]);
    const { load } = await packageModule('models');
    const model = await load(qkv, { weights: file }, { format: 'f32' });
    const { logits, hidden } = model.forward([3, 4, 5], { hidden: true });
    for (let id = 0; id < 78; id++) {
      let sum = 0;
      for (let c = 0; c < 128; c++) sum += hidden.data[256 + c] * embedding[id * 128 + c];
      close(logits.data[2 * 78 + id], sum, 1e-4, `logit ${id}`);
    }
    model.dispose();
  });
});
