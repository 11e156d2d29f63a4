/** How labels stand on the top axis. */
export type LabelMode = 'flat' | 'slanted' | 'upright';

export interface LayoutInput {
  /** CSS pixels there are. */
  readonly width: number;
  readonly maxHeight: number;
  readonly rows: number;
  readonly cols: number;
  /** Square cells, or as wide as possible with this height for a row. */
  readonly rowHeight: number | 'square';
  /** Widths of the labels when written flat, and heights when stacked or turned upright. */
  readonly rowLabels: readonly number[];
  readonly colLabels: readonly number[];
  readonly colUpright: readonly number[];
}

export interface Layout {
  /** The plot inside the stage, in CSS pixels. */
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Room for a label before it is cut short. */
  readonly rowRoom: number;
  readonly colRoom: number;
  readonly mode: LabelMode;
  /** Every n-th label is written. */
  readonly rowStep: number;
  readonly colStep: number;
}

const LINE = 15;
const MAX_CELL = 72;
const MIN_SLANTED_CELL = 26;
/** On narrower stages slanted labels would cost more of the plot than they are worth. */
const PHONE = 480;
const DIAGONAL = Math.SQRT1_2;

const widest = (lengths: readonly number[]) => Math.ceil(Math.max(0, ...lengths));

/** 1, 2, 4, 8, ...: the steps a reader expects on an axis of numbers. */
function stepFor(spacing: number, cell: number): number {
  return 2 ** Math.max(0, Math.ceil(Math.log2(spacing / cell)));
}

/** Wide, shallow matrices with numbers on both axes. */
function layoutStrip(input: LayoutInput, rowHeight: number): Layout {
  const rowRoom = widest(input.rowLabels);
  const colRoom = widest(input.colLabels);
  const left = rowRoom + 22; // the bracket stands in the margin
  const width = Math.max(40, Math.floor(input.width - left - 4));
  const height = Math.round(Math.min(input.maxHeight, input.rows * rowHeight));
  return {
    left,
    top: LINE + 6,
    width,
    height,
    rowRoom,
    colRoom,
    mode: 'flat',
    rowStep: stepFor(LINE, height / input.rows),
    colStep: stepFor(colRoom + 8, width / input.cols),
  };
}

/** Square cells with tokens on both axes: flat labels where they fit, slanted where there is room. */
function layoutSquare(input: LayoutInput): Layout {
  const cap = input.width < PHONE ? 76 : 128;
  const rowRoom = Math.min(cap, widest(input.rowLabels));
  const left = rowRoom + 10;
  const sideFor = (right: number, top: number) =>
    Math.floor(
      Math.max(
        40,
        Math.min(input.width - left - right, input.maxHeight - top, input.cols * MAX_CELL),
      ),
    );
  const finish = (mode: LabelMode, side: number, top: number, colRoom: number): Layout => {
    const cell = side / input.cols;
    const step = Math.ceil(LINE / cell);
    const colStep = mode === 'upright' ? step : 1;
    return { left, top, width: side, height: side, rowRoom, colRoom, mode, rowStep: step, colStep };
  };

  const flat = sideFor(2, LINE + 8);
  const flatWidth = widest(input.colLabels);
  if (flatWidth + 8 <= flat / input.cols) return finish('flat', flat, LINE + 8, flatWidth);

  const slantRoom = Math.min(cap, flatWidth);
  const slantTop = Math.ceil(slantRoom * DIAGONAL) + 16;
  const slanted = sideFor(Math.ceil(slantRoom * DIAGONAL), slantTop);
  if (input.width >= PHONE && slanted / input.cols >= MIN_SLANTED_CELL) {
    return finish('slanted', slanted, slantTop, slantRoom);
  }
  const uprightRoom = Math.min(cap, widest(input.colUpright));
  return finish('upright', sideFor(2, uprightRoom + 10), uprightRoom + 10, uprightRoom);
}

export function layoutMatrix(input: LayoutInput): Layout {
  return input.rowHeight === 'square' ? layoutSquare(input) : layoutStrip(input, input.rowHeight);
}
