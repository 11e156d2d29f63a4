export interface Principal {
  /** [rows, 2]: of each row its places along both axes. */
  readonly points: Float32Array;
  /** Parts of the variance along each. */
  readonly shares: readonly [number, number];
}

/** [width] */
function meanOf(data: Float32Array, width: number): Float64Array {
  const mean = new Float64Array(width);
  for (let at = 0; at < data.length; at++) mean[at % width]! += data[at]!;
  return mean.map((sum) => sum / (data.length / width));
}

/** Sums of products of the centred columns, [width, width]. */
function* scatterOf(data: Float32Array, mean: Float64Array): Generator<undefined, Float64Array> {
  const width = mean.length;
  const scatter = new Float64Array(width * width);
  const row = new Float64Array(width);
  for (let from = 0; from < data.length; from += width) {
    for (let c = 0; c < width; c++) row[c] = data[from + c]! - mean[c]!;
    for (let a = 0; a < width; a++) {
      const factor = row[a]!;
      for (let b = a; b < width; b++) scatter[a * width + b]! += factor * row[b]!;
    }
    if ((from / width) % 256 === 255) yield;
  }
  for (let a = 0; a < width; a++) {
    for (let b = 0; b < a; b++) scatter[a * width + b] = scatter[b * width + a]!;
  }
  return scatter;
}

const norm = (x: Float64Array) => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));

function times(matrix: Float64Array, x: Float64Array): Float64Array {
  const width = x.length;
  return x.map((_, a) => {
    let sum = 0;
    for (let b = 0; b < width; b++) sum += matrix[a * width + b]! * x[b]!;
    return sum;
  });
}

function project(x: Float64Array, away: Float64Array | null): void {
  if (!away) return;
  const along = x.reduce((sum, value, i) => sum + value * away[i]!, 0);
  for (let i = 0; i < x.length; i++) x[i]! -= along * away[i]!;
}

/** The eigenvector of the largest eigenvalue, of those at a right angle to `away`, by powers of the matrix. */
function* largest(
  matrix: Float64Array,
  away: Float64Array | null,
): Generator<undefined, { vector: Float64Array; value: number }> {
  const width = Math.sqrt(matrix.length);
  let vector: Float64Array = Float64Array.from({ length: width }, (_, i) => 1 + (i % 7) / 7);
  let value = 0;
  for (let step = 0; step < 2000; step++) {
    project(vector, away);
    const length = norm(vector);
    if (length === 0) break; // nothing is left at a right angle
    const unit = vector.map((x) => x / length);
    const next = times(matrix, unit);
    project(next, away);
    value = norm(next);
    const moved = next.reduce((most, x, i) => Math.max(most, Math.abs(x - value * unit[i]!)), 0);
    vector = next;
    if (moved <= 1e-10 * value) break;
    if (step % 64 === 63) yield;
  }
  const length = norm(vector);
  return { vector: length > 0 ? vector.map((x) => x / length) : vector, value };
}

/** The side of an axis is a choice: that where the largest part of it is positive. */
function upright(axis: Float64Array): Float64Array {
  const most = axis.reduce((best, x, i) => (Math.abs(x) > Math.abs(axis[best]!) ? i : best), 0);
  return axis[most]! < 0 ? axis.map((x) => -x) : axis;
}

/** The rows of [rows, width] on the plane of their two largest principal components, in float64; yields often. */
export function* principalPlane(
  data: Float32Array,
  width: number,
): Generator<undefined, Principal> {
  const mean = meanOf(data, width);
  const scatter = yield* scatterOf(data, mean);
  let total = 0;
  for (let c = 0; c < width; c++) total += scatter[c * width + c]!;
  const first = yield* largest(scatter, null);
  const second = yield* largest(scatter, first.vector);
  const axes = [upright(first.vector), upright(second.vector)];
  const points = new Float32Array((data.length / width) * 2);
  points.forEach((_, at) => {
    const from = (at >> 1) * width;
    const axis = axes[at & 1]!;
    let sum = 0;
    for (let c = 0; c < width; c++) sum += (data[from + c]! - mean[c]!) * axis[c]!;
    points[at] = sum;
  });
  const share = (value: number) => (total > 0 ? value / total : 0);
  return { points, shares: [share(first.value), share(second.value)] };
}

/** The rows whose cosine with row `of` is largest, without itself. */
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
