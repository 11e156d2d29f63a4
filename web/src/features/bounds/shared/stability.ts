/** Norms of inputs and matrices, and the factor of the scores. */
export interface Norms {
  /** No input is longer. */
  readonly radius: number;
  /** Spectral norms of W_O, W_V, W_Q and W_K. */
  readonly output: number;
  readonly value: number;
  readonly query: number;
  readonly key: number;
  /** What q·k is multiplied by, c in the formulas: the inverse of a temperature. */
  readonly factor: number;
}

/** The numbers of rows of the curves. */
export const ROWS: readonly number[] = [2, 4, 8, 16, 32, 64, 128, 256];

/** No score is farther from 0: c R^2 M_q M_k. */
const largestScore = ({ radius, query, key, factor }: Norms) => factor * radius ** 2 * query * key;

/** R M_o M_v (2 + c sqrt(n) R^2 M_q M_k). */
export const beta = (norms: Norms, rows: number): number =>
  norms.radius * norms.output * norms.value * (2 + Math.sqrt(rows) * largestScore(norms));

/** 2 R M_o M_v: the output is a weighted mean, so it never leaves the ball of that radius. */
export const ball = ({ radius, output, value }: Norms): number => 2 * radius * output * value;

/**
 * The most that replacing one row can do: the rows that stay have scores of at least -a, so the row has at most the weight
 * 1 / (1 + (n - 1) exp(-2a)), before and after; and only that share of the mean is replaced.
 */
export const sharp = (norms: Norms, rows: number): number =>
  ball(norms) / (1 + (rows - 1) * Math.exp(-2 * largestScore(norms)));
