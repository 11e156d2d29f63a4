// The arrays of a model as the core keeps them: of what type they are, and their rows.

import type { KeptFormat } from '../api/model-types.js';
import type { PlannedArray } from '../formats/safetensors.js';
import { Call } from '../memory/call.js';
import type { ModelState } from './model-state.js';

/** Bytes that are read at once. */
const piece = 2 ** 20;

export type KeptType = 'F32' | 'F16' | 'BF16' | 'Q8_0' | 'Q4_1' | 'Q4_K';

/** What the core calls the types in which it gives numbers, by their places there; of blocks the name that they have in GGUF. */
const types: ReadonlyMap<number, readonly [KeptType, KeptFormat]> = new Map([
  [0, ['F32', 'f32']],
  [1, ['F16', 'f16']],
  [2, ['BF16', 'bf16']],
  [3, ['Q8_0', 'int8']],
  [6, ['Q4_1', 'int4']],
  [11, ['Q4_K', 'q4_k']],
]);
export const isBlocks = (type: string): boolean => type.startsWith('Q');

/** An array as the core gives it. */
export interface KeptArray extends PlannedArray {
  readonly index: number;
  readonly type: KeptType;
  readonly format: KeptFormat;
  readonly rows: number;
  readonly rowBytes: number;
  /** Numbers of a row. */
  readonly width: number;
}

export function keptArrays({ arrays }: ModelState): Map<string, KeptArray> {
  const kept = Array.from(arrays, ([name, { index, shape, more }]) => {
    const [code = 0, rows = 0, rowBytes = 0] = more;
    const known = types.get(code);
    if (!known) throw new RangeError(`no type ${code}`);
    const [type, format] = known;
    const width = shape.reduce((product, extent) => product * extent, 1) / rows;
    const own = isBlocks(type)
      ? { dtype: 'U8', shape: [rows, rowBytes] }
      : { dtype: type, shape: shape.length === 1 ? shape : [rows, width] };
    const size = rows * rowBytes;
    return [name, { ...own, index, type, format, rows, rowBytes, width, size }] as const;
  });
  return new Map(kept);
}

/** Reads an array, some rows at a time; they are valid until the next come. */
export function readRows(
  fn: string,
  state: ModelState,
  { index, rows, rowBytes }: KeptArray,
  onRows: (bytes: Uint8Array, first: number, count: number) => void,
): void {
  const most = Math.max(1, Math.floor(piece / rowBytes));
  for (let first = 0; first < rows; first += most) {
    const count = Math.min(most, rows - first);
    const call = new Call(state.instance, fn);
    const slot = call.output('rows', [Math.ceil((count * rowBytes) / 4)]);
    call.run('readModel', { model: state.live(fn), index, first, count, rows: slot });
    onRows(new Uint8Array(call.read(slot).buffer, 0, count * rowBytes), first, count);
  }
}
