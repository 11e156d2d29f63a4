// The layer that the tables of bad input are about.
import { randomArray } from './arrays.js';

export const config = { dModel: 8, numHeads: 2, numKvHeads: 1, dContext: 6 };
export const weights = {
  wq: randomArray([8, 8], 1),
  wk: randomArray([6, 4], 2),
  wv: randomArray([6, 4], 3),
  wo: randomArray([8, 8], 4),
};
export const fusedConfig = { dModel: 8, numHeads: 2, numKvHeads: 1 };
export const fused = { wqkv: randomArray([8, 16], 5), wo: weights.wo };
export const x = randomArray([2, 3, 8], 6);
export const context = randomArray([2, 5, 6], 7);
