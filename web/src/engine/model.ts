import { hashText, uniform } from './random';

export const D_MODEL = 64;
export const NUM_HEADS = 4;
export const D_K = D_MODEL / NUM_HEADS;

/** The four weight matrices of the layer, each [D_MODEL, D_MODEL]. */
export interface Projections {
  readonly wq: Float32Array;
  readonly wk: Float32Array;
  readonly wv: Float32Array;
  readonly wo: Float32Array;
}

/** The row of the embedding table for a token: unit variance, so that positions (variance 1/2) do not drown it. */
export function embedToken(token: string, seed: number): Float32Array {
  return uniform(hashText(`token ${token}`, seed), D_MODEL, Math.sqrt(3));
}

/** Glorot's uniform initialisation, U(-b, b) with b = sqrt(6 / (in + out)). */
export function randomProjections(seed: number): Projections {
  const bound = Math.sqrt(6 / (D_MODEL + D_MODEL));
  const draw = (name: string) => uniform(hashText(`weight ${name}`, seed), D_MODEL ** 2, bound);
  return { wq: draw('wq'), wk: draw('wk'), wv: draw('wv'), wo: draw('wo') };
}
