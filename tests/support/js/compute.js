// One call of every kind, for engines in Node and in pages to compute and to compare.
import { problem, randomArray } from './arrays.js';

export const sizes = { heads: 6, kvHeads: 2, tq: 65, tk: 70, dK: 20, dV: 9 };
export const options = { causal: true, causalOffset: 3 };

/** The results by name, as NdArrays. */
export function compute(engine) {
  const { q, k, v } = problem(sizes);
  const extras = { returnWeights: true, returnLse: true, returnEntropy: true };
  const square = randomArray([24, 24], 7);
  const weights = { wq: square, wk: square, wv: square, wo: square };
  const layer = engine.multiHeadAttention({ dModel: 24, numHeads: 3 }, weights);
  const { output: forward } = layer.forward(randomArray([5, 24], 8), { causal: true });
  layer.dispose();
  return {
    ...engine.attention(q, k, v, { ...extras, ...options }),
    forward,
    positions: engine.sinusoidalEncoding(40, 33, { offset: 100_000 }),
    shift: engine.sinusoidalShift(77, 16),
  };
}
