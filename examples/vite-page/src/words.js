// Words as vectors, without a model: words that are written alike are near each other.
import { array } from 'qkv/worker';

/** The words of a text, in small letters. */
export const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The pairs of letters of a word, its two ends included: of "cat" they are " c", "ca", "at" and "t ". */
function pairsOf(word) {
  const letters = [' ', ...word, ' '];
  return new Set(letters.slice(1).map((letter, i) => letters[i] + letter));
}

/**
 * A vector for each word, [words, pairs], with a number for every pair of letters in the text. Vectors have length 1, so the product of two
 * of them is the cosine of their angle: 1 for equal words, 0 for words without a pair in common.
 */
export function vectorsOf(words) {
  const pairs = words.map(pairsOf);
  const all = [...new Set(pairs.flatMap((own) => [...own]))];
  return array(
    pairs.map((own) => all.map((pair) => (own.has(pair) ? 1 / Math.sqrt(own.size) : 0))),
  );
}
