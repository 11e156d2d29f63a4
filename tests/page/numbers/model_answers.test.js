// What the panel of a trained model works out, in Node, where little depends on the model: at ties, at the ends of a text, with
// nothing to work with, and of models and engines that are written down here, so that every number is known.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { modules, packageModule } from '../support/engine.js';

const web = await modules(
  'features/model/worker/{selection,head_scores,analyses,forward_pass}',
  'domain/prefix_matching',
);

const spectra = await (await packageModule('spectra')).init();

/** An engine whose softmax hands back what it is given, and notes how it was asked. */
function engineOf(found = {}) {
  const asked = [];
  return {
    asked,
    softmax: ({ data, shape }, options) => {
      asked.push({ shape, ...options });
      return { data };
    },
    entropy: () => ({ data: [1.25] }),
    ...found,
  };
}
const label = (id) => `<${id}>`;
const plain = { temperature: 1, topK: 0, topP: 1 };

describe('model: a selection', () => {
  const select = (p, sampling, engine = engineOf()) =>
    web.select(engine, Float32Array.from(p), { ...plain, ...sampling });
  const kept = (p, sampling) => {
    const { keptK, keptP, sumK, sumP } = select(p, sampling);
    return { keptK, keptP, sumK, sumP };
  };
  const p = [0.125, 0.5, 0.25, 0.125];

  test('of equal tokens the first comes first', () => {
    assert.deepEqual([...select([1, 3, 1, 3, 2, 1], {}).order], [1, 3, 4, 0, 2, 5]);
    assert.deepEqual([...select(Array(20).fill(0), {}).order], [...Array(20).keys()]);
  });

  test('top-p ends with the token that brings the sum to it', () => {
    for (const [topP, keptP, sumP] of [
      ...[
        [0.01, 1, 0.5],
        [0.5, 1, 0.5],
        [0.51, 2, 0.75],
        [0.75, 2, 0.75],
        [0.8, 3, 0.875],
      ],
      ...[
        [0.875, 3, 0.875],
        [0.9, 4, 1],
        [1, 4, 1],
      ],
    ]) {
      assert.deepEqual(kept(p, { topP }), { keptK: 4, keptP, sumK: 1, sumP }, `top-p ${topP}`);
    }
  });

  test('a top-p of 1 leaves even what is too small for the sum', () => {
    const small = [1, 2 ** -80, 2 ** -90];
    assert.equal(kept(small, { topP: 1 }).keptP, 3);
    assert.equal(kept(small, { topP: 0.99 }).keptP, 1);
  });
});

describe('model: scores of heads', () => {
  test('of a text without queries to count are 0', () => {
    const one = Float32Array.of(1);
    assert.deepEqual([web.previousScore(one), web.firstScore(one)], [0, 0]);
    assert.equal(web.prefixMatching(Float32Array.of(1, 0, 0.5, 0.5), [3, 4]), 0);
    assert.equal(web.previousScore(new Float32Array()), 0);
  });

  test('count each query once', () => {
    const weights = Float32Array.of(1, 0, 0, 0.25, 0.75, 0, 0.5, 0.125, 0.375);
    assert.equal(web.previousScore(weights), (0.25 + 0.125) / 2);
    assert.equal(web.firstScore(weights), (0.25 + 0.5) / 2);
    assert.equal(web.prefixMatching(weights, [0, 7, 7]), 0.375);
  });
});

describe('model: the loss of a text', () => {
  const lossOf = (ids, heads, info = {}) => {
    const asked = [];
    const model = { loss: (...args) => (asked.push(args), asked.length) };
    const of = { model, info: { speaks: true, numLayers: 2, numHeads: 3, ...info } };
    return [web.losses(of, { ids }, heads), asked];
  };
  const last = [1, 2];

  test('there is none of a single token, and of a model that says nothing', () => {
    assert.deepEqual(lossOf([4], [last]), [null, []]);
    assert.deepEqual(lossOf([4, 5], [last], { speaks: false }), [null, []]);
  });
});

describe('model: the next token', () => {
  const logits = Float32Array.of(...[0, 0, 0, 0], ...[0.125, 0.5, 0.25, 0.125], ...[1, 0, 0, 0]);
  const pass = { ids: [3, 2, 1], logits };
  const next = (at, { sampling = plain, of = pass, speaks = true } = {}) =>
    web.nextToken(engineOf(), { label, info: { speaks } }, of, { at, sampling, ablated: [] });

  test('is told after any token, with the one that follows there', () => {
    const found = next(1, { sampling: { temperature: 1, topK: 3, topP: 0.6 } });
    assert.deepEqual(found, {
      ...{ at: 1, label: '<2>', actual: { id: 1, label: '<1>', p: 0.5 } },
      bars: [
        { id: 1, label: '<1>', temperature: 0.5, topK: 0.5 / 0.875, topP: 0.5 / 0.75 },
        { id: 2, label: '<2>', temperature: 0.25, topK: 0.25 / 0.875, topP: 0.25 / 0.75 },
        { id: 0, label: '<0>', temperature: 0.125, topK: 0.125 / 0.875, topP: null },
        { id: 3, label: '<3>', temperature: 0.125, topK: null, topP: null },
      ],
      ...{ keptK: 3, keptP: 2, entropy: 1.25, vocabulary: 4, cut: null },
    });
    assert.equal(next(2).actual, null);
    assert.equal(next(2).label, '<1>');
    assert.equal(next(0).actual.id, 2);
  });
});

