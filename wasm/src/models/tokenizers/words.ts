// WordPiece (Schuster and Nakajima 2012), as BERT (Devlin et al. 2019) has it: a text is made plain and cut into words, and each word
// into the longest pieces there are, from its front to its end.

import { type Frame, framed } from './frame.js';
import { once } from './once.js';
import type { Tokenizer } from '../../api/model-types.js';

interface Words extends Frame {
  /** Pieces by their ids; what begins a word has U+2581 before it. */
  readonly texts: () => readonly string[];
  /** Stands for a word that pieces cannot spell. */
  readonly unknown: number;
  readonly lowercase: boolean;
  readonly stripAccents: boolean;
}

/** Longer words are unknown. */
const longestWord = 100;
const mark = '\u2581';

/** Not those that nobody has given a meaning: as Hugging Face's tokenizers have it. */
const controls = /[\0\ufffd]|(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}]/gu;
/** Han, letter by letter; the ranges of BERT, with one as @huggingface/tokenizers and the models that it made have it. */
const han =
  /[\u4e00-\u9fff\u3400-\u4dbf\u{20000}-\u{2a6df}\u{2a700}-\u{2b73f}\u{2b740}-\u{2b81f}\u{2b920}-\u{2ceaf}\uf900-\ufaff\u{2f800}-\u{2fa1f}]/gu;
/** Signs as BERT has them: those of ASCII that are no letter, digit or control, and the punctuation of Unicode. */
export const signs = /[!-/:-@[-`{-~]|\p{P}/gu;

/** What BERT does with a text before it cuts it. */
interface PlainOptions {
  readonly cleans: boolean;
  /** Whether letters of Han are words of their own. */
  readonly partsHan: boolean;
  readonly stripsAccents: boolean;
  readonly lowercase: boolean;
}

/** Each letter by itself: a sigma is the same everywhere in a word. */
export const lowered = (text: string): string =>
  Array.from(text, (letter) => letter.toLowerCase()).join('');

export function plainText(text: string, options: PlainOptions): string {
  let plain = text;
  if (options.cleans) plain = plain.replace(controls, '').replace(/\p{White_Space}/gu, ' ');
  if (options.partsHan) plain = plain.replace(han, ' $& ');
  if (options.stripsAccents) plain = plain.normalize('NFD').replace(/\p{Mn}/gu, '');
  return options.lowercase ? lowered(plain) : plain;
}

/** The words of a text that is plain: what lies between spaces, and each sign. */
const plainWords = (text: string): string[] =>
  text
    .replace(signs, ' $& ')
    .split(/\p{White_Space}+/u)
    .filter((word) => word !== '');

interface Spelling {
  /** The token of a piece that begins a word, or goes on in it. */
  readonly idOf: (piece: string, begins: boolean) => number | undefined;
  /** Stands for a word that pieces cannot spell. */
  readonly unknown: number;
  /** Letters of a word; longer ones are unknown. */
  readonly longest: number;
}

/** The longest pieces of a word, from its front to its end. */
export function spellWord(word: string, { idOf, unknown, longest }: Spelling): number[] {
  const letters = Array.from(word);
  if (letters.length > longest) return [unknown];
  const found: number[] = [];
  for (let from = 0; from < letters.length;) {
    let to = letters.length;
    let id: number | undefined;
    while (to > from) {
      id = idOf(letters.slice(from, to).join(''), from === 0);
      if (id !== undefined) break;
      to -= 1;
    }
    if (id === undefined) return [unknown];
    found.push(id);
    from = to;
  }
  return found;
}

/** The tokenizer of such pieces. What it decodes are words with one space between. */
export function wordsTokenizer(given: Words): Tokenizer {
  const { texts, unknown, isControl, lowercase, stripAccents: stripsAccents } = given;
  const idsOf = once(() => {
    const ids = new Map<string, number>();
    texts().forEach((text, id) => {
      if (!isControl(id) && !ids.has(text)) ids.set(text, id);
    });
    return ids;
  });
  const idOf = (piece: string, begins: boolean): number | undefined =>
    idsOf().get(begins ? mark + piece : piece);
  // The mark of a piece is a letter of none.
  const spell = (word: string): number[] =>
    word.includes(mark) ? [unknown] : spellWord(word, { idOf, unknown, longest: longestWord });
  const options = { ...{ cleans: true, partsHan: true, lowercase }, stripsAccents };
  return {
    ...framed(given, (part) => plainWords(plainText(part, options)).flatMap(spell)),
    decode: (list) =>
      Array.from(list, (id) => (isControl(id) ? '' : (texts()[id] ?? '')))
        .join('')
        .replaceAll(mark, ' ')
        .replace(/^ /, ''),
  };
}
