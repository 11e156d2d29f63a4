// A model with adapters added to its weights: W + alpha / rank A B, in float64 and rounded once, and then as its format keeps numbers.

import type { AdapterFiles } from '../../api/adapter-types.js';
import type { KeptFormat } from '../../api/model-types.js';
import { newFloats } from '../../arguments/values.js';
import type { Arguments } from '../../memory/abi.js';
import { Filler } from '../fill.js';
import { type KeptArray, keptArrays, readRows } from '../kept-rows.js';
import type { ModelSpec } from '../model-spec.js';
import type { ModelState } from '../model-state.js';
import { readNumbers } from './kept-numbers.js';
import { type Adapter, readAdapters } from './read-peft.js';

const fn = 'LanguageModel.withAdapters';

/** Blocks of Q4_K are only ever those of a file. */
const formatWith = (format: KeptFormat, isAdapted: boolean): KeptFormat =>
  isAdapted && format === 'q4_k' ? 'int4' : format;

type Fill = (rows: Uint8Array, first: number, count: number) => void;

/** Puts rows in as they are. */
function asTheyAre(filler: Filler, name: string, { type, rowBytes }: KeptArray): Fill {
  const of = { name, type: type.toLowerCase() as Arguments<'fillModel'>['type'], rowBytes };
  return (bytes, _first, count) => filler.put({ ...of, layout: 'out_in', bytes, count });
}

/** Adds the rows of a matrix [rank, width], each times its number: in their order, four at a time, which takes half of the time. */
function addRows(sums: Float64Array, rows: Float64Array, by: Float32Array): void {
  const width = sums.length;
  const wide = by.length - (by.length % 4);
  for (let r = 0; r < wide; r += 4) {
    const [a = 0, b = 0, c = 0, d = 0] = by.subarray(r, r + 4);
    const [p, q, s, t] = [r * width, (r + 1) * width, (r + 2) * width, (r + 3) * width];
    for (let i = 0; i < width; i += 1) {
      const two = (sums[i] ?? 0) + (rows[p + i] ?? 0) * a + (rows[q + i] ?? 0) * b;
      sums[i] = two + (rows[s + i] ?? 0) * c + (rows[t + i] ?? 0) * d;
    }
  }
  for (let r = wide; r < by.length; r += 1) {
    const a = by[r] ?? 0;
    for (let i = 0; i < width; i += 1) sums[i] = (sums[i] ?? 0) + (rows[r * width + i] ?? 0) * a;
  }
}

/** Puts rows in with what adapters add to each: those of a map have the weights of an output. */
function withSums(filler: Filler, kept: KeptArray, { name, rank, alpha, down, up }: Adapter): Fill {
  const { type, rowBytes, width } = kept;
  // As the trainer has the factor, so that its merged file has the same bits.
  const factor = Math.fround(Math.fround(alpha) / rank);
  const of = { name, type: 'f32', layout: 'out_in', rowBytes: 4 * width } as const;
  const sums = new Float64Array(width);
  const rows = Float64Array.from(down);
  return (bytes, first, count) => {
    const numbers = newFloats(fn, count * width);
    for (let row = 0; row < count; row += 1) {
      const own = numbers.subarray(row * width, (row + 1) * width);
      readNumbers(type, bytes.subarray(row * rowBytes, (row + 1) * rowBytes), own);
      sums.fill(0);
      addRows(sums, rows, up.subarray((first + row) * rank, (first + row + 1) * rank));
      for (let i = 0; i < width; i += 1) own[i] = (own[i] ?? 0) + factor * (sums[i] ?? 0);
    }
    filler.put({ ...of, bytes: new Uint8Array(numbers.buffer), count });
  };
}

/** `make` makes a model that `fill` fills. */
export function withAdapters<Model>(
  state: ModelState,
  files: AdapterFiles,
  make: (fn: string, spec: ModelSpec, fill: (made: ModelState) => void) => Model,
): Model {
  state.live(fn);
  const { all } = readAdapters(fn, state.spec, files);
  const adapters = new Map(all.map((adapter) => [adapter.name, adapter]));
  const arrays = keptArrays(state);
  const formats = Array.from(arrays, ([name, { format }]) =>
    formatWith(format, adapters.has(name)),
  );
  return make(fn, { ...state.spec, formats }, (made) => {
    const filler = new Filler(fn, made);
    try {
      for (const [name, kept] of arrays) {
        const adapter = adapters.get(name);
        const fill = adapter ? withSums(filler, kept, adapter) : asTheyAre(filler, name, kept);
        readRows(fn, state, kept, fill);
      }
      made.finish(fn);
    } finally {
      filler.dispose();
    }
  });
}
