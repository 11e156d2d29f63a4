import type { Qkv } from 'qkv';
import type { LayerRequest } from '../../../domain/layer';
import { allowedKeys, maskOptions } from '../../../domain/mask';
import { worse } from '../../../domain/nan_max';
import { exactProjections, exactRow, type ExactProjections } from '../../../engine/exact_head';
import type { FrameFeature, Scene, Workbench } from '../../../engine/frame_feature';
import type { Heads } from '../../../engine/head_list';
import type { Projections } from '../../../engine/heads';
import { stage } from '../../../engine/memo';
import type { RowData } from '../../../domain/row_data';
import type { PairRequest } from '../state';

/** Of more keys these, the heaviest, are listed one by one. */
export const MAX_LISTED = 12;

/** What one key, or several together, add to the output: its weight, and weight times value [width]. */
export interface Share {
  readonly weight: number;
  readonly part: Float64Array;
}

/** One score from q and k to the weight, and what its key adds to the output. */
export interface PairNumbers {
  readonly query: number;
  readonly key: number;
  readonly temperature: number;
  /** By the core: query, key and value of the pair, [width] each. */
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  /** By the page, in float64 from these: the products, and their sum. */
  readonly products: Float64Array;
  readonly dot: number;
  readonly scale: number;
  /** By the core, those of the map; lse: ln of the sum of exp(score / temperature) over the keys. */
  readonly score: number;
  readonly weight: number;
  readonly lse: number;
  /** By the core: the output of the head for this query, [width]. */
  readonly output: Float32Array;
  /** How many keys the query may see. */
  readonly allowed: number;
  /** By the page, in float64 from the core's weights and values; in the order of the sentence. */
  readonly shares: readonly (Share & { readonly key: number })[];
  /** All other keys together; null where every key is listed. */
  readonly rest: (Share & { readonly keys: number }) | null;
  /** |the page's sum - what the core has|, of the score and of the output. */
  readonly sums: { readonly score: number; readonly output: number };
  /** Largest difference from float64, which begins with the embeddings and the weights of the model. */
  readonly error: { readonly score: number; readonly weight: number; readonly output: number };
}

const rowOf = <Row extends Float32Array | Float64Array>(rows: Row, row: number, width: number) =>
  rows.subarray(row * width, (row + 1) * width) as Row;

/** Of a source without projections, what it was given. */
function exactOf({ model, x }: Heads, head: number, given: Projections): ExactProjections {
  if (model) return exactProjections(x, model, head);
  const [q, k, v] = [given.q, given.k, given.v].map((rows) => Float64Array.from(rows));
  return { q: q!, k: k!, v: v!, width: given.width, scale: given.scale };
}

/** The output of the head for one query. */
function outputOf(
  qkv: Qkv,
  { q, k, v, width, scale }: Projections,
  row: number,
  { mask, temperature }: LayerRequest,
): Float32Array {
  const array = (data: Float32Array) => ({ data, shape: [data.length / width, width] });
  const causal = mask === 'none' ? {} : { causalOffset: row };
  const options = { numHeads: 1, scale, ...maskOptions(mask), ...causal, temperature };
  const query = array(rowOf(q, row, width).slice());
  return qkv.attention(query, array(k), array(v), options).output.data;
}

/** The sum of weight times value over these keys. */
function shareOf(keys: readonly number[], row: RowData, { v, width }: Projections): Share {
  const part = new Float64Array(width);
  let weight = 0;
  for (const key of keys) {
    const p = row.weights[key]!;
    weight += p;
    for (let c = 0; c < width; c++) part[c]! += p * v[key * width + c]!;
  }
  return { weight, part };
}

