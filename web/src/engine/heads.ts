import type { Mask } from '../domain/choices';
import type { Model } from '../domain/model';
import type { AttentionExtras, AttentionOptions, MultiHeadAttention, Qkv, Tensor } from 'qkv';
import { WIDTH, type NumberSet } from '../domain/number_sets';
import { maskOptions } from '../domain/mask';
import { columnsOf } from './layer_weights';
import { D_K, D_MODEL } from '../domain/sources';

export interface Layer {
  readonly mask: Mask;
  readonly temperature: number;
}

type Extras = Pick<
  AttentionOptions,
  'returnWeights' | 'returnLogits' | 'returnLse' | 'returnEntropy'
>;

/** The queries, keys and values of all tokens, as the products of a head read them: [T, width] each. */
export interface Projections {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  readonly width: number;
  /** Factor on q.k. */
  readonly scale: number;
}

/** One head over the tokens of the page. */
export interface Head {
  /** All its rows; [T, T] where requested. */
  all(layer: Layer, extras: Extras): AttentionExtras;
  /** One row, at the cost of one row. */
  row(index: number, layer: Layer, extras: Extras): AttentionExtras;
  /** What its scores and its output are made of. */
  projections(): Projections;
  dispose(): void;
}

/** The tokens in WebAssembly memory, and room for what a layer makes of them: [T, D_MODEL] each. */
export interface Inputs {
  readonly tensor: Tensor;
  readonly out: Tensor;
}

/** The projections of one head out of those of all. */
function weightsOf({ wq, wk, wv, bq }: Model, head: number) {
  const slice = (matrix: Float32Array) => ({
    data: columnsOf(matrix, D_MODEL, head),
    shape: [D_MODEL, D_K],
  });
  const bias = bq.slice(head * D_K, (head + 1) * D_K);
  return { wq: slice(wq), wk: slice(wk), wv: slice(wv), bq: bias };
}

/** A head of a model: a layer of its own, so that the other heads need not be computed with it. */
export class LayerHead implements Head {
  readonly #qkv: Qkv;
  readonly #weights: ReturnType<typeof weightsOf>;
  readonly #layer: MultiHeadAttention;
  readonly #x: () => Inputs;

  constructor(qkv: Qkv, model: Model, head: number, x: () => Inputs) {
    const from = head * D_K;
    const wo = model.wo.slice(from * D_MODEL, (from + D_K) * D_MODEL);
    this.#qkv = qkv;
    this.#weights = weightsOf(model, head);
    this.#layer = qkv.multiHeadAttention(
      { dModel: D_MODEL, numHeads: 1, dK: D_K },
      { ...this.#weights, wo: { data: wo, shape: [D_K, D_MODEL] } },
    );
    this.#x = x;
  }

  all({ mask, temperature }: Layer, extras: Extras): AttentionExtras {
    const { tensor, out } = this.#x();
    return this.#layer.forward(tensor, { ...maskOptions(mask), temperature, ...extras, out });
  }

  row(index: number, { mask, temperature }: Layer, extras: Extras): AttentionExtras {
    const { tensor } = this.#x();
    const data = tensor.view().slice(index * D_MODEL, (index + 1) * D_MODEL);
    const causal = mask === 'none' ? {} : { causalOffset: index };
    return this.#layer.forward(
      { data, shape: [1, D_MODEL] },
      { ...maskOptions(mask), ...causal, temperature, ...extras, context: tensor },
    );
  }

  projections(): Projections {
    const { tensor } = this.#x();
    const { wq, wk, wv, bq } = this.#weights;
    const [q, k, v] = [
      this.#qkv.linear(tensor, wq, { bias: bq }),
      this.#qkv.linear(tensor, wk),
      this.#qkv.linear(tensor, wv),
    ];
    return { q: q.data, k: k.data, v: v.data, width: D_K, scale: 1 / Math.sqrt(D_K) };
  }

  dispose(): void {
    this.#layer.dispose();
  }
}

/** A head whose queries and keys are given as they are. */
export class GivenHead implements Head {
  readonly #qkv: Qkv;
  readonly #set: NumberSet;

  constructor(qkv: Qkv, set: NumberSet) {
    this.#qkv = qkv;
    this.#set = set;
  }

  #array(rows: readonly number[]) {
    return { data: Float32Array.from(rows), shape: [rows.length / WIDTH, WIDTH] };
  }

  all({ mask, temperature }: Layer, extras: Extras): AttentionExtras {
    const { q, k, v } = this.#set;
    const options = { numHeads: 1, ...maskOptions(mask), temperature, ...extras };
    return this.#qkv.attention(this.#array(q), this.#array(k), this.#array(v), options);
  }

  row(index: number, { mask, temperature }: Layer, extras: Extras): AttentionExtras {
    const { q, k, v } = this.#set;
    const causal = mask === 'none' ? {} : { causalOffset: index };
    const options = { numHeads: 1, ...maskOptions(mask), ...causal, temperature, ...extras };
    const query = this.#array(q.slice(index * WIDTH, (index + 1) * WIDTH));
    return this.#qkv.attention(query, this.#array(k), this.#array(v), options);
  }

  projections(): Projections {
    const { q, k, v } = this.#set;
    const data = (rows: readonly number[]) => this.#array(rows).data;
    const scale = 1 / Math.sqrt(WIDTH);
    return { q: data(q), k: data(k), v: data(v), width: WIDTH, scale };
  }

  dispose(): void {}
}
