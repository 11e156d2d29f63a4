import type { Limits } from '../../../state/field';

/** The widths d of queries and keys that are tried against each other. */
export const WIDTHS: readonly number[] = [4, 8, 16, 32, 64, 128, 256, 512, 1024];
/** The narrowest and the widest. */
export const RANGE: Limits = [Math.min(...WIDTHS), Math.max(...WIDTHS)];
/** Keys of each query, and queries of each width. */
export const KEYS = 64;
export const ROWS = 64;
/** Bins of their histogram, over so many standard deviations to either side. */
export const BINS = 32;
export const REACH = 4;
