/** The lengths of FastText's n-grams of letters (Bojanowski et al. 2017). */
export const SHORTEST_NGRAM = 3;
export const LONGEST_NGRAM = 6;

/** The n-grams of a word between < and >, the short ones first: what FastText has of a word that it never met. */
export function ngramsOf(word: string): string[] {
  const letters = Array.from(`<${word}>`);
  const found: string[] = [];
  for (let length = SHORTEST_NGRAM; length <= LONGEST_NGRAM; length++) {
    for (let at = 0; at + length <= letters.length; at++) {
      found.push(letters.slice(at, at + length).join(''));
    }
  }
  return [...new Set(found)];
}

/** What the vector of a word is the sum of if FastText met it: its n-grams and, at the end, the whole word. */
export const piecesOf = (word: string): string[] => [...new Set([...ngramsOf(word), `<${word}>`])];

export interface Relative {
  readonly word: string;
  /** N-grams that both have / n-grams that one of them has. */
  readonly share: number;
  readonly common: readonly string[];
}

/** The words that share most n-grams with this one, by their spelling alone; those that share none are not among them. */
export function relativesOf(word: string, words: readonly string[], count: number): Relative[] {
  const own = new Set(ngramsOf(word));
  const short = [...own].filter((ngram) => ngram.length === SHORTEST_NGRAM);
  const found: Relative[] = [];
  for (const other of words) {
    const written = `<${other}>`;
    // What shares no short n-gram shares no long one.
    if (other === word || !short.some((ngram) => written.includes(ngram))) continue;
    const ngrams = ngramsOf(other);
    const common = ngrams.filter((ngram) => own.has(ngram));
    const share = common.length / (own.size + ngrams.length - common.length);
    const place = found.findIndex((relative) => relative.share < share);
    found.splice(place < 0 ? found.length : place, 0, { word: other, share, common });
    if (found.length > count) found.pop();
  }
  return found;
}
