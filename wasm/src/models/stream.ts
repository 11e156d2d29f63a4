// The elements of a file, in its order, as rows for the arrays of a model. No more of a file is kept than the rows that are
// handed on, and the scales of one tensor; of a tensor in int8 whose scales come after it all of it.

import type { Parameter } from './config.js';
import { newBytes } from './errors.js';
import type { Range } from './families/locate.js';
import { rowBytes } from './file.js';
import type { LoadConstant, LoadPart, LoadPlan, LoadStep } from './plan.js';
import { pieceSize, readAll } from './sources/source.js';

/** Rows of one array, as LanguageModel::fill() of the core takes them: each array gets its own from the first to the last. */
export interface Rows {
  readonly parameter: Parameter;
  /** A type of file.ts; 'I8' has scales. */
  readonly type: string;
  /** The first of them; valid until the next rows come, at any address. */
  readonly bytes: Uint8Array;
  readonly count: number;
  /** From one to the next. */
  readonly rowBytes: number;
  /**
   * out_in: each has the inputs of one output; in_out: the outputs of one input, and all counts but the last are multiples of 32.
   * A table has its rows, and a vector is one row.
   */
  readonly layout: 'in_out' | 'out_in';
  /** float16: of the first row, which reads (out_in) its own row of them or (in_out) shares it with the 31 that follow. */
  readonly scales?: Uint8Array;
  readonly scaleRowBytes?: number;
  /** What the numbers stand for: (x + plus) factor. Changed by the core as it packs them as float32. */
  readonly plus: number;
  readonly factor: number;
}
export type OnRows = (rows: Rows) => void;

interface Reading {
  /** So many bytes, with what was written there before if no other size was requested since; they hold until something is awaited. */
  readonly room: (size: number) => Uint8Array;
  /** The same in a buffer of JavaScript's, for rows that are handed on with scales: the room for these may take away the other. */
  readonly ownRoom: (size: number) => Uint8Array;
  readonly signal: AbortSignal | undefined;
  readonly onRows: OnRows;
  readonly onBytes: (count: number, source: string) => void;
}

/** What a part says of its numbers. */
const changeOf = ({ addOne = false, factor = 1 }: Pick<LoadPart, 'addOne' | 'factor'>) => ({
  plus: addOne ? 1 : 0,
  factor,
});

