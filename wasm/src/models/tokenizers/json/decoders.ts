// How tokenizer.json makes a text of pieces again.

import type { Fields } from '../../fields.js';
import { byteOfLetter, byteOfPiece, bytesOfText, textOfBytes } from '../byte-letters.js';
import { replacement } from '../text-stream.js';
import { patternOf } from './pattern.js';
import { chainOf, known, type Makers } from './parts.js';
import { prependOf } from './pre-tokenizers.js';

/** Texts of pieces that belong to what is decoded, one after the other. */
export type Decoder = (pieces: readonly string[]) => string[];

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

const makers: Makers<Decoder> = {
  ByteLevel(fields) {
    known(fields, 'add_prefix_space', 'trim_offsets', 'use_regex');
    return (pieces) => [textOfBytes(pieces.flatMap((piece) => [...bytesOf(piece)]))];
  },
  Metaspace(fields) {
    const hasFirst = prependOf(fields) !== 'never';
    const sign = fields.text('replacement', '\u2581');
    return each((piece, i) => piece.replaceAll(sign, () => (i === 0 && hasFirst ? '' : ' ')));
  },
  WordPiece(fields) {
    known(fields, 'prefix', 'cleanup');
    const prefix = fields.text('prefix', '##');
    const change = fields.flag('cleanup', true) ? tidy : (text: string) => text;
    return each((piece, i) => {
      const goesOn = i > 0 && piece.startsWith(prefix);
      return change(goesOn ? piece.slice(prefix.length) : i > 0 ? ` ${piece}` : piece);
    });
  },
  BPEDecoder(fields) {
    known(fields, 'suffix');
    const suffix = fields.text('suffix', '</w>');
    return each((piece, i, all) =>
      piece.replaceAll(suffix, () => (i === all.length - 1 ? '' : ' ')),
    );
  },
  ByteFallback(fields) {
    known(fields);
    return byteFallback;
  },
  Fuse(fields) {
    known(fields);
    return (pieces) => [pieces.join('')];
  },
  Strip(fields) {
    known(fields, 'content', 'start', 'stop');
    const letter = fields.text('content', ' ');
    const [most, mostAfter] = [fields.count('start', 0, 0), fields.count('stop', 0, 0)];
    return each((piece) => {
      const letters = Array.from(piece);
      let from = 0;
      let to = letters.length;
      while (from < most && letters[from] === letter) from += 1;
      while (letters.length - to < mostAfter && to > from && letters[to - 1] === letter) to -= 1;
      return letters.slice(from, to).join('');
    });
  },
  Replace(fields) {
    known(fields, 'pattern', 'content');
    const [pattern, content] = [patternOf(fields), fields.text('content')];
    return each((piece) => piece.replace(pattern, () => content));
  },
};

/** The text of pieces; without a decoder they have a space between. */
export function decoderOf(fields: Fields | undefined): (pieces: readonly string[]) => string {
  const chain = chainOf(fields, 'decoders', makers);
  if (chain.length === 0) return (pieces) => pieces.join(' ');
  return (pieces) =>
    chain.reduce<readonly string[]>((texts, decode) => decode(texts), pieces).join('');
}
