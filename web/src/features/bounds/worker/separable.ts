/** The solution of a symmetric positive definite system, by elimination; `a` is [n][n + 1], its last column the right side. */
function solved(a: Float64Array[]): number[] {
  const n = a.length;
  for (let i = 0; i < n; i++) {
    for (let row = i + 1; row < n; row++) {
      const factor = a[row]![i]! / a[i]![i]!;
      for (let j = i; j <= n; j++) a[row]![j]! -= factor * a[i]![j]!;
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let i = n - 1; i >= 0; i--) {
    let rest = a[i]![n]!;
    for (let j = i + 1; j < n; j++) rest -= a[i]![j]! * x[j]!;
    x[i] = rest / a[i]![i]!;
  }
  return x;
}

const dot = (a: Float64Array, b: Float64Array) =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);

/** The least squares of sum x_j column_j = target over the columns in `used`. */
function leastSquares(
  columns: readonly Float64Array[],
  used: readonly number[],
  target: Float64Array,
) {
  const system = used.map((i) => {
    const products = used.map((j) => dot(columns[i]!, columns[j]!));
    return Float64Array.from([...products, dot(columns[i]!, target)]);
  });
  return solved(system);
}

/** target - sum x_j column_j. */
function residual(columns: readonly Float64Array[], x: readonly number[], target: Float64Array) {
  const left = Float64Array.from(target);
  x.forEach((factor, j) => {
    if (factor !== 0) columns[j]!.forEach((value, i) => (left[i]! -= factor * value));
  });
  return left;
}

/** Weights of the columns in use on the way to `wanted`, as far as none falls below 0; those that reach 0 are dropped. */
function stepped(x: number[], used: readonly number[], wanted: readonly number[]): number[] {
  const shares = used.map((j, i) => {
    const [now, goal] = [x[j]!, wanted[i]!];
    return goal <= 0 ? now / (now - goal) : 1;
  });
  const share = Math.min(...shares);
  used.forEach((j, i) => (x[j]! += share * (wanted[i]! - x[j]!)));
  return used.filter((j, i) => {
    const stays = shares[i]! > share && x[j]! > 1e-12;
    if (!stays) x[j] = 0;
    return stays;
  });
}

const [TOLERANCE, TURNS] = [1e-9, 200];

/**
 * Whether some w has w·z > 0 for every z of `points`, exactly: by Gordan's theorem either there is one, or a weighted mean of the
 * points is 0. The nearest that such a mean comes to 0 is found as non-negative least squares (Lawson and Hanson 1974); what is left
 * over is the w.
 */
export function isSeparable(points: readonly Float64Array[]): boolean {
  const size = points[0]?.length ?? 0;
  const columns = points.map((z) => Float64Array.from([...z, 1]));
  const target = new Float64Array(size + 1);
  target[size] = 1;
  const x = new Array<number>(points.length).fill(0);
  let used: number[] = [];
  let left = residual(columns, x, target);
  for (let turn = 0; turn < TURNS; turn++) {
    const slopes = columns.map((column, j) => (used.includes(j) ? -Infinity : dot(column, left)));
    const best = slopes.indexOf(Math.max(...slopes));
    if (!(slopes[best]! > TOLERANCE)) break;
    used = [...used, best];
    let wanted = leastSquares(columns, used, target);
    while (used.length > 0 && wanted.some((value) => value <= 0)) {
      used = stepped(x, used, wanted);
      wanted = leastSquares(columns, used, target);
    }
    used.forEach((j, i) => (x[j] = wanted[i]!));
    left = residual(columns, x, target);
    if (left[size]! < TOLERANCE) return false; // a mean of the points is 0
  }
  return points.every((z) => dot(z, left) < 0);
}
