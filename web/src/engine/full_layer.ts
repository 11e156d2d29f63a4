import type { Model } from '../domain/model';
import type { MultiHeadAttention, Qkv } from 'qkv';
import { D_K, D_MODEL } from '../domain/sources';

/** All heads of a model as one layer, made anew when the model is another. */
export class FullLayer {
  readonly #qkv: Qkv;
  #made: { model: Model; layer: MultiHeadAttention } | undefined;

  constructor(qkv: Qkv) {
    this.#qkv = qkv;
  }

  of(model: Model): MultiHeadAttention {
    if (this.#made?.model === model) return this.#made.layer;
    const { numHeads, wq, wk, wv, wo, bq } = model;
    const inner = numHeads * D_K;
    const matrix = (data: Float32Array, rows: number) => ({
      data,
      shape: [rows, data.length / rows],
    });
    const layer = this.#qkv.multiHeadAttention(
      { dModel: D_MODEL, numHeads, dK: D_K },
      {
        wq: matrix(wq, D_MODEL),
        wk: matrix(wk, D_MODEL),
        wv: matrix(wv, D_MODEL),
        wo: matrix(wo, inner),
        bq,
      },
    );
    this.#made?.layer.dispose();
    this.#made = { model, layer };
    return layer;
  }
}
