import type { ShippedName } from '../../model/shared/shipped_models';

/** Two prompts that a model continues otherwise, of equally many tokens. */
export interface Pair {
  readonly clean: string;
  readonly corrupt: string;
}

const NAMES: Pair = {
  clean: 'When Mary and John went to the shop, John gave a book to',
  corrupt: 'When Mary and John went to the shop, Mary gave a book to',
};

const READY: Readonly<Record<ShippedName, Pair>> = {
  names: NAMES,
  novels: {
    clean: 'She knew Miss Fitzwarren, and nobody else knew Miss Fitz',
    corrupt: 'She knew Miss Fitzsimmons, and nobody else knew Miss Fitz',
  },
  austen: { clean: 'I am sure that you a', corrupt: 'I am sure that she a' },
  tang: { clean: '明月照高', corrupt: '青山照高' },
};

/** The pair at first: of the page's models their own, of files with a tokenizer English, else numbers of tokens. */
export function readyPair(name: ShippedName | null, hasTokenizer: boolean): Pair {
  if (name !== null) return READY[name];
  return hasTokenizer ? NAMES : { clean: '1 2 3 4 1 2 3', corrupt: '1 2 5 4 1 2 5' };
}