describe('model: the lens', () => {
  const rows = [
    [0.25, 0.125, 0.5, 0.0625, 0.03125, 0.015625],
    [0.5, 0.5, 0.25, 0.125, 0.0625, 0.03125],
  ];
  function lens(at, { fails = false, speaks = true, ids = [7, 8, 9], last = rows[1] } = {}) {
    const told = [];
    const session = { dispose: () => told.push('dispose') };
    const model = {
      session: (options) => (told.push(options), session),
      forward(read, { session: into, ...options }) {
        assert.equal(into, session);
        if (fails) throw new Error('no room');
        told.push([read, options]);
        const layers = [rows[0], last].map((row, layer) => [
          layer,
          { logits: { data: Float32Array.from(row) } },
        ]);
        return { layers: new Map(layers) };
      },
    };
    const of = { model, label, info: { speaks } };
    const found = () => web.lensAt(engineOf(), of, { ids }, { at, ablated: [] });
    return { found, told };
  }

  test('follows the token that the last layer finds likeliest, of equal ones the first', () => {
    for (const [last, wanted] of [
      [rows[1], 0.25],
      [[0.5, 0.25, 0.75, 0.75, 0, 0], 0.5],
      [[0, 0, 0, 0, 0, 1], 0.015625],
    ]) {
      assert.equal(lens(1, { last }).found().layers[0].last, wanted);
    }
  });
});

describe('model: rollout', () => {
  /** The rollout of `count` tokens whose row `at` is `row`, by two layers of two heads that are all alike but for the last layer. */
  function rollout(row, at) {
    const count = row.length;
    const weights = [0, 0, 0.25, 0.75].map((x) => new Float32Array(count * count).fill(x));
    const asked = [];
    const attentionRollout = ({ data, shape }) => {
      asked.push([shape, data[0], data.at(-1), data[count * count * 2]]);
      const all = new Float32Array(count * count);
      all.set(row, at * count);
      return { data: all };
    };
    const info = { numLayers: 2, numHeads: 2 };
    const pass = { ids: row.map((_, i) => 10 + i), weights };
    const found = web.rolloutAt(engineOf({ attentionRollout }), { label, info }, pass, at);
    return { found, asked };
  }

  test('lists the six largest shares, of equal ones the first, and adds up the others', () => {
    const row = [0.125, 0.25, 0.0625, 0.125, 0.25, 0.0625, 0.0625, 0.03125, 0.03125];
    const { found, asked } = rollout(row, 4);
    const source = (place) => ({ place, label: label(10 + place), share: row[place], last: 0.5 });
    assert.deepEqual(found, {
      ...{ at: 4, label: '<14>', own: 0.25, rest: 0.125 },
      sources: [1, 4, 0, 3, 2, 5].map(source),
    });
    assert.deepEqual(asked, [[[2, 2, 9, 9], 0, 0.75, 0.25]]);
  });
});

describe('model: embeddings', () => {
  const info = { vocabulary: 3, dModel: 2 };
  const embedding = Float32Array.of(1, 0, 1, 1, 0, 1);

  test('there is no plane of a file without, and all tokens on that of another', () => {
    const planeOf = (of) => web.planeOf(spectra, { embedding: of, label, info });
    assert.equal(planeOf(null), null);
    const value = planeOf(embedding);
    assert.deepEqual([value.labels, value.width], [['<0>', '<1>', '<2>'], 2]);
    assert.equal(value.points.length, 6);
  });

  test('neighbours are told of every token that there is', () => {
    const near = (id, of = embedding) => web.nearOf({ embedding: of, label, info }, id);
    assert.equal(near(3), null);
    assert.equal(near(0, null), null);
    const { tokens, ...rest } = near(2);
    assert.deepEqual(rest, { id: 2, label: '<2>' });
    assert.deepEqual(
      tokens.map(({ id, label: name, cosine }) => [id, name, cosine.toFixed(4)]),
      [
        [1, '<1>', '0.7071'],
        [0, '<0>', '0.0000'],
      ],
    );
    const many = { vocabulary: 20, dModel: 1 };
    const of = { embedding: new Float32Array(20).fill(1), label, info: many };
    assert.equal(web.nearOf(of, 0).tokens.length, 8);
  });
});
