/** Tokens and width of the random queries, keys and values. */
export const [TOKENS, WIDTH] = [64, 16];
/** The factors of the scores of the curves. */
export const SHARPNESS: readonly number[] = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6, 8];
/** The ways to attend that are compared. */
export const WAYS = ['softmax', 'window', 'linear'] as const;
export type Way = (typeof WAYS)[number];
