import { type Svg, text, raster } from './export_figure';
import { MAX_MATRIX } from '../domain/layer';
import { cividis } from '../domain/cividis';
import { colourIndex, isSigned } from '../domain/colour_scale';
import { palette } from './matrix/palette';

export interface Matrix {
  readonly tokens: readonly string[];
  readonly values: Float32Array;
  readonly allowed: (row: number, col: number) => boolean;
  readonly colour: (value: number) => string;
}

const MARGIN = 110;
function cell(matrix: Matrix, row: number, col: number, side: number): string {
  const at = `x="${MARGIN + col * side}" y="${MARGIN + row * side}" width="${side}" height="${side}"`;
  if (!matrix.allowed(row, col)) return `<rect ${at} fill="url(#masked)"/>`;
  return `<rect ${at} fill="${matrix.colour(matrix.values[row * matrix.tokens.length + col]!)}"/>`;
}

const hatching =
  '<defs><pattern id="masked" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">' +
  '<path d="M0 0V6" stroke="#bbbbbb"/></pattern></defs>';
export function drawMap(matrix: Matrix, canvas: HTMLCanvasElement, title: string): Svg {
  const { tokens } = matrix;
  const count = tokens.length;
  const side = Math.max(1, Math.min(36, Math.floor(640 / count)));
  const plot = count * side;
  const parts = [text(8, 20, title, { 'font-weight': 700 }), hatching];
  if (count <= MAX_MATRIX) {
    for (let i = 0; i < count * count; i++) {
      parts.push(cell(matrix, Math.floor(i / count), i % count, side));
    }
  } else {
    parts.push(raster(canvas, [MARGIN, MARGIN, plot, plot]));
  }
  const step = Math.ceil(14 / side);
  tokens.forEach((token, i) => {
    if (i % step !== 0) return;
    const middle = MARGIN + (i + 0.5) * side;
    parts.push(text(MARGIN - 8, middle + 4, token.slice(0, 14), { 'text-anchor': 'end' }));
    const turn = `rotate(-90 ${middle + 4} ${MARGIN - 8})`;
    parts.push(text(middle + 4, MARGIN - 8, token.slice(0, 10), { transform: turn }));
  });
  return { width: MARGIN + plot + 24, height: MARGIN + plot + 24, body: parts.join('') };
}

export function colours(show: Parameters<typeof colourIndex>[0], range: number) {
  const place = colourIndex(show, range);
  const ramp = isSigned(show) ? palette().diverging : cividis;
  return (value: number) => {
    if (Number.isNaN(value)) return '#ff00ff'; // as on the page
    const at = place(value) * 4;
    const hex = (c: number) => ramp[at + c]!.toString(16).padStart(2, '0');
    return `#${hex(0)}${hex(1)}${hex(2)}`;
  };
}
