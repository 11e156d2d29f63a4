/** Queries and keys of the map of a scheme. */
export const SPAN = 48;
export const BUCKETS = 32;
export const ALIBI_HEADS = 8;
/** The head of ALiBi that is drawn. */
export const ALIBI_HEAD = 2;

/** Heads whose biases of T5 are trained; in the second each step away makes a share so many times as large, the fourth begins there. */
export const T5_HEADS = 4;
export const NEAR = 0.7;
export const FAR = 16;
/** Steps of that training, and the length of its rows: long enough for a key in every bucket. */
export const [T5_STEPS, T5_LENGTH] = [120, 96];

/** What of the score of Transformer-XL is drawn: one of its four terms, the two that know the position, or all. */
export const XL_TERMS = ['a', 'b', 'c', 'd', 'position', 'score'] as const;
export type XlTerm = (typeof XL_TERMS)[number];
