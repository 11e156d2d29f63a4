import type { Qkv } from 'qkv';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import { hashText, normals } from '../../../engine/random';
import { SHARPNESS, TOKENS, WIDTH, type Way } from '../shared/constants';
import type { LinearRequest } from '../state';
import { linearAttention, linearWeights } from './linear_attention';

/** How far outputs are from those of softmax over all keys: the root of the ratio of the sums of squares. */
export interface Errors {
  readonly window: number;
  readonly linear: number;
}

export interface LinearResult extends LinearRequest {
  readonly errors: Errors;
  /** For each of SHARPNESS. */
  readonly curve: readonly Errors[];
  /** The weights of the last query for all keys. */
  readonly weights: Readonly<Record<Way, readonly number[]>>;
  /** Of the recurrence over TOKENS tokens, counted while it ran. */
  readonly operations: number;
}

type Inputs = readonly [q: Float32Array, k: Float32Array, v: Float32Array];

function inputsOf(seed: number): Inputs {
  const fill = normals(hashText('linear', seed));
  const drawn = () => {
    const data = new Float32Array(TOKENS * WIDTH);
    fill(data);
    return data;
  };
  return [drawn(), drawn(), drawn()];
}

/** Softmax attention by the core, over all keys before the query or over the last few of them. */
function attend(qkv: Qkv, [q, k, v]: Inputs, sharpness: number, window: number | null) {
  const shape = [1, 1, TOKENS, WIDTH] as const;
  const options = {
    ...{ causal: true, returnWeights: true, scale: sharpness / Math.sqrt(WIDTH) },
    ...(window !== null && { window: [window - 1, 0] as const }),
  } as const;
  return qkv.attention({ data: q, shape }, { data: k, shape }, { data: v, shape }, options);
}

function distance(from: ArrayLike<number>, to: Float32Array): number {
  let [off, size] = [0, 0];
  to.forEach((value, i) => {
    off += (from[i]! - value) ** 2;
    size += value * value;
  });
  return Math.sqrt(off / size);
}

function compared(qkv: Qkv, inputs: Inputs, sharpness: number, window: number) {
  const full = attend(qkv, inputs, sharpness, null);
  const near = attend(qkv, inputs, sharpness, window);
  const { output, operations } = linearAttention(inputs, WIDTH, sharpness);
  const errors: Errors = {
    window: distance(near.output.data, full.output.data),
    linear: distance(output, full.output.data),
  };
  return { full, near, operations, errors };
}

export function linearFrames({ qkv, log }: Workbench): FrameFeature<LinearRequest, LinearResult> {
  const drawn = stage('linear inputs', log, inputsOf);
  const curveOf = stage('linear', log, (inputs: Inputs, window: number) =>
    SHARPNESS.map((sharpness) => compared(qkv, inputs, sharpness, window).errors),
  );
  return {
    compute(request) {
      const { sharpness, window, seed } = request;
      const inputs = drawn(seed);
      const { full, near, operations, errors } = compared(qkv, inputs, sharpness, window);
      const [q, k] = inputs;
      const last = TOKENS - 1;
      const lastOf = (weights?: { readonly data: Float32Array }) =>
        Array.from(weights?.data.subarray(last * TOKENS) ?? []);
      return {
        ...request,
        ...{ errors, operations, curve: curveOf(inputs, window) },
        weights: {
          softmax: lastOf(full.weights),
          window: lastOf(near.weights),
          linear: Array.from(linearWeights(q.subarray(last * WIDTH), k, last, sharpness)),
        },
      };
    },
  };
}
