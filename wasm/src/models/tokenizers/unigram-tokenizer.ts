// Tokenizers of GGUF files of the kind 't5': SentencePiece's unigram model, with its rules for letters.

import type { Tokenizer } from '../../api/model-types.js';
import { bytesOfText, textOfBytes, wholeBytesOf } from './byte-letters.js';
import type { CharMap } from './char-map.js';
import { type Frame, framed } from './frame.js';
import { once } from './once.js';
import { type Unigram, unigram } from './unigram.js';

interface UnigramPieces extends Frame, Unigram {
  readonly texts: () => readonly string[];
  readonly unknown: number;
  readonly map: CharMap | undefined;
  readonly addsSpace: boolean;
  /** Whether spaces in a row are one, and those around a text none. */
  readonly mergesSpaces: boolean;
}

const mark = '\u2581';

/** The text with the longest prefix that the rules have replaced, from its front to its end. */
function replaced(text: string, map: CharMap): string {
  const bytes = bytesOfText(text);
  let all = '';
  let from = 0;
  for (let at = 0; at < bytes.length;) {
    const found = map.prefixes(bytes, at).pop();
    if (found) {
      all += textOfBytes(bytes.subarray(from, at)) + found.text;
      from = at + found.length;
    }
    // To the next letter.
    at += found?.length ?? 1;
    while (!found && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  }
  return all + textOfBytes(bytes.subarray(from));
}

/** The text with spaces as pieces have them. */
function marked(text: string, { mergesSpaces, addsSpace }: UnigramPieces): string {
  if (mergesSpaces) {
    const words = text.split(' ').filter((word) => word !== '');
    return words.map((word) => mark + word).join('');
  }
  // Before the first letter, after the spaces that are there.
  const begun = addsSpace ? text.replace(/^ *(?=[^ ])/, `$& `) : text;
  return begun.replaceAll(' ', mark);
}

/** The tokenizer of such pieces. */
export function unigramTokenizer(given: UnigramPieces): Tokenizer {
  const { texts, isControl, unknown, map, addsSpace, begin } = given;
  const cutOf = once(() => unigram(given));
  return {
    ...framed(given, (part) =>
      cutOf()(marked(map ? replaced(part, map) : part, given)).map(({ id }) => id ?? unknown),
    ),
    decode(list) {
      const ids = Array.from(list);
      const text = ids.map((id) => (isControl(id) ? '' : (texts()[id] ?? ''))).join('');
      const isFirst = begin === undefined || ids[0] === begin;
      const spaced = text.replaceAll(mark, ' ');
      return addsSpace && isFirst ? spaced.replace(/^ /, '') : spaced;
    },
    bytesOf: (id) => (isControl(id) ? undefined : wholeBytesOf(texts()[id]?.replaceAll(mark, ' '))),
  };
}
