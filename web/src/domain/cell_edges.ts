/** Where each cell starts, in device pixels; one more entry for the end of the last. */
export function cellEdges(length: number, count: number): Int32Array {
  return Int32Array.from({ length: count + 1 }, (_, i) => Math.round((i * length) / count));
}
