// Where everything stands in the picture of a pass: tokens are columns, what is added to their streams are rows, the first at the bottom.

/** A column is at most so wide, and its token is written along it where it is narrower than the token. */
const WIDEST = 52;
const LETTER = 8;
const LONGEST = 90;
/** A token is written in every column of this width. */
const READABLE = 13;
const LEFT = 8;
const GAP = 18;

/** The heights of rows: those that can be opened share `ROOM` as long as they stay between the limits. */
const ROOM = 400;
const ROW: readonly [number, number] = [56, 88];

export interface PassLayout {
  readonly width: number;
  readonly height: number;
  /** The middle of a column, and its width. */
  readonly x: (at: number) => number;
  readonly column: number;
  /** Where the description of rows begins, and its width. */
  readonly side: number;
  readonly sideWidth: number;
  /** The upper edge of a row, counted from the bottom, and the height of one. */
  readonly top: (row: number) => number;
  readonly row: number;
  /** The upper edge of what is below all rows, and of the tokens. */
  readonly base: number;
  readonly tokens: number;
  /** Whether tokens are written from below, and every n-th of them. */
  readonly isUpright: boolean;
  readonly step: number;
}

interface Size {
  readonly width: number;
  readonly labels: readonly string[];
  readonly rows: number;
  /** Height above the rows, and of the foot below them. */
  readonly head: number;
  readonly foot: number;
}

export function passLayout({ width, labels, rows, head, foot }: Size): PassLayout {
  const sideWidth = width >= 600 ? 250 : 132;
  const count = Math.max(1, labels.length);
  const column = Math.max(2, Math.min(WIDEST, (width - LEFT - GAP - sideWidth) / count));
  const longest = Math.max(1, ...labels.map((label) => label.length)) * LETTER;
  const isUpright = longest > column;
  const band = isUpright ? Math.min(LONGEST, longest) + 12 : 26;
  const row = Math.max(ROW[0], Math.min(ROW[1], ROOM / rows));
  const base = head + rows * row;
  return {
    width,
    height: Math.ceil(base + foot + band),
    x: (at) => LEFT + (at + 0.5) * column,
    column,
    side: LEFT + count * column + GAP,
    sideWidth,
    top: (index) => head + (rows - 1 - index) * row,
    row,
    base,
    tokens: base + foot,
    isUpright,
    step: Math.ceil(READABLE / column),
  };
}

/** The way of an arc from the lower end of one column up into the middle of another. */
export function arcBetween(
  from: number,
  to: number,
  [low, high]: readonly [number, number],
): string {
  const bend = low + 0.55 * (high - low);
  return `M${from.toFixed(1)} ${low.toFixed(1)}C${from.toFixed(1)} ${bend.toFixed(1)} ${to.toFixed(1)} ${bend.toFixed(1)} ${to.toFixed(1)} ${high.toFixed(1)}`;
}

/** The width of a stream or an arc whose share of the largest is this, in pixels. */
export const thickness = (share: number): number => Number((0.75 + 6.25 * share).toFixed(2));
