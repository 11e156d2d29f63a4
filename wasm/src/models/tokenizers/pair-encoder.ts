// Two texts as one row of tokens.

import type { TokenPair, Tokenizer } from '../../api/model-types.js';
import type { PairPart } from './json/post-processors.js';

/** By a template and what gives the tokens of a text alone. */
export const pairEncoder =
  (
    template: readonly PairPart[],
    bare: (text: string) => readonly number[],
  ): NonNullable<Tokenizer['encodePair']> =>
  (first, second, most = Infinity): TokenPair => {
    const texts = { first: bare(first), second: bare(second) };
    const around = template.reduce(
      (sum, { part }) => sum + (typeof part === 'string' ? 0 : part.length),
      0,
    );
    const lengths = { first: texts.first.length, second: texts.second.length };
    // The longer one, and of equal ones the second, as "longest_first" of transformers.
    const room = Math.max(0, most - around);
    const surplus = lengths.first + lengths.second - room;
    for (let left = surplus; left > 0; left -= 1) {
      if (lengths.first > lengths.second) lengths.first -= 1;
      else lengths.second -= 1;
    }
    const ids: number[] = [];
    const types: number[] = [];
    for (const { part, type } of template) {
      const own = typeof part === 'string' ? texts[part].slice(0, lengths[part]) : part;
      for (const id of own) {
        ids.push(id);
        types.push(type);
      }
    }
    return { ids, types, isCut: surplus > 0 };
  };
