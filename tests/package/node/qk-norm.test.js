// @build each
// The norm of q and k in layers and blocks, against the formula in float64.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { filled, randomArray } from '../../support/js/arrays.js';
import { expectClose, expectThrows } from '../../support/js/check.js';
import { attentionRow, headsOf, u } from '../../support/js/oracle.js';
import { norm } from '../../support/js/train-oracle.js';

const engine = await init();
const [tokens, heads, dK] = [5, 2, 4];
const dModel = heads * dK;
const identity = filled([dModel, dModel], (i) => (i % (dModel + 1) === 0 ? 1 : 0));
const plain = { wq: identity, wk: identity, wv: identity, wo: identity };
const vector = (seed) => randomArray([dK], seed).data;
const gammas = { qGamma: vector(1), kGamma: vector(2) };
const betas = { qBeta: vector(3), kBeta: vector(4) };
const x = randomArray([tokens, dModel], 5);
const epsilon = 1e-3;

/** Heads of x, normalised. */
const normed = (kind, gamma, beta) =>
  norm({ x: x.data, gamma, beta }, { centre: kind === 'layer', epsilon });

/** Attention of normalised heads of x over x itself, in float64. */
function expected(kind, { qGamma, kGamma, qBeta, kBeta }) {
  const parts = { q: normed(kind, qGamma, qBeta), k: normed(kind, kGamma, kBeta), v: x.data };
  const problem = Object.fromEntries(
    Object.entries(parts).map(([name, data]) => [name, headsOf({ data, shape: x.shape }, heads)]),
  );
  const out = new Float64Array(tokens * dModel);
  let A = 0;
  for (let h = 0; h < heads; h += 1) {
    for (let i = 0; i < tokens; i += 1) {
      const row = attentionRow(problem, 0, h, i);
      out.set(row.out, i * dModel + h * dK);
      A = Math.max(A, row.A);
    }
  }
  return { out, A };
}

describe('qkNorm', () => {
  for (const [kind, weights] of [
    ['rms', gammas],
    ['layer', gammas],
    ['layer', { ...gammas, ...betas }],
  ]) {
    test(`'${kind}'${weights.qBeta ? ' with betas' : ''} is the formula`, () => {
      const config = { dModel, numHeads: heads, qkNorm: kind, qkEpsilon: epsilon };
      const layer = engine.multiHeadAttention(config, { ...plain, ...weights });
      const { out, A } = expected(kind, weights);
      // attention()'s bound, and the shift of scores by norms that are off by 64 u of the largest term.
      const V = 1;
      const bound =
        u * V * (2 * (dK + 16) * A + 3 * tokens + 40) + Math.expm1(2 * 128 * u * (A + 1));
      expectClose(layer.forward(x).output.data, out, 2 * bound);
      layer.dispose();
    });
  }

  test('keys go into a cache normalised', () => {
    const config = { dModel, numHeads: heads, qkNorm: 'rms', qkEpsilon: epsilon };
    const layer = engine.multiHeadAttention(config, { ...plain, ...gammas });
    const cache = engine.kvCache({ numKvHeads: heads, capacity: tokens, dK });
    layer.forward(x, { cache });
    const key = normed('rms', gammas.kGamma).slice(dModel + dK, dModel + 2 * dK);
    const at = (1 * tokens + 1) * dK;
    expectClose(cache.keys().data.slice(at, at + dK), key, 32 * u * 4);
    cache.dispose();
    layer.dispose();
  });

  test('weights that do not go with it are refused by the name that the caller gave them', () => {
    const config = { dModel, numHeads: heads };
    const make = (more, weights) =>
      engine.multiHeadAttention({ ...config, ...more }, { ...plain, ...weights });
    const refuses = (more, weights, code, ...says) =>
      expectThrows(() => make(more, weights), 'multiHeadAttention', code, ...says);
    refuses({ qkNorm: 'rms' }, { qGamma: gammas.qGamma }, 'invalid_argument', 'kGamma');
    refuses({}, { qGamma: gammas.qGamma }, 'invalid_argument', 'qGamma', 'qkNorm');
    refuses({ qkNorm: 'rms' }, { ...gammas, ...betas }, 'invalid_argument', 'qBeta');
    refuses({ qkNorm: 'batch' }, gammas, 'invalid_argument', 'qkNorm is "batch"');
    refuses({ qkNorm: 'rms', qkEpsilon: -1 }, gammas, 'invalid_argument', 'qkEpsilon is -1');
    refuses(
      { qkNorm: 'rms' },
      { ...gammas, kGamma: vector(1).slice(1) },
      'shape_mismatch',
      'kGamma',
    );
  });

  test('blocks have it in their attention', () => {
    const ones = filled([dModel], () => 1).data;
    const make = (more, weights) =>
      engine.transformerBlock(
        { dModel, numHeads: heads, dFeedForward: dModel, ...more },
        {
          attention: { ...plain, ...weights },
          ...{ norm1: { gamma: ones }, norm2: { gamma: ones }, w1: identity, w2: identity },
        },
      );
    const with1 = make({ qkNorm: 'rms' }, gammas).forward(x).output.data;
    const without = make({}, {}).forward(x).output.data;
    assert.ok(with1.some((value, i) => Math.abs(value - without[i]) > 1e-3));
    expectThrows(
      () => make({ qkNorm: 'rms' }, {}),
      ...['transformerBlock', 'invalid_argument', 'attention.qGamma'],
    );
  });
});
