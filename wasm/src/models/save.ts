// Models as safetensors files of our own, which load() reads back: every number as it is kept. Matrices have a row for each
// output; blocks are those of GGUF, as bytes, whose types the metadata has. families/own.ts reads the config,
// readers/safetensors-shard.ts the types.

import { inRoom } from '../arguments/values.js';
import { layOut } from '../formats/safetensors.js';
import { isBlocks, type KeptArray, keptArrays, readRows } from './kept-rows.js';
import type { ModelState } from './model-state.js';
import { textsOf } from './saved-texts.js';

const fn = 'LanguageModel.save';

/** What load() finds besides the arrays. */
function metadataOf(
  { spec }: ModelState,
  arrays: ReadonlyMap<string, KeptArray>,
): Map<string, string> {
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
  state.live(fn);
  const arrays = keptArrays(state);
  const bytes = [...arrays.values()].reduce((sum, { size }) => sum + size, 0);
  const { file, elements } = inRoom(fn, bytes, () => layOut(metadataOf(state, arrays), arrays));
  for (const [name, array] of arrays) {
    readRows(fn, state, array, (rows, first) => {
      elements.get(name)?.set(rows, first * array.rowBytes);
    });
  }
  return file;
}
