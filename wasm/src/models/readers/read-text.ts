// Small files of text.

import { throwIfAborted } from '../../arguments/signal.js';
import { refuse } from '../errors.js';
import type { ByteSource } from '../sources/source.js';

/** Most letters of such a file: units of UTF-16. */
const most = 2 ** 26;

/** What `make` makes of a text in UTF-8, which messages call `kind`. */
async function read<T>(
  source: ByteSource,
  kind: string,
  make: (text: string) => T,
  signal?: AbortSignal,
): Promise<T> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const piece of source.read(0, Infinity, signal)) {
      text += decoder.decode(piece, { stream: true });
      if (text.length > most) break;
    }
    if (text.length <= most) {
      const made = make(text + decoder.decode());
      await source.check?.(signal);
      return made;
    }
  } catch (error) {
    throwIfAborted(signal);
    // Where JSON is read by recursion, lists within lists are a RangeError.
    const isText = [TypeError, SyntaxError, RangeError].some((of) => error instanceof of);
    if (!isText) throw error;
    refuse(`${source.name} cannot be read (${String(error).slice(0, 80)})`, kind);
  }
  return refuse(`${source.name} has more than ${most} letters`, `fewer in ${kind}`);
}

/** A JSON file. */
export const readJson = (source: ByteSource, signal?: AbortSignal): Promise<unknown> =>
  read(source, 'JSON', (text) => JSON.parse(text) as unknown, signal);

/** A text. */
export const readText = (source: ByteSource, signal?: AbortSignal): Promise<string> =>
  read(source, 'a text in UTF-8', (text) => text, signal);
