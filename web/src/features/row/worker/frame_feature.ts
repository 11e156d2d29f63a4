import { softmaxOf } from '../../../domain/softmax';
import { worse } from '../../../domain/nan_max';
import type { Qkv } from 'qkv';
import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import type { Heads } from '../../../engine/head_list';
import type { Mask } from '../../../domain/choices';
import { learnedRow, type LearnedRow } from './trained_row';
import { countOf, WIDTH } from '../../../domain/number_sets';
import type { RowRequest } from '../state';

/** Every step from one query to its output; [count] each, output [WIDTH]. */
export interface RowSteps {
  readonly request: RowRequest;
  readonly scale: number;
  /** By the core. */
  readonly products: Float32Array;
  readonly scaled: Float32Array;
  readonly masked: Float32Array;
  readonly lse: number;
  /** By the page in float32, one rounding per operation: the core does these in one go. */
  readonly max: number;
  readonly exps: Float32Array;
  readonly sum: number;
  readonly naive: Float32Array;
  readonly naiveOutput: Float32Array;
  /** By the core again; it always subtracts the maximum. */
  readonly weights: Float32Array;
  readonly output: Float32Array;
  /** Largest difference of the core's weights and output from float64. */
  readonly error: number;
  /** The chosen row of a head of a trained model, when those are shown. */
  readonly learned: LearnedRow | null;
}

const array = (rows: readonly number[]) => ({
  data: Float32Array.from(rows),
  shape: [rows.length / WIDTH, WIDTH],
});

/** The same row in float64 from the core's float32 inputs, as far as it concerns the error. */
function exact(q: Float32Array, k: Float32Array, v: Float32Array, scale: number, masked: number) {
  const count = k.length / WIDTH;
  const scores = Array.from({ length: count }, (_, j) => {
    if ((masked >> j) & 1) return -Infinity;
    return scale * (q[0]! * k[j * WIDTH]! + q[1]! * k[j * WIDTH + 1]!);
  });
  const weights = softmaxOf(scores);
  const output = [0, 1].map((d) => weights.reduce((o, w, j) => o + w * v[j * WIDTH + d]!, 0));
  return { weights, output };
}

/** exp, sum and division in float32 as a textbook writes them, with or without the maximum. */
function textbook(masked: Float32Array, v: Float32Array, subtractMax: boolean) {
  const max = masked.reduce((a, b) => Math.max(a, b), -Infinity);
  const shift = subtractMax && max > -Infinity ? max : 0;
  const exps = masked.map((score) => Math.exp(Math.fround(score - shift)));
  const sum = exps.reduce((a, b) => Math.fround(a + b), 0);
  const naive = exps.map((e) => (max === -Infinity ? 0 : e / sum));
  const naiveOutput = Float32Array.from([0, 1], (d) =>
    naive.reduce((o, w, j) => Math.fround(o + Math.fround(w * v[j * WIDTH + d]!)), 0),
  );
  return { max, exps, sum, naive, naiveOutput };
}

function rowSteps(qkv: Qkv, request: RowRequest): Omit<RowSteps, 'learned'> {
  const { numbers, masked, subtractMax } = request;
  const count = countOf(numbers);
  const at = Math.min(request.query, count - 1) * WIDTH;
  const q = array(numbers.q.slice(at, at + WIDTH));
  const [k, v] = [array(numbers.k), array(numbers.v)];
  const scale = Math.fround(request.scale ?? 1 / Math.sqrt(WIDTH));
  const mask = {
    data: Uint8Array.from({ length: count }, (_, j) => 1 - ((masked >> j) & 1)),
    shape: [1, count],
  };
  const logits = (options: { scale: number; mask?: typeof mask }) => {
    const returnLogits = options.mask ? ('biased' as const) : ('raw' as const);
    return qkv.attention(q, k, v, { numHeads: 1, ...options, returnLogits }).logits.data;
  };
  const options = { numHeads: 1, scale, mask, returnWeights: true, returnLse: true };
  const { output, weights, lse } = qkv.attention(q, k, v, options);
  if (!weights || !lse) throw new Error('attention left out weights or lse');
  const biased = logits({ scale, mask });
  const wanted = exact(q.data, k.data, v.data, scale, masked);
  let error = 0;
  wanted.weights.forEach((w, j) => (error = worse(error, Math.abs(w - weights.data[j]!))));
  wanted.output.forEach((o, d) => (error = worse(error, Math.abs(o - output.data[d]!))));
  return {
    request,
    scale,
    products: logits({ scale: 1 }),
    scaled: logits({ scale }),
    masked: biased,
    lse: lse.data[0]!,
    ...textbook(biased, v.data, subtractMax),
    weights: weights.data,
    output: output.data,
    error,
  };
}

export function rowFrames({ qkv, log }: Workbench): FrameFeature<RowRequest, RowSteps> {
  // A string beside the request: requests arrive as copies, which are never identical.
  const steps = stage(
    'row steps',
    log,
    (_key: string, request: RowRequest) => rowSteps(qkv, request),
    [1],
  );
  const learned = stage(
    'learned row',
    log,
    (heads: Heads, head: number, mask: Mask, temperature: number, query: number) =>
      heads.count > 0 ? learnedRow(heads, head, { mask, temperature }, query) : null,
  );
  const together = stage(
    'row',
    log,
    (own: Omit<RowSteps, 'learned'>, row: LearnedRow | null): RowSteps => ({
      ...own,
      learned: row,
    }),
  );
  return {
    compute: (request, { heads, layer, view }) =>
      together(
        steps(JSON.stringify(request), request),
        layer.source === 'trained'
          ? learned(heads, view.head, layer.mask, layer.temperature, view.query)
          : null,
      ),
  };
}
