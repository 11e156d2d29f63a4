// Byte-pair encoding of bytes, as GPT-2 (Radford et al. 2019): a text is cut into words, and the bytes of each, written as
// letters, are merged by the ranks of pairs.

import { type Cut, wordsOf } from './cuts.js';
import { merge } from './merge.js';
import { once } from './once.js';
import { byteOfLetter, bytesOfText, lettersOfText, textOfBytes } from './byte-letters.js';
import { framed, type Frame } from './frame.js';
import type { Tokenizer } from '../../api/model-types.js';

interface Pairs extends Frame {
  /** Tokens by their ids, bytes written as letters. */
  readonly texts: () => readonly string[];
  /** Pairs as "left right", in the order of their ranks. */
  readonly merges: () => readonly string[];
  readonly cut: Cut;
}

/** The tokenizer of such pairs. A byte that is no token is left out. */
export function pairsTokenizer(pairs: Pairs): Tokenizer {
  const { texts, merges, cut, isControl, specials } = pairs;
  const tables = once(() => {
    const ids = new Map<string, number>();
    texts().forEach((text, id) => {
      if (!isControl(id)) ids.set(text, id);
    });
    const ranks = new Map<string, number>();
    merges().forEach((pair, rank) => ranks.set(pair, -rank));
    return { ids, ranks };
  });
  /** Written as they are, not as letters of bytes. */
  const asWritten = new Set(specials.values());
  const encodeWord = (word: string): number[] => {
    const { ids, ranks } = tables();
    const spelt = lettersOfText(word);
    const whole = cut.wholeWords ? ids.get(spelt.join('')) : undefined;
    if (whole !== undefined) return [whole];
    return merge(spelt, (left, right) => ranks.get(`${left} ${right}`)).flatMap(
      // Pairs of a file may make what is no token of it.
      (text) => ids.get(text) ?? Array.from(text).flatMap((letter) => ids.get(letter) ?? []),
    );
  };
  /** The bytes of a token, each letter one of them, or its UTF-8 where it is written as it is. */
  const bytesOfToken = (id: number): number[] =>
    Array.from(texts()[id] ?? '').flatMap((letter) => {
      const byte = asWritten.has(id) ? undefined : byteOfLetter(letter);
      return byte ?? [...bytesOfText(letter)];
    });
  return {
    ...framed(pairs, (part) => {
      const ids: number[] = [];
      for (const word of wordsOf(cut.composes ? part.normalize('NFC') : part, cut)) {
        for (const id of encodeWord(word)) ids.push(id);
      }
      return ids;
    }),
    decode: (list) =>
      textOfBytes(
        Array.from(list)
          .filter((id) => !isControl(id))
          .flatMap(bytesOfToken),
      ),
    bytesOf: (id) =>
      isControl(id) || texts()[id] === undefined ? undefined : Uint8Array.from(bytesOfToken(id)),
  };
}
