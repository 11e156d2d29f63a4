// How tokenizer.json makes a text of pieces again.

import type { Fields } from '../../fields.js';
import {
  byteOfLetter,
  byteOfPiece,
  bytesOfText,
  textOfBytes,
  wholeBytesOf,
} from '../byte-letters.js';
import { replacement } from '../text-stream.js';
import { patternOf } from './pattern.js';
import { chainOf, known, type Makers } from './parts.js';
import { prependOf } from './pre-tokenizers.js';

/** Texts of pieces that belong to what is decoded, one after the other. */
export type Decoder = (pieces: readonly string[]) => string[];

/** What a piece is in the middle of a text: a text that later parts may change, or the bytes of UTF-8 that it ends as. */
type Middle = string | Uint8Array;

/** A part of a decoder. */
interface Part {
  readonly decode: Decoder;
  /** What it does to one piece in the middle of a text; undefined where that depends on the pieces around it. */
  readonly middle?: (text: string) => Middle;
  /** Whether later parts see all pieces as one, and whether they are bytes of letters by then, not letters. */
  readonly makes?: 'one' | 'bytes' | 'one of bytes';
  /** Whether of pieces that are one it changes the ends alone. */
  readonly isOfEnds?: boolean;
  /** Whether it finds one letter after the other, so that it is the same for pieces as for all of them as one. */
  readonly isByLetter?: boolean;
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of a piece that is written in letters of bytes; those of its UTF-8 where one is none. */
function bytesOf(piece: string): Iterable<number> {
  const bytes = Array.from(piece, byteOfLetter);
  return bytes.every((byte) => byte !== undefined) ? bytes : bytesOfText(piece);
}

/** The text of bytes; one sign for each where they are none. */
function textOrSigns(bytes: readonly number[]): string {
  try {
    return strict.decode(Uint8Array.from(bytes));
  } catch {
    return replacement.repeat(bytes.length);
  }
}

/** Pieces of bytes in a row as one text. */
function byteFallback(pieces: readonly string[]): string[] {
  const texts: string[] = [];
  let bytes: number[] = [];
  for (const piece of [...pieces, '']) {
    const byte = byteOfPiece(piece);
    if (byte === undefined) {
      texts.push(textOrSigns(bytes), piece);
      bytes = [];
    } else bytes.push(byte);
  }
  return texts.filter((text) => text !== '');
}

/** What English texts have without a space before it, as BERT's decoder writes it. */
const tidied: readonly (readonly [from: string, to: string])[] = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];
const tidy = (text: string): string =>
  tidied.reduce((tidier, [from, to]) => tidier.replaceAll(from, () => to), text);

const each =
  (change: (piece: string, i: number, all: readonly string[]) => string): Decoder =>
  (pieces) =>
    pieces.map(change);

const makers: Makers<Part> = {
  ByteLevel(fields) {
    known(fields, 'add_prefix_space', 'trim_offsets', 'use_regex');
    return {
      decode: (pieces) => [textOfBytes(pieces.flatMap((piece) => [...bytesOf(piece)]))],
      middle: (piece) => Uint8Array.from(bytesOf(piece)),
      makes: 'one of bytes',
    };
  },
  Metaspace(fields) {
    const hasFirst = prependOf(fields) !== 'never';
    const sign = fields.text('replacement', '\u2581');
    return {
      decode: each((piece, i) => piece.replaceAll(sign, () => (i === 0 && hasFirst ? '' : ' '))),
      middle: (piece) => piece.replaceAll(sign, ' '),
    };
  },
  WordPiece(fields) {
    known(fields, 'prefix', 'cleanup');
    const prefix = fields.text('prefix', '##');
    const change = fields.flag('cleanup', true) ? tidy : (text: string) => text;
    const decode = each((piece, i) => {
      const goesOn = i > 0 && piece.startsWith(prefix);
      return change(goesOn ? piece.slice(prefix.length) : i > 0 ? ` ${piece}` : piece);
    });
    return { decode };
  },
  BPEDecoder(fields) {
    known(fields, 'suffix');
    const suffix = fields.text('suffix', '</w>');
    // The last word has no space after it, and no piece knows whether it is the last.
    const decode = each((piece, i, all) =>
      piece.replaceAll(suffix, () => (i === all.length - 1 ? '' : ' ')),
    );
    return { decode };
  },
  ByteFallback(fields) {
    known(fields);
    return {
      decode: byteFallback,
      middle(piece) {
        const byte = byteOfPiece(piece);
        return byte === undefined ? piece : Uint8Array.of(byte);
      },
      makes: 'bytes',
    };
  },
  Fuse(fields) {
    known(fields);
    return {
      decode: (pieces) => [pieces.join('')],
      middle: (piece) => piece,
      makes: 'one',
    };
  },
  Strip(fields) {
    known(fields, 'content', 'start', 'stop');
    const letter = fields.text('content', ' ');
    const [most, mostAfter] = [fields.count('start', 0, 0), fields.count('stop', 0, 0)];
    const strip = (piece: string): string => {
      const letters = Array.from(piece);
      let from = 0;
      let to = letters.length;
      while (from < most && letters[from] === letter) from += 1;
      while (letters.length - to < mostAfter && to > from && letters[to - 1] === letter) to -= 1;
      return letters.slice(from, to).join('');
    };
    return { decode: each(strip), middle: strip, isOfEnds: true };
  },
  Replace(fields) {
    known(fields, 'pattern', 'content');
    const [pattern, content] = [patternOf(fields), fields.text('content')];
    const replace = (piece: string): string => piece.replace(pattern, () => content);
    const text = fields.part('pattern')?.get('String');
    return {
      ...{ decode: each(replace), middle: replace },
      isByLetter: typeof text === 'string' && Array.from(text).length === 1,
    };
  },
};

/** The bytes that a piece adds in the middle of a text; undefined where a part of the chain looks at more than the piece. */
function middleOf(chain: readonly Part[]): ((piece: string) => Uint8Array | undefined) | undefined {
  const steps: ((text: string) => Middle)[] = [];
  let [isOne, isBytes] = [false, false];
  for (const { middle, makes, isOfEnds, isByLetter } of chain) {
    if (!middle) return undefined;
    const changes = makes !== 'one' && !(isOne && isOfEnds);
    // Bytes of a letter may be in several pieces, and no later part finds it in one of them.
    if (changes && (isBytes || (isOne && !isByLetter))) return undefined;
    if (changes) steps.push(middle);
    isOne ||= makes === 'one' || makes === 'one of bytes';
    isBytes ||= makes === 'bytes' || makes === 'one of bytes';
  }
  return (piece) => {
    let text = piece;
    for (const step of steps) {
      const found = step(text);
      if (typeof found !== 'string') return found;
      text = found;
    }
    return wholeBytesOf(text);
  };
}

/** From pieces to a text. */
interface PieceDecoder {
  readonly decode: (pieces: readonly string[]) => string;
  /** The bytes that a piece adds in the middle of a text, where the decoder has such. */
  readonly bytesOf: ((piece: string) => Uint8Array | undefined) | undefined;
}

/** The text of pieces; without a decoder they have a space between. */
export function decoderOf(fields: Fields | undefined): PieceDecoder {
  const chain = chainOf(fields, 'decoders', makers);
  if (chain.length === 0) return { decode: (pieces) => pieces.join(' '), bytesOf: undefined };
  return {
    decode: (pieces) =>
      chain.reduce<readonly string[]>((texts, { decode }) => decode(texts), pieces).join(''),
    bytesOf: middleOf(chain),
  };
}
