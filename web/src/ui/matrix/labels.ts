import { context2d } from '../dom';
import { graphemes } from '../../domain/tokenizer';
import type { Layout } from './layout';
import { palette } from './palette';

const LABEL_SIZE = 13;
const LINE = LABEL_SIZE + 1;
const CJK =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303F\uFF00-\uFFEF]+$/u;

export interface LabelSet {
  readonly rowLabels: readonly string[];
  readonly colLabels: readonly string[];
  /** The labels written bold, and always, wherever the step would leave them out. */
  readonly active: { readonly row: number; readonly col: number } | null;
  /** Rows marked by a bracket in the margin: [first, end). */
  readonly bracket: readonly [first: number, end: number] | null;
}

const fontOf = (bold: boolean) => `${bold ? 700 : 400} ${LABEL_SIZE}px ${palette().font}`;

const ruler = context2d(document.createElement('canvas'));
const lengths = new Map<string, number>();

/** The width of a label in bold, so that it still fits when it is the active one. */
export function flatLength(label: string): number {
  const known = lengths.get(label);
  if (known !== undefined) return known;
  if (lengths.size > 4096) lengths.clear();
  ruler.font = fontOf(true);
  const { width } = ruler.measureText(label);
  lengths.set(label, width);
  return width;
}

/** The height of a label on a narrow column: CJK is stacked as in vertical writing, the rest turned. */
export function uprightLength(label: string): number {
  return CJK.test(label) ? graphemes(label).length * LINE : flatLength(label);
}

function ellipsize(context: CanvasRenderingContext2D, label: string, room: number): string {
  if (context.measureText(label).width <= room + 0.5) return label;
  const characters = graphemes(label);
  const cut = (count: number) => `${characters.slice(0, count).join('')}…`;
  let count = Math.max(1, characters.length - 1);
  while (count > 1 && context.measureText(cut(count)).width > room) count--;
  return cut(count);
}

function drawStacked(context: CanvasRenderingContext2D, label: string, room: number): void {
  const characters = graphemes(label);
  const fit = Math.max(1, Math.floor((room + 0.5) / LINE));
  const shown = characters.length <= fit ? characters : [...characters.slice(0, fit - 1), '⋮'];
  context.textAlign = 'center';
  shown.forEach((character, i) => context.fillText(character, 0, (i - shown.length + 1) * LINE));
}

/** One label of the top axis, written from the point where its column begins. */
function drawColumn(context: CanvasRenderingContext2D, label: string, layout: Layout): void {
  context.textBaseline = 'alphabetic';
  if (layout.mode === 'flat') {
    context.textAlign = 'center';
    context.fillText(label, 0, 0);
  } else if (layout.mode === 'upright' && CJK.test(label)) {
    drawStacked(context, label, layout.colRoom);
  } else {
    const upright = layout.mode === 'upright';
    context.rotate(upright ? -Math.PI / 2 : -Math.PI / 4);
    context.textAlign = 'left';
    context.fillText(ellipsize(context, label, layout.colRoom), 0, upright ? LABEL_SIZE / 3 : 0);
  }
}

/** A label is written on its step, and given up when the active one needs its place. */
function written(index: number, step: number, active: number | undefined): boolean {
  if (index === active) return true;
  return index % step === 0 && (active === undefined || Math.abs(index - active) >= step);
}

function drawBracket(
  context: CanvasRenderingContext2D,
  layout: Layout,
  [first, end]: readonly [number, number],
  rows: number,
): void {
  const cell = layout.height / rows;
  const top = layout.top + first * cell + 1;
  const bottom = layout.top + end * cell - 1;
  context.strokeStyle = palette().bracket;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(8, top);
  context.lineTo(3, top);
  context.lineTo(3, bottom);
  context.lineTo(8, bottom);
  context.stroke();
}

function drawRows(
  context: CanvasRenderingContext2D,
  layout: Layout,
  { rowLabels, active }: LabelSet,
  drawActive: boolean,
): void {
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const cell = layout.height / rowLabels.length;
  rowLabels.forEach((label, row) => {
    if ((row === active?.row) !== drawActive) return;
    if (!written(row, layout.rowStep, active?.row)) return;
    const text = ellipsize(context, label, layout.rowRoom);
    context.fillText(text, layout.left - 7, layout.top + (row + 0.5) * cell);
  });
}

function drawColumns(
  context: CanvasRenderingContext2D,
  layout: Layout,
  { colLabels, active }: LabelSet,
  drawActive: boolean,
): void {
  const cell = layout.width / colLabels.length;
  colLabels.forEach((label, col) => {
    if ((col === active?.col) !== drawActive) return;
    if (!written(col, layout.colStep, active?.col)) return;
    context.save();
    context.translate(layout.left + (col + 0.5) * cell, layout.top - 7);
    drawColumn(context, label, layout);
    context.restore();
  });
}

/** Gives the canvas `width` x `height` CSS pixels at device resolution. */
function sizeCanvas(canvas: HTMLCanvasElement, width: number, height: number): void {
  const [w, h] = [Math.round(width * devicePixelRatio), Math.round(height * devicePixelRatio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${w / devicePixelRatio}px`;
  canvas.style.height = `${h / devicePixelRatio}px`;
}

/** Draws both axes around the plot; the canvas covers the whole stage. */
export function drawLabels(
  canvas: HTMLCanvasElement,
  stage: { width: number; height: number },
  layout: Layout,
  set: LabelSet,
): void {
  sizeCanvas(canvas, stage.width, stage.height);
  const context = context2d(canvas);
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  context.clearRect(0, 0, stage.width, stage.height);
  // The active labels come last, so that the font is set twice and not for every label: setting it
  // makes the browser bring the styles of the whole page up to date.
  for (const active of [false, true]) {
    context.font = fontOf(active);
    context.fillStyle = active ? palette().ink : palette().inkSoft;
    drawRows(context, layout, set, active);
    drawColumns(context, layout, set, active);
  }
  if (set.bracket) drawBracket(context, layout, set.bracket, set.rowLabels.length);
}
