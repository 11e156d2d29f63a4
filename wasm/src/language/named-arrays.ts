// The arrays of an object of the core, by name: the weights of a model, or what a trainer trains.

import { Call, type Slot } from '../memory/call.js';
import type { Instance } from '../memory/instance.js';
import { textAt } from '../memory/raw.js';
import { found } from './rows.js';

export interface NamedArray {
  readonly index: number;
  readonly shape: readonly number[];
  /** Further numbers that the operator returns. */
  readonly more: readonly number[];
}

/** `describe` runs the operator that names an array and puts its rank, two extents and `more` numbers into `slot`. */
export function namedArrays(
  fn: string,
  instance: Instance,
  count: number,
  describe: (call: Call, index: number, slot: Slot) => void,
  more = 0,
): ReadonlyMap<string, NamedArray> {
  return new Map(
    Array.from({ length: count }, (_, index) => {
      const call = new Call(instance, fn);
      const slot = call.output('found', [6 + 2 * more]);
      describe(call, index, slot);
      const [rank = 0, ...rest] = found(call, slot);
      const name = textAt(instance.raw(fn), call.made());
      return [name, { index, shape: rest.slice(0, rank), more: rest.slice(2) }];
    }),
  );
}
