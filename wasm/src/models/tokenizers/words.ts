// WordPiece (Schuster and Nakajima 2012), as BERT (Devlin et al. 2019) has it: a text is made plain and cut into words, and each word
// into the longest pieces there are, from its front to its end.

import { type Frame, framed } from './frame.js';
import type { Tokenizer } from '../../api/model-types.js';

interface Words extends Frame {
  /** Pieces by their ids; what begins a word has U+2581 before it. */
  readonly texts: readonly string[];
  /** Stands for a word that pieces cannot spell. */
  readonly unknown: number;
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
}

/** Longer words are unknown. */
const longestWord = 100;
const mark = '\u2581';

const controls = /[\0\ufffd]|(?![\t\n\r])\p{C}/gu;
/** Han, letter by letter; the ranges of BERT, with one as @huggingface/tokenizers and the models that it made have it. */
const han =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
const signs = /[!-/:-@[-`{-~]|\p{P}/gu;

/** The words of a text. */
function wordsOf(text: string, { lowercase, stripAccents }: Words): string[] {
  let plain = text.replace(controls, '').replace(han, ' $& ');
  if (stripAccents) plain = plain.normalize('NFD').replace(/\p{Mn}/gu, '');
  // Each letter by itself: a sigma is the same everywhere in a word.
  if (lowercase) plain = Array.from(plain, (letter) => letter.toLowerCase()).join('');
  return plain
    .replace(signs, ' $& ')
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== '');
}

/** The tokenizer of such pieces. What it decodes are words with one space between. */
export function wordsTokenizer(given: Words): Tokenizer {
  const { texts, unknown, isControl } = given;
  const ids = new Map<string, number>();
  texts.forEach((text, id) => {
    if (!isControl(id) && !ids.has(text)) ids.set(text, id);
  });
  const spell = (word: string): number[] => {
    const letters = Array.from(word);
    // The mark of a piece is a letter of none.
    if (letters.length > longestWord || word.includes(mark)) return [unknown];
    const found: number[] = [];
    for (let from = 0; from < letters.length;) {
      const before = from === 0 ? mark : '';
      let to = letters.length;
      const id = (): number | undefined => ids.get(before + letters.slice(from, to).join(''));
      while (to > from && id() === undefined) to -= 1;
      const piece = to > from ? id() : undefined;
      if (piece === undefined) return [unknown];
      found.push(piece);
      from = to;
    }
    return found;
  };
  return {
    ...framed(given, (part) => wordsOf(part, given).flatMap(spell)),
    decode: (list) =>
      Array.from(list, (id) => (isControl(id) ? '' : (texts[id] ?? '')))
        .join('')
        .replaceAll(mark, ' ')
        .replace(/^ /, ''),
  };
}
