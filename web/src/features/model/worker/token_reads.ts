import type { HeadName, TokenReads } from '../shared/protocol';
import type { Pass } from './forward_pass';
import type { Opened } from './open_model';

/** Of every head, layer by layer, [T, T]: its weights times the length of what they bring, by the package. */
export function* broughtOver(
  { model, info }: Opened,
  ids: readonly number[],
): Generator<undefined, Float32Array[]> {
  const all: Float32Array[] = [];
  const size = ids.length ** 2;
  for (let layer = 0; layer < info.numLayers; layer++) {
    const { data } = model.normWeights(ids, { layer });
    for (let head = 0; head < info.numHeads; head++) {
      all.push(data.slice(head * size, (head + 1) * size));
    }
    yield;
  }
  return all;
}

const largest = (values: Float32Array) => values.reduce((most, x) => Math.max(most, x), 0);

export interface ReadsAsk {
  readonly at: number;
  /** The head whose map is shown; what the model does not have is its first. */
  readonly head: HeadName | null;
  readonly brought: boolean;
}

/** The row of a query in every head, and the whole map of one head. `maps`: [T, T] of every head. */
export function tokenReads(
  { info, label }: Opened,
  { ids }: Pick<Pass, 'ids'>,
  maps: readonly Float32Array[],
  { at, head: wanted, brought }: ReadsAsk,
): TokenReads {
  const { numLayers, numHeads, causal } = info;
  const count = ids.length;
  const keys = causal ? at + 1 : count;
  const rows = new Float32Array(maps.length * keys);
  maps.forEach((map, i) => rows.set(map.subarray(at * count, at * count + keys), i * keys));
  const isThere = wanted && wanted[0] < numLayers && wanted[1] < numHeads;
  const head: HeadName = isThere ? wanted : [0, 0];
  const map = maps[head[0] * numHeads + head[1]] ?? new Float32Array();
  return {
    ...{ at, head, brought, numHeads, keys, rows, map },
    labels: ids.map(label),
    most: brought ? largest(rows) : 1,
    mapMost: brought ? largest(map) : 1,
  };
}
