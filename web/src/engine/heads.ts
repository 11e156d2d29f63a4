import type { Mask } from '../domain/choices';
import type { Model } from '../domain/model';
import type { AttentionExtras, AttentionOptions, MultiHeadAttention, Qkv, Tensor } from 'qkv';
import { WIDTH, type NumberSet } from '../domain/number_sets';
import { maskOptions } from '../domain/mask';
import { columnsOf } from './model';
import { D_K, D_MODEL } from '../domain/sources';

export interface Layer {
  readonly mask: Mask;
  readonly temperature: number;
}

type Extras = Pick<
  AttentionOptions,
  'returnWeights' | 'returnLogits' | 'returnLse' | 'returnEntropy'
>;

/** One head over the tokens of the page. */
export interface Head {
  /** All its rows; [T, T] where asked for. */
  all(layer: Layer, extras: Extras): AttentionExtras;
  /** One row, at the cost of one row. */
  row(index: number, layer: Layer, extras: Extras): AttentionExtras;
  dispose(): void;
}

/** The tokens in WebAssembly memory, and room for what a layer makes of them: [T, D_MODEL] each. */
export interface Inputs {
  readonly tensor: Tensor;
  readonly out: Tensor;
}

/** A head of a model: a layer of its own, so that the other heads need not be computed with it. */
export class LayerHead implements Head {
  readonly #layer: MultiHeadAttention;
  readonly #x: () => Inputs;

  constructor(qkv: Qkv, model: Model, head: number, x: () => Inputs) {
    const slice = (matrix: Float32Array) => ({
      data: columnsOf(matrix, D_MODEL, head),
      shape: [D_MODEL, D_K],
    });
    const from = head * D_K;
    this.#layer = qkv.multiHeadAttention(
      { dModel: D_MODEL, numHeads: 1, dK: D_K },
      {
        wq: slice(model.wq),
        wk: slice(model.wk),
        wv: slice(model.wv),
        wo: {
          data: model.wo.slice(from * D_MODEL, (from + D_K) * D_MODEL),
          shape: [D_K, D_MODEL],
        },
        bq: model.bq.slice(from, from + D_K),
      },
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

  dispose(): void {}
}
