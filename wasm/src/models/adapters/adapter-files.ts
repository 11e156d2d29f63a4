// Adapters of trainers in files of PEFT, for the trainers, which know nothing of families.

import type { AdapterReader, UniformAdapters } from '../../language/model-handles.js';
import { some } from '../../arguments/name-list.js';
import { QkvError } from '../../api/errors.js';
import type { ModelSpec } from '../model-spec.js';
import { type Adapter, type Adapters, readAdapters } from './read-peft.js';
import { transposed } from './transposed.js';
import { writeAdapters } from './write-peft.js';

/** A trainer has adapters of the same maps in all layers, of one rank and one factor. */
function checkUniform(fn: string, { all }: Adapters, { config }: ModelSpec): void {
  const unsupported = (what: string, expected: string): never => {
    throw new QkvError('unsupported', `${fn}: adapters ${what}, expected ${expected}`);
  };
  const [first] = all;
  const other = all.find(({ rank, alpha }) => rank !== first?.rank || alpha !== first.alpha);
  if (first && other) {
    unsupported(
      `have rank ${first.rank} and alpha ${first.alpha} in ${first.name}, and ${other.rank} and ${other.alpha} in ${other.name}`,
      'the same in all maps of a trainer; withAdapters() of the model takes any',
    );
  }
  const names = new Set(all.map(({ name }) => name));
  const own = /^layers\.\d+\.(attention\.w[qkvo]|feedForward\.(w1|wGate|w2))$/;
  const foreign = all.find(({ name }) => !own.test(name));
  if (foreign) unsupported(`have ${foreign.name}`, 'maps of the layers that a trainer adapts');
  const maps = new Set(all.map(({ name }) => name.replace(/^layers\.\d+\./, '')));
  const missing = Array.from({ length: config.numLayers }, (_, n) =>
    Array.from(maps, (map) => `layers.${n}.${map}`).filter((name) => !names.has(name)),
  ).flat();
  if (missing.length > 0)
    unsupported(`have none for ${some(missing)}`, 'the same maps in every layer');
}

function uniform(fn: string, adapters: Adapters): UniformAdapters {
  const { config, all } = adapters;
  const { rank, alpha } = all[0] as Adapter;
  const arrays = all.flatMap(({ name, down, up }) => [
    [`${name}.loraA`, transposed(fn, down, rank)] as const,
    [`${name}.loraB`, transposed(fn, up, up.length / rank)] as const,
  ]);
  return { rank, alpha, dropout: config.dropout, arrays: new Map(arrays), base: config.base };
}

export const adapterFilesOf = (spec: ModelSpec): AdapterReader => ({
  read(fn, files) {
    const adapters = readAdapters(fn, spec, files);
    checkUniform(fn, adapters, spec);
    return uniform(fn, adapters);
  },
  write: (fn, adapters) => writeAdapters(fn, spec, adapters),
});
