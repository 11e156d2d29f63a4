// Texts one after the other, each a length of 64 bits and so many bytes of UTF-8. A vocabulary has half a million, and to decode each by
// itself takes most of the time of a header: here all that have come are decoded at once, and cut.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** Texts, and how many bytes they and their lengths take. */
export interface Texts {
  readonly texts: string[];
  readonly bytes: number;
}

/** Where so many texts begin and end in the bytes that are there; fewer where not all of them have come. */
function placesOf(bytes: Uint8Array, most: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const places: number[] = [];
  for (let at = 0; places.length < 2 * most && at + 8 <= bytes.length;) {
    const end = at + 8 + view.getUint32(at, true) + 2 ** 32 * view.getUint32(at + 4, true);
    if (end > bytes.length) break;
    places.push(at + 8, end);
    at = end;
  }
  return places;
}

/** The texts at these places: undefined where one of them is no UTF-8, so that it cannot be said where its letters end. */
function decodedAtOnce(bytes: Uint8Array, places: readonly number[]): string[] | undefined {
  const packed = new Uint8Array(bytes.length);
  /** Where each text ends in the string of all of them, in UTF-16. */
  const ends: number[] = [];
  let length = 0;
  let units = 0;
  for (let i = 0; i < places.length; i += 2) {
    const [from = 0, to = 0] = [places[i], places[i + 1]];
    // With the bytes of one text a letter of the text before it could go on.
    if (to > from && ((bytes[from] ?? 0) & 0xc0) === 0x80) return undefined;
    for (let at = from; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      packed[length++] = byte;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    ends.push(units);
  }
  try {
    const all = strict.decode(packed.subarray(0, length));
    return ends.map((end, i) => all.slice(ends[i - 1] ?? 0, end));
  } catch {
    return undefined;
  }
}

/** As many of `most` texts as have come. */
export function textsThere(bytes: Uint8Array, most: number): Texts {
  const places = placesOf(bytes, most);
  const each = (): string[] =>
    Array.from({ length: places.length / 2 }, (_, i) =>
      lenient.decode(bytes.subarray(places[2 * i], places[2 * i + 1])),
    );
  return { texts: decodedAtOnce(bytes, places) ?? each(), bytes: places[places.length - 1] ?? 0 };
}
