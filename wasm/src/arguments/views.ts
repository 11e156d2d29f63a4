import { bufferOf, kindOf, lengthOf, reader, typedArray } from './values.js';

const offsetOf = reader(typedArray, 'byteOffset') as (array: ArrayBufferView) => number;

/** The same elements in a view that is of no subclass and keeps its length. */
export function plainView(view: ArrayBufferView): ArrayBufferView {
  const made = kindOf(view);
  // A DataView, which nothing here takes.
  if (made === undefined) return view;
  const Kind = (globalThis as Record<string, unknown>)[made] as new (
    ...of: [buffer: ArrayBufferLike, offset: number, length: number]
  ) => ArrayBufferView;
  return new Kind(bufferOf(view), offsetOf(view), lengthOf(view));
}
