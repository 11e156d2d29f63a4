/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index here is in range by its loop */
import { MAX_MATRIX } from '../../../domain/layer';
import type { Tensors } from '../../../worker/protocol';
import { cividis } from '../../../domain/cividis';
import { palette } from '../../../ui/matrix/palette';
import { isAllowed } from '../../../ui/numbers';
import { arcLayout, arcPath, arcsOf } from './arcs_part';
import { headName, provenance } from './head_names';
import type { View } from '../../../ui/panel';
import { colourIndex, isSigned } from '../../../domain/colour_scale';
import { raster, text, type Figure, type Svg } from '../../../ui/export_figure';

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

function drawArcs(view: View, title: string): Svg {
  const frame = view.frame!;
  const { tokens } = frame.request.layer;
  const layout = arcLayout(640, tokens.length);
  const parts = [text(8, 20, title, { 'font-weight': 700 })];
  for (const arc of arcsOf(frame)) {
    const look = `stroke-width="${0.5 + 5 * arc.weight}" stroke-opacity="${0.15 + 0.85 * arc.weight}"`;
    parts.push(`<path d="${arcPath(layout, arc)}" fill="none" stroke="#0072b2" ${look}/>`);
  }
  tokens.forEach((token, i) => {
    if (i % layout.step !== 0) return;
    const y = layout.y(i) + 4;
    parts.push(text(layout.left - 8, y, token, { 'text-anchor': 'end' }));
    parts.push(text(layout.right + 8, y, token));
  });
  return { width: layout.width, height: layout.height, body: parts.join('') };
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

/** What is in the tensors for JSON. */
export const dataOf = ({ request: { layer, view }, heads }: Tensors) => ({
  ...{ tokens: layer.tokens, layer, view, heads },
});

export function mapFigure(view: View, tensors: Tensors, canvas: HTMLCanvasElement): Figure {
  const { request, heads } = tensors;
  const { tokens, mask, source, seed } = request.layer;
  const { head, other, show } = request.view;
  const of = (index: number) => {
    const found = heads.find((each) => each.head === index)!; // those that are shown are always among them
    return show === 'scores' ? found.scores : found.weights;
  };
  const values = other === null ? of(head) : of(head).map((value, i) => value - of(other)[i]!);
  const kind = other === null ? show : 'difference';
  const names = [head, ...(other === null ? [] : [other])].map((index) =>
    headName(request.layer, index),
  );
  const title = `${names.join(' − ')} · τ ${request.layer.temperature} · ${provenance(source, seed)}`;
  const allowed = (row: number, col: number) => isAllowed(mask, row, col, tokens.length);
  const matrix = { tokens, values, allowed, colour: colours(kind, view.frame?.range ?? 1) };
  const count = tokens.length;
  return {
    name: 'map',
    svg: view.state.look === 'arcs' ? drawArcs(view, title) : drawMap(matrix, canvas, title),
    table: [
      ['', ...tokens],
      ...tokens.map((token, row) => [token, ...values.subarray(row * count, (row + 1) * count)]),
    ],
    data: dataOf(tensors),
  };
}
