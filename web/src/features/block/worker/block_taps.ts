import { worse } from '../../../domain/nan_max';
import type { Model } from '../../../domain/model';
import type { AttentionOptions, NdArray, Qkv } from 'qkv';
import { hashText, uniform } from '../../../engine/random';
import { EPSILON, WIDER, type NormPlace, type NormType, type TapId } from '../shared/constants';

/** A matrix on the way, and the length of each of its rows. */
export interface Tap {
  readonly rows: number;
  readonly cols: number;
  readonly data: Float32Array;
  /** [rows], Euclidean. */
  readonly norms: Float32Array;
}

export interface BlockResult {
  readonly taps: Readonly<Record<TapId, Tap>>;
  /** What each head adds to the output of the attention: its columns of concat times its rows of W_O. */
  readonly heads: readonly Tap[];
  /** Largest |difference| between the last tap and what the block operator of the package gives. */
  readonly difference: number;
}

export interface BlockOptions {
  readonly place: NormPlace;
  readonly type: NormType;
  /** The head whose weights are shown. */
  readonly head: number;
  /** The seed of the feed-forward weights. */
  readonly seed: number;
  /** Mask and temperature of the attention. */
  readonly attention: Pick<AttentionOptions, 'causal' | 'window' | 'temperature'>;
}

export function tapOf({ data, shape }: NdArray): Tap {
  const cols = shape.at(-1)!;
  const rows = data.length / cols;
  const norms = Float32Array.from({ length: rows }, (_, row) =>
    Math.hypot(...data.subarray(row * cols, (row + 1) * cols)),
  );
  return { rows, cols, data, norms };
}

export function added(a: NdArray, b: NdArray): NdArray {
  return { data: a.data.map((value, i) => value + b.data[i]!), shape: a.shape };
}

/** U(-b, b) with b = sqrt(6 / (in + out)), by Glorot's rule. */
export function glorot(
  name: string,
  seed: number,
  [rows, cols]: readonly [number, number],
): NdArray {
  const bound = Math.sqrt(6 / (rows + cols));
  return { data: uniform(hashText(name, seed), rows * cols, bound), shape: [rows, cols] };
}

/** The columns [from, from + width) of a matrix. */
function columns({ data, shape }: NdArray, from: number, width: number): NdArray {
  const [rows, cols] = [shape[0]!, shape[1]!];
  const part = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const start = row * cols + from;
    part.set(data.subarray(start, start + width), row * width);
  }
  return { data: part, shape: [rows, width] };
}

export function normed(qkv: Qkv, type: NormType, x: NdArray): NdArray {
  const options = { epsilon: EPSILON };
  return type === 'layer' ? qkv.layerNorm(x, options) : qkv.rmsNorm(x, options);
}

/** The weights of the page's layer, and of a feed-forward layer that no part of the page has besides. */
function blockWeights({ numHeads, wq, wk, wv, wo, bq }: Model, dModel: number, seed: number) {
  const inner = bq.length;
  const matrix = (data: Float32Array, rows: number) => ({
    data,
    shape: [rows, data.length / rows],
  });
  return {
    numHeads,
    inner,
    wq: matrix(wq, dModel),
    wk: matrix(wk, dModel),
    wv: matrix(wv, dModel),
    wo: matrix(wo, inner),
    bq,
    w1: glorot('block w1', seed, [dModel, WIDER * dModel]),
    w2: glorot('block w2', seed, [WIDER * dModel, dModel]),
  };
}
type Weights = ReturnType<typeof blockWeights>;

function attend(qkv: Qkv, weights: Weights, x: NdArray, { head, attention }: BlockOptions) {
  const { numHeads, inner, wq, wk, wv, wo, bq } = weights;
  const q = qkv.linear(x, wq, { bias: bq });
  const [k, v] = [qkv.linear(x, wk), qkv.linear(x, wv)];
  const options = { numHeads, ...attention, returnWeights: true as const };
  const { output: concat, weights: all } = qkv.attention(q, k, v, options);
  const count = x.shape[0]!;
  const shown = all.data.slice(head * count ** 2, (head + 1) * count ** 2);
  const width = inner / numHeads;
  const heads = Array.from({ length: numHeads }, (_, h) => {
    const rows = wo.data.slice(h * width * wo.shape[1]!, (h + 1) * width * wo.shape[1]!);
    const part = { data: rows, shape: [width, wo.shape[1]!] };
    return tapOf(qkv.linear(columns(concat, h * width, width), part));
  });
  const output = qkv.linear(concat, wo);
  return { weights: { data: shown, shape: [count, count] }, concat, output, heads };
}

function feedForward(qkv: Qkv, { w1, w2 }: Weights, x: NdArray) {
  const hidden = qkv.gelu(qkv.linear(x, w1));
  return { hidden, output: qkv.linear(hidden, w2) };
}

/** The same block in one call. */
function whole(qkv: Qkv, weights: Weights, x: NdArray, options: BlockOptions): NdArray {
  const { numHeads, inner, wq, wk, wv, wo, bq, w1, w2 } = weights;
  const dModel = x.shape[1]!;
  const gamma = new Float32Array(dModel).fill(1);
  const block = qkv.transformerBlock(
    {
      ...{ dModel, numHeads, dK: inner / numHeads, dFeedForward: WIDER * dModel },
      ...{ norm: options.place, normType: options.type, epsilon: EPSILON, activation: 'gelu' },
    },
    { attention: { wq, wk, wv, wo, bq }, norm1: { gamma }, norm2: { gamma }, w1, w2 },
  );
  try {
    return block.forward(x, options.attention).output;
  } finally {
    block.dispose();
  }
}

/** A block of the page's heads, operator by operator, so that every matrix between them can be looked at. */
export function blockTaps(qkv: Qkv, model: Model, x: NdArray, options: BlockOptions): BlockResult {
  const weights = blockWeights(model, x.shape[1]!, options.seed);
  const { place, type } = options;
  const pre = place === 'pre';
  const norm = (of: NdArray) => normed(qkv, type, of);
  const before = pre ? norm(x) : x;
  const attended = attend(qkv, weights, before, options);
  const sum1 = added(x, attended.output);
  const norm1 = pre ? before : norm(sum1);
  const middle = pre ? sum1 : norm1;
  const inside = pre ? norm(middle) : middle;
  const forward = feedForward(qkv, weights, inside);
  const sum2 = added(middle, forward.output);
  const norm2 = pre ? inside : norm(sum2);
  const output = pre ? sum2 : norm2;
  const exact = whole(qkv, weights, x, options);
  return {
    taps: {
      input: tapOf(x),
      norm1: tapOf(norm1),
      weights: tapOf(attended.weights),
      concat: tapOf(attended.concat),
      attention: tapOf(attended.output),
      sum1: tapOf(sum1),
      norm2: tapOf(norm2),
      hidden: tapOf(forward.hidden),
      forward: tapOf(forward.output),
      sum2: tapOf(sum2),
    },
    heads: attended.heads,
    difference: output.data.reduce(
      (most, value, i) => worse(most, Math.abs(value - exact.data[i]!)),
      0,
    ),
  };
}
