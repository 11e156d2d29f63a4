// What tokenizers of every kind do with a text before they cut it: the tokens before and after it, and the special texts in it.

import { type Parts, splitter, type Specials, withoutEscape } from './special.js';
import type { Tokenizer } from '../../api/model-types.js';

export interface Frame {
  /** What a text begins with. */
  readonly begin: number | undefined;
  /** What it ends with. */
  readonly end?: number | undefined;
  /** Tokens that are no text. */
  readonly isControl: (id: number) => boolean;
  /** Texts that are one token. */
  readonly specials: Specials;
}

/** Halves of surrogate pairs are no letters; as those have it whose texts are UTF-8. */
export const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** How such a tokenizer encodes, by the tokens of a part that is between special texts. */
export function framed(
  { begin, end, isControl, specials }: Frame,
  ids: (part: string) => Iterable<number>,
): Pick<Tokenizer, 'begin' | 'encode' | 'encodePlain' | 'encodeBare' | 'controls'> {
  const bare = (split: (text: string) => Parts, text: string, escape = ''): number[] => {
    const all: number[] = [];
    for (const part of split(wellFormed(text))) {
      if (typeof part === 'number') all.push(part);
      else for (const id of ids(withoutEscape(part, escape))) all.push(id);
    }
    return all;
  };
  const encoder =
    (split: (text: string) => Parts) =>
    (text: string): number[] => {
      const all = bare(split, text);
      if (begin !== undefined) all.unshift(begin);
      if (end !== undefined) all.push(end);
      return all;
    };
  const all = splitter(specials);
  const written = [...specials].filter(([, id]) => !isControl(id));
  return {
    begin,
    encode: encoder(all),
    encodePlain: encoder(splitter(new Map(written))),
    encodeBare: (text, escape) => bare(all, text, escape),
    controls: Array.from(specials.keys()).filter((text) => isControl(specials.get(text) ?? -1)),
  };
}
