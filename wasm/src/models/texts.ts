// Rows of tokens of different lengths in few passes: those of one length, or nearly, side by side.

import type { TextProgress } from '../api/model-types.js';
import { throwIfAborted } from '../arguments/signal.js';
import { reading } from '../arguments/values.js';
import type { ModelSpec } from './model-spec.js';
import { Pause } from '../platform/pause.js';
import { idsOf } from './text.js';

/** Most tokens of a pass, if it has several rows: enough to share the weights that it reads, and few enough for the page to stay awake. */
const mostTokens = 512;
/** Most tokens of padding behind a row: what they cost is more than what a pass of several rows saves, but for short texts. */
const mostPadding = 1;

/** Most texts of a call. */
export const mostTexts = 2 ** 20;

/** Rows of one pass. */
export interface RowsOfPass {
  /** Which of all rows they are. */
  readonly places: readonly number[];
  readonly length: number;
  /** [places, length], what is behind a row being token 0. */
  readonly ids: Int32Array;
  /** [places, length] of the segments, if rows have any. */
  readonly types: Int32Array | undefined;
  /** Tokens of each row. */
  readonly lengths: Int32Array;
}

/** A row of tokens, and the segment of each if it has several. */
export interface TokenRow {
  readonly ids: Int32Array;
  readonly types?: Int32Array | undefined;
}

/** The rows, the longest first, in passes. */
function passesOf(rows: readonly TokenRow[]): RowsOfPass[] {
  const lengthOf = (place: number): number => rows[place]?.ids.length ?? 0;
  const order = rows.map((_, place) => place).sort((a, b) => lengthOf(b) - lengthOf(a) || a - b);
  const passes: RowsOfPass[] = [];
  for (let first = 0; first < order.length;) {
    const length = lengthOf(order[first] ?? 0);
    let count = 1;
    const fits = (): boolean =>
      first + count < order.length &&
      (count + 1) * length <= mostTokens &&
      lengthOf(order[first + count] ?? 0) >= length - mostPadding;
    while (fits()) count += 1;
    const places = order.slice(first, first + count);
    const hasTypes = places.some((place) => rows[place]?.types);
    const [ids, types] = [new Int32Array(count * length), new Int32Array(count * length)];
    places.forEach((place, row) => {
      ids.set(rows[place]?.ids ?? [], row * length);
      types.set(rows[place]?.types ?? [], row * length);
    });
    const lengths = Int32Array.from(places, lengthOf);
    passes.push({ places, length, ids, types: hasTypes ? types : undefined, lengths });
    first += count;
  }
  return passes;
}

/** What a caller may watch and end. */
interface Watching {
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: TextProgress) => void) | undefined;
}

/** Runs the passes of these rows, with turns of the event loop between. */
export async function inPasses(
  rows: readonly TokenRow[],
  { signal, onProgress }: Watching,
  run: (pass: RowsOfPass) => void,
): Promise<void> {
  throwIfAborted(signal);
  const pause = new Pause();
  let done = 0;
  for (const pass of passesOf(rows)) {
    await pause.maybe();
    throwIfAborted(signal);
    run(pass);
    done += pass.places.length;
    onProgress?.({ done, of: rows.length });
  }
}

/** How many of the last tokens of a text are those that the tokenizer puts after every text. */
function endsOf(ids: ArrayLike<number>, bare: ArrayLike<number>): number {
  let begins = 0;
  while (begins < bare.length && ids[begins] === bare[begins]) begins += 1;
  let ends = 0;
  const isEnd = (i: number): boolean => ids[ids.length - 1 - i] === bare[bare.length - 1 - i];
  while (ends < bare.length - begins && isEnd(ends)) ends += 1;
  return ends;
}

/** The tokens of a text that is too long, as many as the model has room for, with those that end every text; of others nothing. */
export function shortened(
  fn: string,
  name: string,
  given: unknown,
  spec: ModelSpec,
  plain: boolean,
): readonly number[] | undefined {
  const { tokenizer } = spec;
  const most = spec.config.maxLength;
  const ids = idsOf(fn, name, given, spec, { plain }) as ArrayLike<number> | undefined;
  return reading(fn, name, () => {
    if (!ids || !(ids.length > most)) return undefined;
    const isText = typeof given === 'string';
    const kept = isText && tokenizer ? Math.min(most, endsOf(ids, tokenizer.encode(''))) : 0;
    const all = Array.from(ids);
    return [...all.slice(0, most - kept), ...all.slice(all.length - kept)];
  });
}
