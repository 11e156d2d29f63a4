// Bytes written as letters, as GPT-2 (Radford et al. 2019) does, so that a token of any bytes is a text.

/** The letters of bytes: those of Latin-1 that can be seen, and for the others the letters from U+0100 on. */
const letters: readonly string[] = (() => {
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => {
    const isSeen = (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
    return String.fromCharCode(isSeen ? byte : next++);
  });
})();

/** The byte of a letter; undefined for others. */
const byLetter = new Map(letters.map((letter, byte) => [letter, byte]));
export const byteOfLetter = (letter: string): number | undefined => byLetter.get(letter);

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** The UTF-8 of a text. */
export const bytesOfText = (text: string): Uint8Array => encoder.encode(text);
/** The text of UTF-8, with U+FFFD for what is none. */
export const textOfBytes = (bytes: Iterable<number>): string =>
  decoder.decode(Uint8Array.from(bytes));

/** The UTF-8 of a text; undefined where it has half a surrogate pair, which has none. */
export const wholeBytesOf = (text: string | undefined): Uint8Array | undefined =>
  text === undefined || /\p{Surrogate}/u.test(text) ? undefined : encoder.encode(text);

/** The bytes of a text, each as its letter. */
export const lettersOfText = (text: string): string[] =>
  Array.from(encoder.encode(text), (byte) => letters[byte] ?? '');

/** The byte of a piece that stands for one, as `<0xE4>`. */
export const byteOfPiece = (piece: string): number | undefined => {
  const [, hex] = /^<0x([0-9A-F]{2})>$/.exec(piece) ?? [];
  return hex === undefined ? undefined : Number.parseInt(hex, 16);
};
/** The piece of a byte. */
export const pieceOfByte = (byte: number): string =>
  `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
