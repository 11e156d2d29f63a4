// Byte-pair encoding of bytes, as GPT-2 (Radford et al. 2019): a text is cut into words, and the bytes of each, written as
// letters, are merged by the ranks of pairs.

import { merge } from './merge.js';
import { type Specials, splitter } from './special.js';
import type { Tokenizer } from './tokenizer.js';

export interface Pairs {
  /** Tokens by their ids, bytes written as letters. */
  readonly texts: readonly string[];
  /** Pairs as "left right", in the order of their ranks. */
  readonly merges: readonly string[];
  /** What finds the words of a text, which together are all of it. */
  readonly cut: RegExp;
  readonly begin: number | undefined;
  readonly addsBegin: boolean;
  readonly isControl: (id: number) => boolean;
  readonly specials: Specials;
}

const gpt2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;
/** Llama 3 and Qwen 2, which differ in how many digits go together. */
const newer = (digits: string): RegExp =>
  new RegExp(
    "'(?:[sStTmMdD]|[rR][eE]|[vV][eE]|[lL][lL])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" +
      `${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
    'gu',
  );
/** By what GGUF calls them. */
export const cuts: ReadonlyMap<string, RegExp> = new Map([
  ...(['default', 'gpt-2'] as const).map((name) => [name, gpt2] as const),
  ...(['llama-bpe', 'llama3'] as const).map((name) => [name, newer('\\p{N}{1,3}')] as const),
  ['qwen2', newer('\\p{N}')],
]);

/** The letters of bytes: those of Latin-1 that can be seen, and for the others the letters from U+0100 on. */
const letters: readonly string[] = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isSeen = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(isSeen ? byte : next++);
  });
})();
const bytesByLetter = new Map(letters.map((letter, byte) => [letter, byte]));

/** The tokenizer of such pairs. A byte that is no token is left out. */
export function pairsTokenizer({
  texts,
  merges,
  cut,
  begin,
  addsBegin,
  isControl,
  specials,
}: Pairs): Tokenizer {
  const ids = new Map<string, number>();
  texts.forEach((text, id) => {
    if (!isControl(id)) ids.set(text, id);
  });
  const ranks = new Map(merges.map((pair, rank) => [pair, -rank]));
  const split = splitter(specials);
  const encoder = new TextEncoder();
  const encodeWord = (word: string): number[] => {
    const spelt = Array.from(encoder.encode(word), (byte) => letters[byte] ?? '');
    return merge(spelt, (left, right) => ranks.get(`${left} ${right}`)).flatMap(
      (text) => ids.get(text) ?? [],
    );
  };
  return {
    encode(text) {
      const all = addsBegin && begin !== undefined ? [begin] : [];
      for (const part of split(text)) {
        if (typeof part === 'number') all.push(part);
        else
          for (const word of part.match(cut) ?? []) for (const id of encodeWord(word)) all.push(id);
      }
      return all;
    },
    decode(list) {
      const bytes = list
        .filter((id) => !isControl(id))
        .flatMap((id) => Array.from(texts[id] ?? ''))
        .flatMap((letter) => bytesByLetter.get(letter) ?? [...encoder.encode(letter)]);
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
    },
  };
}