/** The bytes of a vector: its elements from wherever they lie. */
function gather(bytes: Uint8Array, part: LoadPart, size: number): Uint8Array {
  const ranges = part.ranges();
  const [first] = ranges;
  if (first && ranges.length === 1) return bytes.subarray(first[0] * size, first[1] * size);
  const all = ranges.map(([begin, end]) => bytes.subarray(begin * size, end * size));
  const joined = new Uint8Array(all.reduce((n, { length }) => n + length, 0));
  let at = 0;
  for (const part of all) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

async function streamVector({ tensor, parts }: LoadStep, reading: Reading): Promise<void> {
  const { type, source, begin, end } = tensor;
  const all = await readAll(source, begin, end, reading.signal);
  reading.onBytes(all.length, source.name);
  for (const part of parts) {
    const size = rowBytes(type, 1);
    const bytes = gather(all, part, size);
    const of = { parameter: part.parameter, layout: 'out_in', ...changeOf(part) } as const;
    reading.onRows({ ...of, type, bytes, count: 1, rowBytes: bytes.length });
  }
}

/** A part with its ranges made. */
type ReadPart = Omit<LoadPart, 'ranges'> & { readonly ranges: readonly Range[] };

/** Rows of a tensor that have come: of which step, for whom, from which row on, and the scales of all. */
interface Chunk {
  readonly step: LoadStep;
  readonly parts: readonly ReadPart[];
  readonly bytes: Uint8Array;
  readonly first: number;
  readonly count: number;
  readonly scales: Uint8Array | undefined;
}

/** Hands on what each array has of a chunk. */
function hand({ step, parts, bytes, first, count, scales }: Chunk, onRows: OnRows): void {
  const { tensor, layout } = step;
  const { type, shape } = tensor;
  const columns = shape[1] ?? 0;
  const width = rowBytes(type, columns);
  const isInOut = layout === 'in_out';
  const scaleRowBytes = 2 * (isInOut ? columns : Math.ceil(columns / 32));
  const scalesFrom = (row: number, column: number): Partial<Rows> =>
    scales ? { scales: scales.subarray(row * scaleRowBytes + 2 * column), scaleRowBytes } : {};
  for (const { parameter, ranges, ...change } of parts) {
    const of = { parameter, type, layout, rowBytes: width, ...changeOf(change) };
    for (const [begin, end] of ranges) {
      if (isInOut) {
        const from = bytes.subarray(rowBytes(type, begin));
        onRows({ ...of, bytes: from, count, ...scalesFrom(first / 32, begin) });
        continue;
      }
      const [from, to] = [Math.max(begin, first), Math.min(end, first + count)];
      if (from >= to) continue;
      const own = bytes.subarray((from - first) * width, (to - first) * width);
      onRows({ ...of, bytes: own, count: to - from, ...scalesFrom(from, 0) });
    }
  }
}

/** Rows of a chunk. */
function rowsAtOnce(width: number, rows: number, layout: LoadStep['layout']): number {
  const unit = layout === 'in_out' ? 32 : 1;
  return Math.min(rows, Math.max(1, Math.floor(pieceSize / width / unit)) * unit);
}

async function streamMatrix(step: LoadStep, reading: Reading): Promise<void> {
  const { tensor, layout, scales: stored } = step;
  const { signal, onBytes, onRows } = reading;
  const room = stored ? reading.ownRoom : reading.room;
  const whole = async ({ source, begin, end }: LoadStep['tensor']): Promise<Uint8Array> => {
    const bytes = await readAll(source, begin, end, signal);
    onBytes(bytes.length, source.name);
    return bytes;
  };
  // What a server sends once is read in the order of the file.
  const isLate = stored !== undefined && stored.begin > tensor.begin;
  const kept = isLate ? await whole(tensor) : undefined;
  const scales = stored && (await whole(stored));

  const [rows = 0, columns = 0] = tensor.shape;
  const width = rowBytes(tensor.type, columns);
  const size = rowsAtOnce(width, rows, layout) * width;
  const parts = step.parts.map((part) => ({ ...part, ranges: part.ranges() }));
  let [first, filled] = [0, 0];
  const flush = (): void => {
    const count = filled / width;
    hand({ step, parts, bytes: room(size).subarray(0, filled), first, count, scales }, onRows);
    [first, filled] = [first + count, 0];
  };
  const take = (piece: Uint8Array): void => {
    for (let at = 0; at < piece.length;) {
      const part = piece.subarray(at, at + size - filled);
      room(size).set(part, filled);
      filled += part.length;
      at += part.length;
      if (filled === size) flush();
    }
  };
  if (kept) take(kept);
  else {
    for await (const piece of tensor.source.read(tensor.begin, tensor.end, signal)) {
      take(piece);
      onBytes(piece.length, tensor.source.name);
    }
  }
  if (filled > 0) flush();
}

/** A vector of one number. */
function constantRow({ parameter, constant }: LoadConstant): Rows {
  const numbers = new Float32Array(parameter.shape[0] ?? 0).fill(constant);
  const bytes = new Uint8Array(numbers.buffer);
  const of = { parameter, layout: 'out_in', ...changeOf({}) } as const;
  return { ...of, type: 'F32', bytes, count: 1, rowBytes: bytes.length };
}

/** A buffer of JavaScript's. One for all, because a new one for each tensor would wait for the collector. */
function ownRoom(): Reading['ownRoom'] {
  let buffer = new Uint8Array(0);
  return (size) => {
    if (buffer.length < size) buffer = newBytes(size);
    return buffer.subarray(0, size);
  };
}

/** Hands on all rows of a model: what no file has, then one step after another. */
export async function streamPlan(
  { steps, constants }: LoadPlan,
  given: Omit<Reading, 'room' | 'ownRoom'> & { readonly room: Reading['room'] | undefined },
): Promise<void> {
  for (const each of constants) given.onRows(constantRow(each));
  const own = ownRoom();
  const reading = { ...given, room: given.room ?? own, ownRoom: own };
  let source = steps[0]?.tensor.source;
  for (const step of steps) {
    // The file before, which may have more than is needed of it.
    if (source !== step.tensor.source) source?.rest();
    ({ source } = step.tensor);
    await (step.tensor.shape.length === 1 ? streamVector : streamMatrix)(step, reading);
  }
}

/** Bytes that steps read. */
export const bytesOf = (steps: readonly LoadStep[]): number =>
  steps
    .flatMap(({ tensor, scales }) => (scales ? [tensor, scales] : [tensor]))
    .reduce((total, { begin, end }) => total + end - begin, 0);
