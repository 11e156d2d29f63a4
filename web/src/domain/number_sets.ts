/** Queries, keys and values of width 2, as many of one as of the other: what a reader can edit. */
export interface NumberSet {
  /** Row-major, [count, WIDTH] each. */
  readonly q: readonly number[];
  readonly k: readonly number[];
  readonly v: readonly number[];
}

export const WIDTH = 2;
export const MAX_KEYS = 6;
/** Large enough to break exp in float32, and every product of two of them is still finite. */
const MOST = 1e4;

/** The example that tutorials pass around, mostly with wrong products. */
export const WORKED_EXAMPLE: NumberSet = {
  q: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
  k: [0.7, 0.8, 0.9, 1, 1.1, 1.2],
  v: [1.3, 1.4, 1.5, 1.6, 1.7, 1.8],
};

export const countOf = (set: NumberSet): number => set.q.length / WIDTH;

/** What a link, a box and a label all show: at most four decimals. */
export function clampNumber(value: number): number {
  const rounded = Math.round(Math.min(MOST, Math.max(-MOST, value)) * 1e4) / 1e4;
  return rounded === 0 ? 0 : rounded; // no negative zero: a link could not carry it
}

export function sameNumbers(a: NumberSet, b: NumberSet): boolean {
  return writeNumbers(a) === writeNumbers(b);
}

/** `q;k;v`, the numbers of each with commas between. */
export function writeNumbers({ q, k, v }: NumberSet): string {
  return [q, k, v].map((row) => row.join(',')).join(';');
}

export function readNumbers(raw: string): NumberSet | undefined {
  const [q, k, v, ...more] = raw.split(';').map((row) => row.split(',').map(Number));
  if (!q || !k || !v || more.length > 0) return undefined;
  const sound = [q, k, v].every(
    (row) =>
      row.length === q.length &&
      row.length % WIDTH === 0 &&
      row.length <= MAX_KEYS * WIDTH &&
      row.every(Number.isFinite),
  );
  if (!sound || raw.split(/[,;]/).some((part) => part.trim() === '')) return undefined;
  return { q: q.map(clampNumber), k: k.map(clampNumber), v: v.map(clampNumber) };
}

/** One key more, a copy of the last, or one less. */
export function resize(set: NumberSet, count: number): NumberSet {
  const to = Math.min(MAX_KEYS, Math.max(1, count)) * WIDTH;
  const fit = (row: readonly number[]) => {
    const grown = [...row];
    while (grown.length < to) grown.push(...row.slice(-WIDTH));
    return grown.slice(0, to);
  };
  return { q: fit(set.q), k: fit(set.k), v: fit(set.v) };
}
