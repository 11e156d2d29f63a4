/* oxlint-disable typescript/no-non-null-assertion -- indices stay within what was made with these lengths */
import type { Model } from '../../../domain/model';
import { D_K, D_MODEL } from '../../../domain/sources';
import { exactProjections, exactRow, type ExactProjections } from '../../../engine/exact_head';
import type { FrameFeature, Scene, Workbench } from '../../../engine/frame_feature';
import { columnsOf } from '../../../engine/layer_weights';
import { stage } from '../../../engine/memo';
import { MOST_KEYS } from '../shared/constants';
import type { FlowRequest } from '../state';

/** One key of the query; `before`: its weight with x as the sentence has it. */
export interface FlowKey {
  readonly key: number;
  readonly score: number;
  readonly weight: number;
  readonly before: number;
}

/** The matrices of one head, [D_MODEL, D_K] each, and of its part of W_O, [D_K, D_MODEL]. */
export interface FlowMatrices {
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly wv: Float32Array;
  readonly wo: Float32Array;
}

/** One token from x to the output of one head, in float64 from the numbers of the layer. */
export interface FlowResult {
  readonly query: number;
  readonly part: number;
  /** The changed number as the sentence has it. */
  readonly was: number;
  readonly matrices: FlowMatrices;
  /** [D_MODEL], with the change. */
  readonly x: Float64Array;
  /** [D_K] each. */
  readonly q: Float64Array;
  readonly k: Float64Array;
  readonly v: Float64Array;
  /** In the order of the sentence. */
  readonly keys: readonly FlowKey[];
  /** How many other keys the query may see. */
  readonly others: number;
  /** The weights times the values, [D_K], and that times W_O, [D_MODEL]. */
  readonly mixed: Float64Array;
  readonly output: Float64Array;
}

const matricesOf = ({ wq, wk, wv, wo }: Model, head: number): FlowMatrices => ({
  wq: columnsOf(wq, D_MODEL, head),
  wk: columnsOf(wk, D_MODEL, head),
  wv: columnsOf(wv, D_MODEL, head),
  wo: wo.slice(head * D_K * D_MODEL, (head + 1) * D_K * D_MODEL),
});

/** A row [D_MODEL] times a matrix [D_MODEL, D_K], and the bias. */
function times(x: Float64Array, matrix: Float32Array, bias?: Float32Array): Float64Array {
  return Float64Array.from({ length: D_K }, (_, c) => {
    let sum = bias?.[c] ?? 0;
    for (let i = 0; i < D_MODEL; i++) sum += x[i]! * matrix[i * D_K + c]!;
    return sum;
  });
}

/** The same projections, in which one token has other rows. */
function withRow(all: ExactProjections, row: number, own: Pick<FlowResult, 'q' | 'k' | 'v'>) {
  const put = (rows: Float64Array, values: Float64Array) => {
    const copy = rows.slice();
    copy.set(values, row * D_K);
    return copy;
  };
  return { ...all, q: put(all.q, own.q), k: put(all.k, own.k), v: put(all.v, own.v) };
}

function mixOf(weights: Float64Array, v: Float64Array): Float64Array {
  const mixed = new Float64Array(D_K);
  weights.forEach((weight, key) => {
    for (let c = 0; c < D_K; c++) mixed[c]! += weight * v[key * D_K + c]!;
  });
  return mixed;
}

/** The heaviest keys, now or before, in the order of the sentence. */
function listed(weights: Float64Array, before: Float64Array, allowed: readonly number[]) {
  const size = (key: number) => Math.max(weights[key]!, before[key]!);
  const heavy = [...allowed].sort((a, b) => size(b) - size(a) || a - b).slice(0, MOST_KEYS);
  return heavy.sort((a, b) => a - b);
}

interface Parts {
  readonly layerInput: Float32Array;
  readonly model: Model;
  readonly matrices: FlowMatrices;
  readonly exact: ExactProjections;
  readonly head: number;
}

function flowOf(
  { layerInput, model, matrices, exact, head }: Parts,
  { part, shift }: FlowRequest,
  { layer, query }: { layer: Scene['layer']; query: NonNullable<Scene['query']> },
): FlowResult {
  const { row } = query;
  const x = Float64Array.from(layerInput.subarray(row * D_MODEL, (row + 1) * D_MODEL));
  const was = x[part]!;
  x[part] = was + shift;
  const q = times(x, matrices.wq, model.bq.subarray(head * D_K, (head + 1) * D_K));
  const [k, v] = [times(x, matrices.wk), times(x, matrices.wv)];
  const changed = withRow(exact, row, { q, k, v });
  const [weights, before] = [exactRow(changed, row, layer), exactRow(exact, row, layer)];
  const allowed = [...query.scores.keys()].filter((key) => query.scores[key] !== -Infinity);
  const scoreOf = (key: number) =>
    q.reduce((sum, value, c) => sum + value * changed.k[key * D_K + c]!, 0) / Math.sqrt(D_K);
  const keys = listed(weights, before, allowed).map((key) => {
    return { key, score: scoreOf(key), weight: weights[key]!, before: before[key]! };
  });
  const mixed = mixOf(weights, changed.v);
  const output = Float64Array.from({ length: D_MODEL }, (_, i) =>
    mixed.reduce((sum, value, c) => sum + value * matrices.wo[c * D_MODEL + i]!, 0),
  );
  const others = allowed.length - keys.length;
  return { query: row, part, was, matrices, x, q, k, v, keys, others, mixed, output };
}

export function flowFrames({ log }: Workbench): FrameFeature<FlowRequest, FlowResult> {
  const matrices = stage('flow: matrices', log, matricesOf);
  const projections = stage('flow: q, k, v', log, exactProjections);
  return {
    compute(request, { heads: { model, x }, layer, view: { head }, query }) {
      if (!model || !query) return null;
      const exact = projections(x, model, head);
      const parts = { layerInput: x, model, matrices: matrices(model, head), exact, head };
      return flowOf(parts, request, { layer, query });
    },
  };
}
