import { logSumExp } from '../../../domain/softmax';
import type { Qkv } from 'qkv';
import type { LanguageModel } from 'qkv/models';
import { worse } from '../../../domain/nan_max';
import type { ExactHead } from '../../../engine/exact_head';
import type { Head, Layer, Projections } from '../../../engine/heads';
import { maskOptions } from '../../../domain/mask';

/** A head of a trained model on one text: its q and k came of the model's own pass. */
class TrainedHead implements Head {
  readonly #qkv: Qkv;
  readonly #of: Projections;

  constructor(qkv: Qkv, of: Projections) {
    this.#qkv = qkv;
    this.#of = of;
  }

  get exact(): ExactHead {
    const { q, k, width, scale } = this.#of;
    return { q: Float64Array.from(q), k: Float64Array.from(k), width, scale };
  }

  #array(data: Float32Array) {
    return { data, shape: [data.length / this.#of.width, this.#of.width] };
  }

  #attend(q: Float32Array, options: object, extras: Parameters<Head['all']>[1]) {
    const { k, v, scale } = this.#of;
    const all = { numHeads: 1, scale, ...options, ...extras };
    return this.#qkv.attention(this.#array(q), this.#array(k), this.#array(v), all);
  }

  all({ mask, temperature }: Layer, extras: Parameters<Head['all']>[1]) {
    return this.#attend(this.#of.q, { ...maskOptions(mask), temperature }, extras);
  }

  row(index: number, { mask, temperature }: Layer, extras: Parameters<Head['row']>[2]) {
    const { q, width } = this.#of;
    const causal = mask === 'none' ? {} : { causalOffset: index };
    const query = q.slice(index * width, (index + 1) * width);
    return this.#attend(query, { ...maskOptions(mask), ...causal, temperature }, extras);
  }

  /** As they enter the scores: after the norm of q and k and after the rotation, where the model has them. */
  projections(): Projections {
    return this.#of;
  }

  dispose(): void {}
}

/** One pass of a model over a text, with what its heads read. */
export interface Pass {
  readonly ids: readonly number[];
  /** [T, vocabulary]; null of a model that does not say what follows. */
  readonly logits: Float32Array | null;
  /** Layer by layer. */
  readonly heads: readonly TrainedHead[];
  /** The weights that the pass itself used, [T, T] of each head. */
  readonly weights: readonly Float32Array[];
}

export function passOver(qkv: Qkv, model: LanguageModel, ids: readonly number[]): Pass {
  const { numLayers, numHeads, numKvHeads, dK, attentionScale } = model.config;
  const width = dK;
  const inspect = { weights: true, projections: true };
  const { logits, layers } = model.forward(ids, { inspect });
  const scale = attentionScale ?? 1 / Math.sqrt(width);
  const heads: TrainedHead[] = [];
  const weights: Float32Array[] = [];
  const group = numHeads / numKvHeads;
  const part = (data: Float32Array, head: number, size: number) =>
    data.slice(head * size, (head + 1) * size);
  for (let layer = 0; layer < numLayers; layer++) {
    const read = layers?.get(layer);
    if (!read?.q || !read.k || !read.v || !read.weights)
      throw new Error('the pass left out q or k');
    const { q, k, v } = read;
    for (let head = 0; head < numHeads; head++) {
      const size = ids.length * width;
      const own = Math.floor(head / group);
      const rows = { k: part(k.data, own, size), v: part(v.data, own, size), width, scale };
      heads.push(new TrainedHead(qkv, { q: part(q.data, head, size), ...rows }));
      weights.push(part(read.weights.data, head, ids.length ** 2));
    }
  }
  return { ids, logits: logits?.data ?? null, heads, weights };
}

/** -ln of what the model gave to each token after the first, from its logits in float64. */
export function surprisalOf(logits: Float32Array, ids: readonly number[]): Float32Array {
  const vocabulary = logits.length / ids.length;
  return Float32Array.from(ids, (_, t) => {
    if (t === 0) return NaN;
    const row = logits.subarray((t - 1) * vocabulary, t * vocabulary);
    return logSumExp(row) - row[ids[t]!]!;
  });
}

/** Largest |difference| of the weights of a pass and those that the core's attention makes of its q and k. */
export function differenceOf(
  { weights, heads }: Pass,
  layer: Layer,
): { difference: number; ours: Float32Array[] } {
  let difference = 0;
  const ours = heads.map((head, at) => {
    const { weights: found } = head.all(layer, { returnWeights: true });
    if (!found) throw new Error('attention left out the weights');
    found.data.forEach((w, i) => (difference = worse(difference, Math.abs(w - weights[at]![i]!))));
    return found.data;
  });
  return { difference, ours };
}
