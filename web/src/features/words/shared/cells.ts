/** What stands in the cells of the table of documents. */
export const CELLS = ['counts', 'tf', 'tfidf'] as const;
export type Cells = (typeof CELLS)[number];
