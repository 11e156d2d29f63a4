// Byte-pair encoding of bytes, as GPT-2 (Radford et al. 2019): a text is cut into words, and the bytes of each, written as
// letters, are merged by the ranks of pairs.

import { merge } from './merge.js';
import { type Specials, splitter } from './special.js';
import type { Tokenizer } from './tokenizer.js';

interface Pairs {
  /** Tokens by their ids, bytes written as letters. */
  readonly texts: readonly string[];
  /** Pairs as "left right", in the order of their ranks. */
  readonly merges: readonly string[];
  /** What finds the words of a text, which together are all of it. */
  readonly cut: RegExp;
  /** Whether a word that is a token is that one, before any merge. */
  readonly wholeWords: boolean;
  /** What a text begins with. */
  readonly begin: number | undefined;
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

/** What a family does with a text, besides its pairs. */
interface Cut extends Pick<Pairs, 'cut' | 'wholeWords'> {
  /** Whether a text begins with a token of its own where the file does not say. */
  readonly addsBegin: boolean;
}

const plain = (cut: RegExp): Cut => ({ cut, wholeWords: false, addsBegin: false });
const llama3 = { cut: newer('\\p{N}{1,3}'), wholeWords: true, addsBegin: true };

/** By what GGUF calls them. */
export const cuts: ReadonlyMap<string, Cut> = new Map([
  ...['default', 'gpt-2'].map((name) => [name, plain(gpt2)] as const),
  ...['llama-bpe', 'llama3', 'llama-v3'].map((name) => [name, llama3] as const),
  ['qwen2', plain(newer('\\p{N}'))],
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
  wholeWords,
  begin,
  isControl,
  specials,
}: Pairs): Tokenizer {
  const ids = new Map<string, number>();
  texts.forEach((text, id) => {
    if (!isControl(id)) ids.set(text, id);
  });
  const ranks = new Map(merges.map((pair, rank) => [pair, -rank]));
  const split = splitter(specials);
  /** Written as they are, not as letters of bytes. */
  const asWritten = new Set(specials.values());
  const encoder = new TextEncoder();
  const encodeWord = (word: string): number[] => {
    const spelt = Array.from(encoder.encode(word), (byte) => letters[byte] ?? '');
    const whole = wholeWords ? ids.get(spelt.join('')) : undefined;
    if (whole !== undefined) return [whole];
    return merge(spelt, (left, right) => ranks.get(`${left} ${right}`)).flatMap(
      (text) => ids.get(text) ?? [],
    );
  };
  return {
    begin,
    encode(text) {
      const all = begin === undefined ? [] : [begin];
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
        .flatMap((id) =>
          Array.from(texts[id] ?? '').flatMap((letter) => {
            const byte = asWritten.has(id) ? undefined : bytesByLetter.get(letter);
            return byte ?? [...encoder.encode(letter)];
          }),
        );
      return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes));
    },
  };
}
