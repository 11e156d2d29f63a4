/** Queries and keys of the map of a scheme. */
export const SPAN = 48;
export const BUCKETS = 32;
export const ALIBI_HEADS = 8;
/** The head of ALiBi that is drawn. */
export const ALIBI_HEAD = 2;
