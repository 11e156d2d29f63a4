import type { Positions } from '../domain/choices';
import type { Model } from '../domain/model';
import type { Qkv } from 'qkv';
import { constructedModel } from './constructed';
import { hashText, uniform } from './random';
import { D_K, D_MODEL, RANDOM_HEADS } from '../domain/sources';

/**
 * Embeddings of unit variance, so that positions (variance 1/2) do not drown them, and projections by
 * Glorot's rule, U(-b, b) with b = sqrt(6 / (in + out)).
 */
function randomModel(seed: number): Model {
  const bound = Math.sqrt(6 / (D_MODEL + D_MODEL));
  const draw = (name: string) => uniform(hashText(`weight ${name}`, seed), D_MODEL ** 2, bound);
  return {
    numHeads: RANDOM_HEADS,
    wq: draw('wq'),
    wk: draw('wk'),
    wv: draw('wv'),
    bq: new Float32Array(RANDOM_HEADS * D_K),
    wo: draw('wo'),
    positionWidth: D_MODEL,
    embed: (token) => uniform(hashText(`token ${token}`, seed), D_MODEL, Math.sqrt(3)),
  };
}

/** The sources whose layer the page makes itself. */
export type Built = 'constructed' | 'random';

export function modelOf(qkv: Qkv, source: Built, seed: number): Model {
  return source === 'random' ? randomModel(seed) : constructedModel(qkv);
}

/** The columns of one head out of a matrix [rows, numHeads * D_K]. */
export function columnsOf(matrix: Float32Array, rows: number, head: number): Float32Array {
  const width = matrix.length / rows;
  const columns = new Float32Array(rows * D_K);
  for (let row = 0; row < rows; row++) {
    const from = row * width + head * D_K;
    columns.set(matrix.subarray(from, from + D_K), row * D_K);
  }
  return columns;
}

/** What the layer reads, [T, D_MODEL]: the embeddings, with the encoding of the positions added. */
export function layerInput(
  qkv: Qkv,
  model: Model,
  tokens: readonly string[],
  positions: Positions,
): Float32Array {
  const x = new Float32Array(tokens.length * D_MODEL);
  tokens.forEach((token, t) => x.set(model.embed(token), t * D_MODEL));
  if (positions === 'none') return x;
  const width = model.positionWidth;
  const encoding = qkv.sinusoidalEncoding(tokens.length, width).data;
  encoding.forEach((value, at) => {
    const row = Math.floor(at / width);
    x[row * D_MODEL + (at % width)]! += value;
  });
  return x;
}
