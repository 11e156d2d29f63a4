/**
 * The `count` rows whose cosine with row `of` is largest, the largest first, without row `of` itself. `data` is [rows, width]; a row of
 * zeros has the cosine 0 with every other. `count` is at least 1.
 */
export function nearest(
  data: Float32Array,
  width: number,
  { of, count }: { of: number; count: number },
): { id: number; cosine: number }[] {
  const rows = data.length / width;
  const found: { id: number; cosine: number }[] = [];
  const dot = (a: number, b: number) => {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += data[a * width + c]! * data[b * width + c]!;
    return sum;
  };
  const own = Math.sqrt(dot(of, of));
  for (let id = 0; id < rows; id++) {
    if (id === of) continue;
    const cosine = dot(of, id) / (own * Math.sqrt(dot(id, id)) || 1);
    if (found.length === count && cosine <= found[count - 1]!.cosine) continue;
    const place = found.findIndex((other) => other.cosine < cosine);
    found.splice(place < 0 ? found.length : place, 0, { id, cosine });
    if (found.length > count) found.pop();
  }
  return found;
}
