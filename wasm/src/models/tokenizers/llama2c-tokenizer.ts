// tokenizer.bin of llama2.c, as run.c reads it: int32 with the longest length, and of each token float32 score, int32 length, bytes.

import { describe, isUint8Array, reading, tagOf } from '../../arguments/values.js';
import { plainView } from '../../arguments/views.js';
import { refuse } from '../errors.js';
import { piecesTokenizer } from './scored-pieces.js';
import type { Tokenizer } from '../../api/model-types.js';

const [begin, end] = [1, 2];

function read(bytes: Uint8Array): { texts: string[]; scores: number[] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const longest = bytes.length < 4 ? 0 : view.getInt32(0, true);
  if (longest < 1 || longest > 2 ** 16)
    refuse(`tokenizer has tokens of ${longest} bytes`, '1 to 65536');
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const texts: string[] = [];
  const scores: number[] = [];
  for (let at = 4; at < bytes.length;) {
    const token = `tokenizer has token ${texts.length}`;
    if (at + 8 > bytes.length) refuse(`${token} cut short`, 'a score and a length');
    const [score, length] = [view.getFloat32(at, true), view.getInt32(at + 4, true)];
    if (!Number.isFinite(score)) refuse(`${token} with the score ${score}`, 'a finite one');
    if (length < 0 || length > longest) refuse(`${token} of ${length} bytes`, `0 to ${longest}`);
    if (at + 8 + length > bytes.length) refuse(`${token} cut short`, `${length} bytes`);
    texts.push(decoder.decode(bytes.subarray(at + 8, at + 8 + length)));
    scores.push(score);
    at += 8 + length;
  }
  return { texts, scores };
}

/**
 * The tokenizer of a checkpoint of llama2.c. A text begins with token 1 and a space, which decode() drops after token 1 as run.c does;
 * tokens 1 and 2 are no text.
 *
 * @throws {@link QkvError} `invalid_argument` for what is no such file
 */
export function llama2cTokenizer(bytes: ArrayBuffer | Uint8Array): Tokenizer {
  const isBuffer = reading('load', 'tokenizer', () => tagOf(bytes)) === 'ArrayBuffer';
  if (!isBuffer && !isUint8Array(bytes))
    refuse(`tokenizer is ${describe(bytes)}`, 'an ArrayBuffer or Uint8Array');
  const view = reading('load', 'tokenizer', () =>
    isBuffer ? new Uint8Array(bytes as ArrayBuffer) : plainView(bytes as Uint8Array),
  );
  const { texts, scores } = read(view as Uint8Array);
  return piecesTokenizer({
    ...{ texts: () => texts, scores, unknown: 0, begin, bos: begin, addsSpace: true },
    ...{ isControl: (id) => id === begin || id === end, specials: new Map() },
  });
}
