import type { NdArray, Qkv } from 'qkv';
import { Adam } from '../../../engine/adam';
import { hashText, normals } from '../../../engine/random';
import { BUCKETS, FAR, NEAR, T5_HEADS, T5_LENGTH, T5_STEPS } from '../shared/constants';

const [LENGTH, HEADS] = [T5_LENGTH, T5_HEADS];
const RATE = 0.2;

/**
 * Which mean of its row each head has to report: the share of a key at j - i, before the shares of a row are divided by their sum.
 */
const TASKS: readonly ((distance: number) => number)[] = [
  (distance) => (distance === -1 ? 1 : 0),
  (distance) => NEAR ** Math.abs(distance),
  (distance) => (distance < 0 ? 1 : 0),
  (distance) => (Math.abs(distance) >= FAR ? 1 : 0),
];

/** A table of biases that was trained. */
export interface T5Biases {
  /** [BUCKETS, HEADS] */
  readonly table: Float32Array;
  /** The bucket of every relative position from 1 - LENGTH on. */
  readonly buckets: Uint8Array;
  /** The mean squared error of each head on a row that training does not have, before and after it. */
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** The bucket of each relative position: what the core copies from a table of its own row numbers. */
function bucketsOf(qkv: Qkv): Uint8Array {
  const data = Float32Array.from({ length: BUCKETS }, (_, bucket) => bucket);
  const options = { offset: LENGTH - 1 };
  const row = qkv.t5RelativeBias({ data, shape: [BUCKETS, 1] }, 1, 2 * LENGTH - 1, options);
  return Uint8Array.from(row.data);
}

/** What each head has to report of a row, [LENGTH, HEADS]; NaN where no key counts. */
function wantedOf(row: Float32Array): Float64Array {
  return Float64Array.from(row, (_, at) => {
    const [i, head] = [Math.floor(at / HEADS), at % HEADS];
    let [sum, shares] = [0, 0];
    for (let j = 0; j < LENGTH; j++) {
      const share = TASKS[head]!(j - i);
      sum += share * row[j * HEADS + head]!;
      shares += share;
    }
    return sum / shares;
  });
}

interface Pass {
  /** The gradient of the mean squared error by the table, and that error for each head. */
  readonly gradient: Float64Array;
  readonly errors: readonly number[];
}

/**
 * Attention in which q and k are 0, so that the bias alone decides; the values of each head are numbers of its own. With the error
 * e_i = o_i - y_i the gradient of the mean of e_i^2 by the bias of a pair is 2 e_i A_ij (v_j - o_i) / n; that of a row of the
 * table is the sum over the pairs in its bucket.
 */
function passOf(qkv: Qkv, table: Float32Array, buckets: Uint8Array, row: Float32Array): Pass {
  const shape = [LENGTH, HEADS];
  const nothing: NdArray = { data: new Float32Array(row.length), shape };
  const bias = qkv.t5RelativeBias({ data: table, shape: [BUCKETS, HEADS] }, LENGTH, LENGTH);
  const options = { numHeads: HEADS, bias, returnWeights: true } as const;
  const { output, weights } = qkv.attention(nothing, nothing, { data: row, shape }, options);
  const wanted = wantedOf(row);
  const gradient = new Float64Array(BUCKETS * HEADS);
  const errors = TASKS.map((_, head) => {
    let [sum, count] = [0, 0];
    for (let i = 0; i < LENGTH; i++) {
      const of = output.data[i * HEADS + head]!;
      const error = of - wanted[i * HEADS + head]!;
      if (Number.isNaN(error)) continue;
      sum += error ** 2;
      count++;
      for (let j = 0; j < LENGTH; j++) {
        const weight = weights.data[(head * LENGTH + i) * LENGTH + j]!;
        const bucket = buckets[j - i + LENGTH - 1]!;
        gradient[bucket * HEADS + head]! += error * weight * (row[j * HEADS + head]! - of);
      }
    }
    for (let at = head; at < gradient.length; at += HEADS) gradient[at]! *= 2 / count;
    return sum / count;
  });
  return { gradient, errors };
}

/** Trains the table from zeros on rows of random numbers, each used once, at a rate that falls to 0. */
export function trainT5(qkv: Qkv, seed: number): T5Biases {
  const buckets = bucketsOf(qkv);
  const table = new Float32Array(BUCKETS * HEADS);
  const row = new Float32Array(LENGTH * HEADS);
  const heldOut = new Float32Array(LENGTH * HEADS);
  normals(hashText('t5 held out', seed))(heldOut);
  const errors = () => passOf(qkv, table, buckets, heldOut).errors;
  const before = errors();
  const draw = normals(hashText('t5 rows', seed));
  const adam = new Adam(table.length, 0.99);
  for (let step = 0; step < T5_STEPS; step++) {
    draw(row);
    const { gradient } = passOf(qkv, table, buckets, row);
    adam.move(table, gradient, RATE * (1 - step / T5_STEPS));
  }
  return { table, buckets, before, after: errors() };
}
