// Models as safetensors files of our own, which load() reads back: every number as it is kept. Matrices have a row for each
// output; blocks are those of GGUF, as bytes, whose types the metadata has. families/own.ts reads the config,
// readers/safetensors-shard.ts the types.

import { inRoom } from '../arguments/values.js';
import { layOut, type PlannedArray } from '../formats/safetensors.js';
import { Call } from '../memory/call.js';
import type { ModelState } from './model-state.js';
import { textsOf } from './saved-texts.js';

const fn = 'LanguageModel.save';

/** Bytes that are read at once. */
const piece = 2 ** 20;

/** What the core calls the types in which it gives numbers, by their places there; of blocks the name that they have in GGUF. */
const types: Readonly<Record<number, string>> = {
  ...{ 0: 'F32', 1: 'F16', 2: 'BF16', 3: 'Q8_0', 6: 'Q4_1', 11: 'Q4_K' },
};
const isBlocks = (type: string): boolean => type.startsWith('Q');

/** An array as the core gives it. */
interface Kept extends PlannedArray {
  readonly index: number;
  readonly type: string;
  readonly rows: number;
  readonly rowBytes: number;
  /** Numbers of a row. */
  readonly width: number;
}

function keptArrays({ arrays }: ModelState): Map<string, Kept> {
  const kept = Array.from(arrays, ([name, { index, shape, more }]) => {
    const [code = 0, rows = 0, rowBytes = 0] = more;
    const type = types[code];
    if (!type) throw new RangeError(`no type ${code}`);
    const width = shape.reduce((product, extent) => product * extent, 1) / rows;
    const own = isBlocks(type)
      ? { dtype: 'U8', shape: [rows, rowBytes] }
      : { dtype: type, shape: shape.length === 1 ? shape : [rows, width] };
    return [name, { ...own, index, type, rows, rowBytes, width, size: rows * rowBytes }] as const;
  });
  return new Map(kept);
}

/** What load() finds besides the arrays. */
function metadataOf({ spec }: ModelState, arrays: ReadonlyMap<string, Kept>): Map<string, string> {
  const blocks = Array.from(arrays)
    .filter(([, { type }]) => isBlocks(type))
    .map(([name, { type, width }]) => [name, [type, width]] as const);
  return new Map([
    ['format', 'qkv'],
    ['kind', 'saved_model'],
    ['config', JSON.stringify(spec.config)],
    ['blocks', JSON.stringify(Object.fromEntries(blocks))],
    ...textsOf(fn, spec),
  ]);
}

/** The file of a model. */
export function save(state: ModelState): Uint8Array<ArrayBuffer> {
  const model = state.live(fn);
  const arrays = keptArrays(state);
  const bytes = [...arrays.values()].reduce((sum, { size }) => sum + size, 0);
  const { file, elements } = inRoom(fn, bytes, () => layOut(metadataOf(state, arrays), arrays));
  for (const [name, { index, rows, rowBytes }] of arrays) {
    const most = Math.max(1, Math.floor(piece / rowBytes));
    for (let first = 0; first < rows; first += most) {
      const count = Math.min(most, rows - first);
      const call = new Call(state.instance, fn);
      const slot = call.output('rows', [Math.ceil((count * rowBytes) / 4)]);
      call.run('readModel', { model, index, first, count, rows: slot });
      const read = new Uint8Array(call.read(slot).buffer, 0, count * rowBytes);
      elements.get(name)?.set(read, first * rowBytes);
    }
  }
  return file;
}