/** The keys of a query, those that are listed and the others. */
function listed(row: RowData, [first, end]: readonly [number, number], chosen: number) {
  const keys = Array.from({ length: end - first }, (_, j) => first + j);
  if (keys.length <= MAX_LISTED) return { own: keys, others: [] };
  const heavy = [...keys].sort((a, b) => row.weights[b]! - row.weights[a]! || a - b);
  const own = new Set([chosen, ...heavy.slice(0, MAX_LISTED)]);
  return { own: keys.filter((key) => own.has(key)), others: keys.filter((key) => !own.has(key)) };
}

/** The same in float64, as far as it concerns the error. */
function exactPair(exact: ExactProjections, row: number, key: number, layer: LayerRequest) {
  const { q, k, v, width, scale = 1 / Math.sqrt(width) } = exact;
  const weights = exactRow(exact, row, layer);
  let dot = 0;
  for (let c = 0; c < width; c++) dot += q[row * width + c]! * k[key * width + c]!;
  const output = new Float64Array(width);
  weights.forEach((weight, j) => {
    for (let c = 0; c < width; c++) output[c]! += weight * v[j * width + c]!;
  });
  return { score: dot * scale, weight: weights[key]!, output };
}

const farthest = (a: ArrayLike<number>, b: ArrayLike<number>) =>
  Array.from(a, (value, c) => Math.abs(value - b[c]!)).reduce(worse, 0);

function pairNumbers(
  qkv: Qkv,
  { row, projections, exact }: { row: RowData; projections: Projections; exact: ExactProjections },
  layer: LayerRequest,
  chosen: number | null,
): PairNumbers {
  const { width, scale } = projections;
  const count = projections.q.length / width;
  const range = allowedKeys(layer.mask, row.row, count);
  const key = chosen !== null && chosen >= range[0] && chosen < range[1] ? chosen : row.largest;
  const q = rowOf(projections.q, row.row, width);
  const k = rowOf(projections.k, key, width);
  const products = Float64Array.from(q, (value, c) => value * k[c]!); // exact: 24 bits times 24
  const dot = products.reduce((a, b) => a + b, 0);
  const { own, others } = listed(row, range, key);
  const shares = own.map((each) => ({ key: each, ...shareOf([each], row, projections) }));
  const rest =
    others.length > 0 ? { keys: others.length, ...shareOf(others, row, projections) } : null;
  const output = outputOf(qkv, projections, row.row, layer);
  const sum = shareOf([...own, ...others], row, projections).part;
  const wanted = exactPair(exact, row.row, key, layer);
  const [score, weight] = [row.scores[key]!, row.weights[key]!];
  return {
    ...{ query: row.row, key, temperature: layer.temperature },
    ...{ q: q.slice(), k: k.slice(), v: rowOf(projections.v, key, width).slice() },
    ...{ products, dot, scale, score, weight, lse: row.lse, output, shares, rest },
    allowed: range[1] - range[0],
    sums: { score: Math.abs(dot * scale - score), output: farthest(sum, output) },
    error: {
      score: Math.abs(score - wanted.score),
      weight: Math.abs(weight - wanted.weight),
      output: farthest(output, wanted.output),
    },
  };
}

export function pairFrames({ qkv, log }: Workbench): FrameFeature<PairRequest, PairNumbers> {
  const projected = stage('pair: q, k, v', log, (heads: Heads, head: number) =>
    heads.list[head]!.projections(),
  );
  const inFloat64 = stage('pair: float64', log, exactOf);
  const numbers = stage(
    'pair',
    log,
    (
      _key: string,
      row: RowData,
      projections: Projections,
      exact: ExactProjections,
      layer: LayerRequest,
      key: number | null,
    ) => pairNumbers(qkv, { row, projections, exact }, layer, key),
    [4], // requests arrive as copies; what counts of it is in the row, and in the string
  );
  return {
    compute({ key }: PairRequest, { heads, layer, view, query }: Scene) {
      if (!query) return null;
      const projections = projected(heads, view.head);
      const exact = inFloat64(heads, view.head, projections);
      return numbers(`${layer.mask} ${layer.temperature}`, query, projections, exact, layer, key);
    },
  };
}
