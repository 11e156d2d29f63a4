import { tokenize } from '../../../domain/tokenizer';
import type { Cells } from './cells';
import { cosine } from './similarity';

/** More documents than these are not counted. */
export const MOST_DOCUMENTS = 5;

/** Documents as bags of words: their order is forgotten. */
export interface Bags {
  readonly documents: readonly string[];
  /** How many documents the text has: the first MOST_DOCUMENTS of them are counted. */
  readonly found: number;
  /** Words of each document, with repetitions. */
  readonly lengths: readonly number[];
  /** In the order in which they come. */
  readonly vocabulary: readonly string[];
  /** [vocabulary][documents] */
  readonly counts: readonly (readonly number[])[];
  /** In how many documents each word is. */
  readonly documentFrequency: readonly number[];
  /** ln(documents / documents with the word) */
  readonly idf: readonly number[];
}

const HAS_LETTER = /[\p{L}\p{N}]/u;

/** The words of a text in small letters, without signs. */
export const wordsOf = (text: string): string[] =>
  tokenize(text.toLowerCase(), 'word', null).tokens.filter((token) => HAS_LETTER.test(token));

/** Each line of the text is a document. */
export function bagsOf(text: string): Bags {
  const all = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => wordsOf(line).length > 0);
  const documents = all.slice(0, MOST_DOCUMENTS);
  const words = documents.map(wordsOf);
  const vocabulary = [...new Set(words.flat())];
  const counts = vocabulary.map((word) =>
    words.map((list) => list.filter((other) => other === word).length),
  );
  const documentFrequency = counts.map((row) => row.filter((count) => count > 0).length);
  return {
    ...{ documents, found: all.length, vocabulary, counts },
    lengths: words.map(({ length }) => length),
    documentFrequency,
    idf: documentFrequency.map((frequency) => Math.log(documents.length / frequency)),
  };
}

/** One cell of the table: n, n / |d|, or n / |d| · ln(N / N_t). */
export function cellOf(bags: Bags, cells: Cells, word: number, document: number): number {
  const count = bags.counts[word]?.[document] ?? 0;
  if (cells === 'counts') return count;
  const frequency = count / (bags.lengths[document] ?? NaN);
  return cells === 'tf' ? frequency : frequency * (bags.idf[word] ?? NaN);
}

/** A document as a vector with a number for every word of the vocabulary. */
const vectorOf = (bags: Bags, cells: Cells, document: number) =>
  bags.vocabulary.map((_, word) => cellOf(bags, cells, word, document));

/** Cosines of all pairs of documents, [documents][documents]. */
export function likeness(bags: Bags, cells: Cells): number[][] {
  const vectors = bags.documents.map((_, document) => vectorOf(bags, cells, document));
  return vectors.map((a) => vectors.map((b) => cosine(a, b)));
}

/** The two different documents with the largest cosine; null: there are fewer than two. */
export function closestPair(
  cosines: readonly (readonly number[])[],
): { readonly pair: readonly [number, number]; readonly cosine: number } | null {
  let best: { pair: readonly [number, number]; cosine: number } | null = null;
  cosines.forEach((row, a) =>
    row.forEach((value, b) => {
      if (b > a && (best === null || value > best.cosine)) best = { pair: [a, b], cosine: value };
    }),
  );
  return best;
}

/** The chosen word; else the first that not every document has. */
export function termOf({ vocabulary, idf }: Bags, term: string): number {
  const chosen = vocabulary.indexOf(term);
  if (chosen >= 0) return chosen;
  return Math.max(
    0,
    idf.findIndex((value) => value > 0),
  );
}
