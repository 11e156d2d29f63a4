/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import type { Frame } from './engine/protocol';

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Significant digits as a person writes them: 0.0312500, 4.12×10⁻⁷. */
export function digits(value: number, significant = 6): string {
  if (value === 0) return '0';
  if (!Number.isFinite(value)) return String(value).replace('Infinity', '∞').replace('-', '−');
  const size = Math.abs(value);
  const written =
    size < 1e-3 || size >= 10 ** significant
      ? value.toExponential(significant - 1)
      : value.toPrecision(significant);
  const [mantissa = '', exponent] = written.split('e');
  const base = mantissa.replace('-', '−');
  if (exponent === undefined) return base;
  const power = String(Math.abs(Number(exponent))).replace(/\d/g, (d) =>
    SUPERSCRIPTS.charAt(Number(d)),
  );
  return `${base}×10${exponent.startsWith('-') ? '⁻' : ''}${power}`;
}

export function duration(milliseconds: number): string {
  if (milliseconds >= 1) return `${milliseconds.toPrecision(3)} ms`;
  return `${Number((milliseconds * 1000).toPrecision(3))} µs`;
}

export function bytes(count: number): string {
  return count >= 2 ** 20
    ? `${(count / 2 ** 20).toFixed(1)} MiB`
    : `${Math.round(count / 2 ** 10)} KiB`;
}

/** Mean entropy of the rows of a head, and the mean of the largest each row could have, in nats. */
export function headEntropy(frame: Frame, head: number): { mean: number; most: number } {
  const count = frame.request.tokens.length;
  let [sum, most] = [0, 0];
  for (let row = 0; row < count; row++) {
    sum += frame.entropy[head * count + row]!;
    most += Math.log(allowedKeys(frame, row));
  }
  return { mean: sum / count, most: most / count };
}

/** How many keys a query may attend to. */
export function allowedKeys(frame: Frame, row: number): number {
  return frame.request.causal ? row + 1 : frame.request.tokens.length;
}

export function weightAt(frame: Frame, head: number, row: number, col: number): number {
  const count = frame.request.tokens.length;
  return frame.weights[(head * count + row) * count + col] ?? NaN;
}

/** Rank of a key among the allowed keys of its row, 1 for the largest; equal weights share a rank. */
export function rankInRow(frame: Frame, head: number, row: number, col: number): number {
  const weight = weightAt(frame, head, row, col);
  let rank = 1;
  for (let j = 0; j < allowedKeys(frame, row); j++) {
    if (weightAt(frame, head, row, j) > weight) rank++;
  }
  return rank;
}

export function rowSum(frame: Frame, head: number, row: number): number {
  let sum = 0;
  for (let j = 0; j < frame.request.tokens.length; j++) sum += weightAt(frame, head, row, j);
  return sum;
}

/** The column of the largest weight of a row that is smaller than `below`. */
export function largestBelow(frame: Frame, head: number, row: number, below = Infinity): number {
  let best = 0;
  let largest = -1;
  for (let j = 0; j < allowedKeys(frame, row); j++) {
    const weight = weightAt(frame, head, row, j);
    if (weight < below && weight > largest) [best, largest] = [j, weight];
  }
  return best;
}
