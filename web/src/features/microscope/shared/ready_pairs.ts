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
    clean: 'She was a good woman, and he was a good',
    corrupt: 'She was a good woman, and they were good',
  },
  austen: { clean: 'I am sure that you a', corrupt: 'I am sure that she a' },
  tang: { clean: '举头望明月，低头思故', corrupt: '举头望青山，低头思故' },
};

/** The pair at first: of the page's models their own, of files with a tokenizer English, else numbers of tokens. */
export function readyPair(name: ShippedName | null, hasTokenizer: boolean): Pair {
  if (name !== null) return READY[name];
  return hasTokenizer ? NAMES : { clean: '1 2 3 4 1 2 3', corrupt: '1 2 5 4 1 2 5' };
}
