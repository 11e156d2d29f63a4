import type { Mask } from './choices';
import { allowedKeys } from './mask';
import type { RowData } from './row_data';

/** The mean over all rows of the largest entropy that each can have, ln of the keys it may read, in nats; NaN of no rows. */
export function largestEntropy(mask: Mask, count: number): number {
  let most = 0;
  for (let row = 0; row < count; row++) {
    const [first, end] = allowedKeys(mask, row, count);
    most += Math.log(end - first);
  }
  return most / count;
}

/** Whether query `row` may read key `col`. */
export function isAllowed(mask: Mask, row: number, col: number, count: number): boolean {
  const [first, end] = allowedKeys(mask, row, count);
  return col >= first && col < end;
}

/** How many keys query `row` may read. */
export function allowedCount(mask: Mask, row: number, count: number): number {
  const [first, end] = allowedKeys(mask, row, count);
  return end - first;
}

/** Rank of a key among the keys of its row, 1 for the largest; equal weights share a rank. */
export function rankInRow({ weights }: RowData, col: number): number {
  const weight = weights[col]!;
  let rank = 1;
  for (const other of weights) if (other > weight) rank++;
  return rank;
}

/** Of the weights, added up in float64. */
export function rowSum({ weights }: RowData): number {
  let sum = 0;
  for (const weight of weights) sum += weight;
  return sum;
}

/**
 * The column after `col` when the keys that a row may read are in order of their weights: the largest first, equal ones from left to
 * right, and after the last the first again.
 */
export function nextLargest({ weights, scores }: Pick<RowData, 'weights' | 'scores'>, col: number) {
  const isBefore = (a: number, b: number) =>
    weights[a]! > weights[b]! || (weights[a] === weights[b] && a < b);
  let [first, next] = [-1, -1];
  weights.forEach((_, j) => {
    if (scores[j] === -Infinity) return; // masked
    if (first < 0 || isBefore(j, first)) first = j;
    if (isBefore(col, j) && (next < 0 || isBefore(j, next))) next = j;
  });
  return next < 0 ? Math.max(0, first) : next;
}
