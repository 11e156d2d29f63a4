import type { Positions } from '../../../domain/choices';
import { worse } from '../../../domain/nan_max';
import type { Model } from '../../../domain/model';
import type { LayerRequest } from '../../../domain/layer';
import type { Qkv, ResultOf } from 'qkv';
import { GRID, gridMask } from '../shared/mask_grid';
import { WIDTH } from '../../../domain/number_sets';
import { layerInput } from '../../../engine/layer_weights';
import { permutation } from '../../../engine/random';
import { D_MODEL } from '../../../domain/sources';
import type { FullLayer } from '../../../engine/full_layer';
import type { CutPass, LearnedPass } from '../../../engine/head_list';
import type { MasksRequest } from '../state';

/** Largest |attention(shuffled) - shuffled(attention)| over all elements of the output. */
export interface Swap {
  readonly free: number;
  /** Under the mask of the grid, which stays where it is. */
  readonly masked: number;
}

/** The first tokens of the text, in the order of the request, under exactly the mask of the grid. */
export interface MasksResult {
  readonly request: MasksRequest;
  readonly head: number;
  readonly tokens: readonly string[];
  /** Where each token stands in the text. */
  readonly order: readonly number[];
  /** [T, T], 1 where a query may read a key. */
  readonly mask: Uint8Array;
  /** [T, T] of the shown head, and [T]. */
  readonly weights: Float32Array;
  readonly entropy: Float32Array;
  /** Queries that may read nothing. */
  readonly empty: readonly number[];
  /** Null while the tokens stand as they are written. */
  readonly swaps: {
    readonly without: Swap;
    /** Null where tokens have no embedding that a position could be added to. */
    readonly sinusoidal: Swap | null;
  } | null;
  /** Of a trained model: what may follow, as it is and under the mask; null: it is none, or does not say. */
  readonly next: CutPass['next'];
}

interface Answer {
  readonly output: Float32Array;
  /** [H, T, T] and [H, T]. */
  readonly weights: Float32Array;
  readonly entropy: Float32Array;
}

/** Attention over the tokens in some order; without a mask, everybody reads everybody. */
type Attend = (order: readonly number[], positions: Positions, mask: Uint8Array | null) => Answer;

const asks = { returnWeights: true, returnEntropy: true } as const;

const square = (mask: Uint8Array | null, count: number) =>
  mask ? { mask: { data: mask, shape: [count, count] } } : {};

/** The numbers of the reader: there are queries and keys, and nothing that a position was added to. */
function attendGiven(qkv: Qkv, { numbers, temperature }: LayerRequest): Attend {
  return (order, _positions, mask) => {
    const pick = (rows: readonly number[]) => ({
      data: Float32Array.from(order.flatMap((i) => rows.slice(i * WIDTH, (i + 1) * WIDTH))),
      shape: [order.length, WIDTH],
    });
    const { q, k, v } = numbers;
    const options = { numHeads: 1, temperature, ...square(mask, order.length), ...asks };
    return answer(qkv.attention(pick(q), pick(k), pick(v), options));
  };
}

function attendLayer(qkv: Qkv, whole: FullLayer, model: Model, request: LayerRequest): Attend {
  const { tokens, temperature } = request;
  return (order, positions, mask) => {
    const words = order.map((i) => tokens[i]!);
    const x = { data: layerInput(qkv, model, words, positions), shape: [words.length, D_MODEL] };
    const options = { temperature, ...square(mask, words.length), ...asks };
    return answer(whole.of(model).forward(x, options));
  };
}

function answer({ output, weights, entropy }: ResultOf<typeof asks>): Answer {
  return { output: output.data, weights: weights.data, entropy: entropy.data };
}

function largestDifference(
  shuffled: Float32Array,
  plain: Float32Array,
  order: readonly number[],
): number {
  const width = plain.length / order.length;
  let most = 0;
  shuffled.forEach((value, at) => {
    const from = order[Math.floor(at / width)]! * width + (at % width);
    most = worse(most, Math.abs(value - plain[from]!));
  });
  return most;
}

function swapOf(
  attend: Attend,
  order: readonly number[],
  positions: Positions,
  mask: Uint8Array,
): Swap {
  const written = order.map((_, i) => i);
  const under = (allowed: Uint8Array | null) =>
    largestDifference(
      attend(order, positions, allowed).output,
      attend(written, positions, allowed).output,
      order,
    );
  return { free: under(null), masked: under(mask) };
}

const emptyRows = (mask: Uint8Array, count: number) =>
  Array.from({ length: count }, (_, row) => row).filter((row) =>
    mask.subarray(row * count, (row + 1) * count).every((allowed) => allowed === 0),
  );

/** Null without tokens. `model` is null for the numbers of the reader. */
export function maskedGrid(
  { qkv, whole, model }: { qkv: Qkv; whole: FullLayer; model: Model | null },
  layer: LayerRequest,
  request: MasksRequest,
  head: number,
): MasksResult | null {
  const count = Math.min(layer.tokens.length, GRID);
  if (count === 0) return null;
  const order = permutation(request.maskShuffle, count);
  const mask = gridMask(request, count);
  const attend = model ? attendLayer(qkv, whole, model, layer) : attendGiven(qkv, layer);
  const { weights, entropy } = attend(order, layer.positions, mask);
  const swap = (positions: Positions) => swapOf(attend, order, positions, mask);
  const moved = order.some((from, i) => from !== i);
  return {
    request,
    head,
    tokens: order.map((i) => layer.tokens[i]!),
    order,
    mask,
    weights: weights.slice(head * count * count, (head + 1) * count * count),
    entropy: entropy.slice(head * count, (head + 1) * count),
    empty: emptyRows(mask, count),
    swaps: moved ? { without: swap('none'), sinusoidal: model && swap('sinusoidal') } : null,
    next: null,
  };
}

/** The same of a trained model: the mask is cut from all its heads, and its tokens stay as they are written. */
export function learnedGrid(
  learned: LearnedPass,
  { tokens: all }: Pick<LayerRequest, 'tokens'>,
  request: MasksRequest,
  head: number,
): MasksResult {
  const tokens = all.slice(0, GRID);
  const count = tokens.length;
  const found = learned.cut(gridMask(request, count), count, head);
  const order = tokens.map((_, i) => i);
  return {
    request,
    head,
    tokens,
    order,
    ...found,
    empty: emptyRows(found.mask, count),
    swaps: null,
  };
}
