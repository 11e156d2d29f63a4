// Tokenizers by scored pieces, as SentencePiece's BPE (Kudo and Richardson 2018): of llama2.c, and of GGUF files of the kind
// 'llama'. A letter that is no piece is spelt in pieces for bytes.

import { byteOfPiece, bytesOfText, textOfBytes, wholeBytesOf } from './byte-letters.js';
import { type Frame, framed } from './frame.js';
import { merge } from './merge.js';
import { once } from './once.js';
import type { Tokenizer } from '../../api/model-types.js';

/** The pieces by their ids, with spaces as spaces, and what a text is given besides. */
interface Pieces extends Frame {
  readonly texts: () => readonly string[];
  readonly scores: ArrayLike<number>;
  /** Stands for a letter that is no piece where there are none for bytes. */
  readonly unknown: number;
  /** Stands before a text, put there by encode() or by a caller. */
  readonly bos: number | undefined;
  /** Whether a space goes before a text. */
  readonly addsSpace: boolean;
}

/** How the texts of pieces are spelt. */
class Speller {
  readonly #ids = new Map<string, number>();
  readonly #bytes = new Map<number, string>();

  constructor(private readonly pieces: Pieces) {
    for (const [id, text] of pieces.texts().entries()) {
      const byte = byteOfPiece(text);
      if (byte !== undefined) this.#bytes.set(byte, text);
      if (!this.#ids.has(text) && !pieces.isControl(id)) this.#ids.set(text, id);
    }
  }

  /** The pieces of a letter before any is merged; itself where not all of its bytes are pieces. */
  #spell(letter: string): string[] {
    if (this.#ids.has(letter)) return [letter];
    const bytes = Array.from(bytesOfText(letter), (byte) => this.#bytes.get(byte));
    return bytes.every((piece) => piece !== undefined) ? bytes : [letter];
  }

  ids(text: string): number[] {
    const { scores, unknown } = this.pieces;
    const letters = Array.from(text).flatMap((letter) => this.#spell(letter));
    const priorityOf = (left: string, right: string): number | undefined => {
      const id = this.#ids.get(left + right);
      return id === undefined ? undefined : scores[id];
    };
    return merge(letters, priorityOf).map((piece) => this.#ids.get(piece) ?? unknown);
  }
}

/** The tokenizer of such pieces. */
export function piecesTokenizer(pieces: Pieces): Tokenizer {
  const { begin, bos, addsSpace, isControl } = pieces;
  const spellerOf = once(() => new Speller(pieces));
  const before = addsSpace ? ' ' : '';
  return {
    // SentencePiece writes spaces so, and cannot tell them from this letter.
    ...framed(pieces, (part) => spellerOf().ids(before + part.replaceAll('\u2581', ' '))),
    decode(list) {
      const ids = Array.from(list);
      const texts = pieces.texts();
      const bytes: number[] = [];
      ids.forEach((id, i) => {
        const text = texts[id];
        if (text === undefined || isControl(id)) return;
        const byte = byteOfPiece(text);
        // The space that encode() put there.
        const isFirst = i === 0 ? begin === undefined : ids[i - 1] === bos;
        const isAdded = addsSpace && isFirst && text.startsWith(' ');
        const own = byte === undefined ? bytesOfText(isAdded ? text.slice(1) : text) : [byte];
        for (const each of own) bytes.push(each);
      });
      return textOfBytes(bytes);
    },
    bytesOf(id) {
      const text = isControl(id) ? undefined : pieces.texts()[id];
      const byte = text === undefined ? undefined : byteOfPiece(text);
      return byte === undefined ? wholeBytesOf(text) : Uint8Array.of(byte);
    },
  };
}
