import card from '../../../../../models/words/card.json';
import { readWords, type WordTable } from '../shared/word_table';
import { wordFile } from './word_files';

export const CARD = card;

const hex = (bytes: ArrayBuffer) =>
  Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Whether these are the bytes of the card; a page without HTTPS has nothing to hash with, and knows their number alone. */
async function isOfCard(bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (bytes.length !== card.file.bytes) return false;
  const subtle = crypto.subtle as SubtleCrypto | undefined;
  return !subtle || hex(await subtle.digest('SHA-256', bytes)) === card.file.sha256;
}

async function read(): Promise<WordTable> {
  const bytes = new Uint8Array(await wordFile());
  if (!(await isOfCard(bytes))) {
    throw Object.assign(new Error('the vectors are not those of their card'), {
      code: 'other_file',
    });
  }
  return readWords(bytes);
}

let table: WordTable | null = null;
let reading: Promise<WordTable> | null = null;

/** The words, once they are there. */
export const knownWords = (): WordTable | null => table;

/** Fetches them, unless they are there or on their way. After a failure the next call tries again. */
export function fetchWords(): Promise<WordTable> {
  reading ??= read().then(
    (found) => (table = found),
    (error: unknown) => {
      reading = null;
      throw error;
    },
  );
  return reading;
}
