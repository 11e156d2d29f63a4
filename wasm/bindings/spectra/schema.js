// @ts-check
// The operators of `qkv/spectra`, written as ../schema.js says: its module has these and no others.

/** What the header of the arguments reads besides. */
export const headers = ['qkv/spectra.hpp'];

export const groups = /** @type {const} */ ({});

/** One record for each operator. Factors of products are stacks of matrices; `transposed` is about the right one. */
export const operators = /** @type {const} */ ({
  singularValues: {
    fields: {
      left: 'floats',
      right: 'floats',
      transposed: 'flag',
      values: 'results',
      leftVectors: 'results',
      rightVectors: 'results',
    },
  },
  effectiveRank: {
    fields: { left: 'floats', right: 'floats', transposed: 'flag', out: 'results' },
  },
  eigenvalues: {
    fields: {
      left: 'floats',
      right: 'floats',
      transposed: 'flag',
      real: 'results',
      imaginary: 'results',
      copying: 'results',
    },
  },
  pca: {
    fields: {
      x: 'floats',
      count: 'whole',
      mean: 'results',
      components: 'results',
      variances: 'results',
      shares: 'results',
      projections: 'results',
    },
  },
});
