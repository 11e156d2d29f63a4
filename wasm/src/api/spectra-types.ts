import type { ArrayInput, OwnedArray } from './array-types.js';
import type { EngineInfo, InitOptions } from './engine-types.js';
import type { Qkv } from './types.js';

/** Options of `init` of `qkv/spectra`, which has one build. */
export type SpectraInitOptions = Pick<InitOptions, 'wasm' | 'shared'>;

/** Options of {@link Spectra.effectiveRank} and {@link Spectra.eigenvalues}. */
export interface ProductOptions {
  /** Whether `right` is given as its transpose, [..., n, k], as W_K of W_Q W_K^T. Default false. */
  transposed?: boolean | undefined;
}

/** Options of {@link Spectra.singularValues}. */
export interface SingularValueOptions extends ProductOptions {
  /** Whether to return the singular vectors too. Default false. */
  vectors?: boolean | undefined;
}

/** A product of low rank taken apart: left diag(values) right^T. */
export interface SingularVectors {
  /** [..., r], largest first. */
  readonly values: OwnedArray;
  /** [..., m, r], columns of length 1, orthogonal to each other. */
  readonly left: OwnedArray;
  /** [..., n, r], likewise. */
  readonly right: OwnedArray;
}

/** Eigenvalues of products. */
export interface Eigenvalues {
  /** [..., r], by size |real + i imaginary|, largest first. */
  readonly real: OwnedArray;
  /** [..., r]; of two that are conjugate the positive one is first. */
  readonly imaginary: OwnedArray;
  /** [...], from -1 to 1: the sum of the eigenvalues by the sum of their sizes; 0 if all are 0. */
  readonly copying: OwnedArray;
}

/** Options of {@link Spectra.pca}. */
export interface PcaOptions {
  /** How many components: at most the smaller of rows and columns. Default 2, or as many as there are. */
  count?: number | undefined;
  /** Whether to return the places of the rows along the components. Default true. */
  projections?: boolean | undefined;
}

/** Principal components of d columns. */
export interface PrincipalComponents {
  /** [d] */
  readonly mean: OwnedArray;
  /** [count, d], rows of length 1, orthogonal to each other. */
  readonly components: OwnedArray;
  /** [count], largest first: sums of squares by n - 1. */
  readonly variances: OwnedArray;
  /** [count], parts of the variance of all columns, 0 to 1. */
  readonly shares: OwnedArray;
}

/** Principal components, and where the n rows are along them. */
export interface ProjectedComponents extends PrincipalComponents {
  /** [n, count], (x - mean) components^T. */
  readonly projections: OwnedArray;
}

/**
 * Spectra of weights and activations: one WebAssembly instance with operators of its own. Get it from `init` of `qkv/spectra`. It
 * computes in double precision on one thread and rounds each result once, with the same bits in every engine. Arrays are plain: a
 * tensor of an engine of `qkv` is in another memory, and its `toNdArray()` can be given.
 *
 * Once it is disposed, every function but `dispose()` throws a {@link QkvError} `disposed`; where memory runs out,
 * `out_of_memory`, and it stays usable.
 */
export interface Spectra {
  /** Build information. */
  readonly info: EngineInfo;

  /**
   * Singular values of left right, [..., m, k] and [..., k, n] -> [..., r] with r = min(m, k, n), without forming the product: with
   * left = Q1 R1 and right^T = Q2 R2 they are those of R1 R2^T. Of a head, W_Q W_K^T (`transposed`) and W_V W_O are such
   * products (Elhage et al. 2021).
   *
   * With `vectors: true` the result has `values`, and `left` and `right` for which left diag(values) right^T is the product. The element
   * of largest size of each column of `left` is positive. A number that is not finite gives NaN for its matrix.
   * |error| <= 2^-24 value + 64 k 2^-53 |left|_F |right|_F of a value.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  singularValues(
    left: ArrayInput,
    right: ArrayInput,
    options: SingularValueOptions & { vectors: true },
  ): SingularVectors;
  /** The same without the vectors. */
  singularValues(
    left: ArrayInput,
    right: ArrayInput,
    options?: SingularValueOptions & { vectors?: false | undefined },
  ): OwnedArray;

  /**
   * Effective rank (Roy & Vetterli 2007) of left right, [..., m, k] and [..., k, n] -> [...]: exp of the entropy of the singular
   * values divided by their sum. n for n equal ones, 1 for one alone, 0 when all are 0; never above the rank. Of a head it says
   * how many directions W_V W_O writes, or, with `transposed`, W_Q W_K^T compares; the product is not formed.
   *
   * A number that is not finite gives NaN for its matrix. With S the sum of the singular values and
   * t = 128 k^2 2^-53 |left|_F |right|_F / S at most 1/2,
   * |error| <= (2^-24 + exp(t ln(k / t) + (k + 8) 2^-48) - 1) out.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  effectiveRank(left: ArrayInput, right: ArrayInput, options?: ProductOptions): OwnedArray;

  /**
   * Eigenvalues of left right, [..., m, k] and [..., k, m]: the r = min(m, k) that may differ from 0, as [..., r]. For k < m they are
   * those of right left, which is k x k.
   *
   * With left = W_E W_V and right = W_O W_U they are those of the map of a head from the token that it reads to the logits: where they
   * are positive, the head makes likelier what it reads, and `copying` is near 1 (Elhage et al. 2021).
   *
   * A number that is not finite gives NaN for its matrix. The results are the exact eigenvalues, each rounded once, of a matrix that
   * differs from the smaller product by at most (m + 64 k) 2^-53 |left|_F |right|_F.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_memory`, `disposed`
   */
  eigenvalues(left: ArrayInput, right: ArrayInput, options?: ProductOptions): Eigenvalues;

  /**
   * Principal components of the rows of x [n, d] (Pearson 1901): the orthogonal directions along which they vary most, as
   * eigenvectors of the smaller of X^T X and X X^T for centred rows X.
   *
   * The element of largest size of each component is positive. A component whose variance is that of rounding alone, at most
   * 4 max(n, d) 2^-52 of the first, is 0. A number that is not finite gives NaN in all results but the means of other columns. With V
   * the variance of all columns together, |error| <= 2^-24 variance + 16 (n + d) 2^-53 V of a variance.
   * @throws {@link QkvError} `invalid_argument`, `shape_mismatch`, `out_of_range` (`count`), `out_of_memory`, `disposed`
   */
  pca(
    x: ArrayInput,
    options?: PcaOptions & { projections?: true | undefined },
  ): ProjectedComponents;
  /** The same without the places of the rows. */
  pca(x: ArrayInput, options: PcaOptions & { projections: false }): PrincipalComponents;

  /**
   * Memory statistics, as an engine of `qkv` has them; `handles` is 0.
   * @throws {@link QkvError} `disposed`
   */
  memory(): ReturnType<Qkv['memory']>;

  /** Disposes it. Those of other calls of `init` go on; the last of those that share an instance drops it. Calling it again does nothing. */
  dispose(): void;
  /** `dispose()`, for `using`. */
  [Symbol.dispose](): void;
}
