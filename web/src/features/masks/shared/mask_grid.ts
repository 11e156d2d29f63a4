/** Queries and keys of the mask that can be painted; of a longer text the first so many tokens are taken. */
export const GRID = 16;

export const MASK_KINDS = ['none', 'causal', 'window', 'padding', 'prefix', 'painted'] as const;
export type MaskKind = (typeof MASK_KINDS)[number];

/** The kinds that take a number: keys of a window, tokens of padding, tokens of a prefix. */
export const SIZED: ReadonlySet<MaskKind> = new Set(['window', 'padding', 'prefix']);

/** Which mask is meant; a painted one is four hexadecimal digits for each row of the whole grid. */
export interface MaskChoice {
  readonly maskKind: MaskKind;
  readonly maskSize: number;
  readonly maskPaint: string;
}

const DIGITS = GRID / 4;
/** Nothing is left out. */
export const OPEN_PAINT = 'f'.repeat(GRID * DIGITS);

/** A mask in a link; digits that are missing allow, and those beyond the grid mean nothing. */
export function readPaint(raw: string): string | undefined {
  if (!/^[0-9a-f]+$/i.test(raw)) return undefined;
  return raw.toLowerCase().slice(0, OPEN_PAINT.length).padEnd(OPEN_PAINT.length, 'f');
}

function isPainted(paint: string, row: number, col: number): boolean {
  const digit = parseInt(paint.charAt(row * DIGITS + (col >> 2)), 16);
  return ((digit >> (3 - (col & 3))) & 1) === 1; // the first key is the highest bit: read as written
}

function mayRead(choice: MaskChoice, row: number, col: number, count: number): boolean {
  const { maskKind, maskSize, maskPaint } = choice;
  switch (maskKind) {
    case 'none':
      return true;
    case 'causal':
      return col <= row;
    case 'window':
      return col <= row && col > row - maskSize;
    case 'padding':
      return col < count - maskSize;
    case 'prefix':
      return col <= row || col < maskSize;
    case 'painted':
      return isPainted(maskPaint, row, col);
  }
}

/** The mask of `count` queries and keys, row-major; 1 where a key may be read. */
export function gridMask(choice: MaskChoice, count: number): Uint8Array {
  return Uint8Array.from({ length: count * count }, (_, at) =>
    Number(mayRead(choice, Math.floor(at / count), at % count, count)),
  );
}

/** The whole grid as its digits, with one cell changed: what a mask becomes under the brush. */
export function paintCell(
  choice: MaskChoice,
  count: number,
  { row, col }: { readonly row: number; readonly col: number },
  allowed: boolean,
): string {
  const whole = gridMask(choice, GRID);
  const shown = gridMask(choice, count); // padding depends on how many tokens there are
  for (let i = 0; i < count; i++) {
    whole.set(shown.subarray(i * count, (i + 1) * count), i * GRID);
  }
  whole[row * GRID + col] = Number(allowed);
  let paint = '';
  for (let at = 0; at < whole.length; at += 4) {
    const [a, b, c, d] = whole.subarray(at, at + 4);
    paint += (a! * 8 + b! * 4 + c! * 2 + d!).toString(16);
  }
  return paint;
}
