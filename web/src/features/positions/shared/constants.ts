/** Queries and keys of the map of a scheme. */
export const SPAN = 48;
/** Buckets of distances of T5, half of them for keys after the query. */
export const BUCKETS = 32;
export const ALIBI_HEADS = 8;
/** The head of ALiBi that is drawn, from 0. */
export const ALIBI_HEAD = 2;

/** Heads whose biases of T5 are trained. */
export const T5_HEADS = 4;
/** What each step away multiplies the share of a key by, in the task of the second head. */
export const NEAR = 0.7;
/** The distance from which on keys count, in the task of the fourth head. */
export const FAR = 16;
/** Steps of that training, and the length of its rows: long enough for a key in every bucket. */
export const [T5_STEPS, T5_LENGTH] = [120, 96];

/** What of the score of Transformer-XL is drawn: one of its four terms, the two that know the position, or all. */
export const XL_TERMS = ['a', 'b', 'c', 'd', 'position', 'score'] as const;
export type XlTerm = (typeof XL_TERMS)[number];
