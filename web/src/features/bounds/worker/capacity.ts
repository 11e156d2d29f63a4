import type { Qkv } from 'qkv';
import { hashText, normals } from '../../../engine/random';
import { randomOf } from '../../../domain/random_ints';
import { LABELINGS, mostRows } from '../shared/capacity';
import { isSeparable } from './separable';

/** What a linear readout of H fixed heads fits. */
export interface Capacity {
  readonly heads: number;
  /** From one row on: the share of the labelings that were fitted, and of how many. */
  readonly points: readonly { readonly share: number; readonly tried: number }[];
}

/** Each row is a sequence of so many random tokens of this width. */
const [TOKENS, WIDTH] = [6, 8];

/** [rows, heads]: what every head answers on every row, by the core. A head has a query and a direction of values of its own. */
function answersOf(qkv: Qkv, rows: number, heads: number, seed: number): Float32Array {
  const drawn = (what: string, count: number) => {
    const data = new Float32Array(count);
    normals(hashText(what, seed))(data);
    return data;
  };
  const tokens = drawn('rows', rows * TOKENS * WIDTH);
  const queries = drawn('queries', heads * WIDTH);
  const directions = drawn('values', heads * WIDTH);
  const q = new Float32Array(rows * heads * WIDTH);
  const v = new Float32Array(rows * heads * TOKENS);
  for (let row = 0; row < rows; row++) {
    q.set(queries, row * heads * WIDTH);
    for (let head = 0; head < heads; head++) {
      for (let token = 0; token < TOKENS; token++) {
        const at = (row * TOKENS + token) * WIDTH;
        let sum = 0;
        for (let c = 0; c < WIDTH; c++) sum += tokens[at + c]! * directions[head * WIDTH + c]!;
        v[(row * heads + head) * TOKENS + token] = sum;
      }
    }
  }
  const k = new Float32Array(rows * heads * TOKENS * WIDTH);
  for (let row = 0; row < rows; row++) {
    const own = tokens.subarray(row * TOKENS * WIDTH, (row + 1) * TOKENS * WIDTH);
    for (let head = 0; head < heads; head++) k.set(own, (row * heads + head) * TOKENS * WIDTH);
  }
  return qkv.attention(
    { data: q, shape: [rows, heads, 1, WIDTH] },
    { data: k, shape: [rows, heads, TOKENS, WIDTH] },
    { data: v, shape: [rows, heads, TOKENS, 1] },
  ).output.data;
}

/** Labels +1 and -1: all of them where there are few, of which one of each pair is enough, or as many random ones. */
function labelingsOf(rows: number, seed: number): { labels: number[][]; tried: number } {
  const all = 2 ** rows <= LABELINGS;
  const dice = randomOf(hashText(`labels ${rows}`, seed));
  const labels = Array.from({ length: all ? 2 ** (rows - 1) : LABELINGS }, (_, bits) =>
    Array.from({ length: rows }, (_row, i) => ((all ? bits >> i : dice.below(2)) & 1 ? 1 : -1)),
  );
  return { labels, tried: all ? 2 ** rows : LABELINGS };
}

/** How many of the labelings of the first rows a threshold on w·h + b fits, for one row, two and so on. */
export function capacity(qkv: Qkv, heads: number, seed: number): Capacity {
  const most = mostRows(heads);
  const answers = answersOf(qkv, most, heads, seed);
  const inputs = Array.from({ length: most }, (_, row) =>
    Float64Array.from([...answers.subarray(row * heads, (row + 1) * heads), 1]),
  );
  const points = Array.from({ length: most }, (_, i) => {
    const { labels, tried } = labelingsOf(i + 1, seed);
    const fit = labels.filter((signs) =>
      isSeparable(signs.map((sign, row) => inputs[row]!.map((value) => sign * value))),
    );
    return { share: fit.length / labels.length, tried };
  });
  return { heads, points };
}
