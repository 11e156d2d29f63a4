/** Up to this many tokens all weights of a head go to the page. */
export const MAX_MATRIX = 64;

/** The temperatures that can be set. */
export const TEMPERATURES = [0.05, 20] as const;

/** What the panel about temperature studies: random scores, or the row of the query. */
export const LAB_SCORES = ['random', 'row'] as const;
export type LabScores = (typeof LAB_SCORES)[number];
/** How many random scores, the width of their query and keys, and the variance of each component. */
export const LAB = { keys: 256, width: 64, variance: 0.5 } as const;

/** The widths d of queries and keys that are tried against each other. */
export const WIDTHS = [4, 8, 16, 32, 64, 128, 256, 512, 1024] as const;
/** Keys of each query, and queries of each width. */
export const KEYS = 64;
export const ROWS = 64;
/** Bins of their histogram, over so many standard deviations to either side. */
export const BINS = 32;
export const REACH = 4;
