import { worse } from '../../../domain/nan_max';
import { softmaxOf } from '../../../domain/softmax';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import type { SimplexRequest } from '../state';

/** The optimum for three scores at a temperature. */
export interface SimplexResult extends SimplexRequest {
  /** Softmax of scores / temperature, by the core. */
  readonly best: Float32Array;
  /** Its value: temperature times the logarithm of the sum of exp(score / temperature), by the core. */
  readonly value: number;
  /** Largest |difference| of a weight from float64. */
  readonly error: number;
}

export function simplexFrames({ qkv }: Workbench): FrameFeature<SimplexRequest, SimplexResult> {
  return {
    compute({ scores, temperature }) {
      const count = scores.length;
      // Keys of width 1 that are the scores, and a query of 1.
      const { weights, lse } = qkv.attention(
        { data: Float32Array.of(1), shape: [1, 1, 1, 1] },
        { data: Float32Array.from(scores), shape: [1, 1, count, 1] },
        { data: new Float32Array(count), shape: [1, 1, count, 1] },
        { scale: 1 / temperature, returnWeights: true, returnLse: true },
      );
      const exact = softmaxOf(scores.map((score) => score / temperature));
      return {
        ...{ scores, temperature, best: weights.data },
        value: temperature * lse.data[0]!,
        error: weights.data.reduce((most, p, i) => worse(most, Math.abs(p - (exact[i] ?? 0))), 0),
      };
    },
  };
}
