import type { Tensors } from '../../../worker/protocol';
import { isAllowed } from '../../../domain/rows';
import { arcLayout, arcPath, arcsOf } from './arcs_part';
import { headName, provenance } from '../../head_names';
import type { View } from '../../panel';
import { text, type Figure, type Svg } from '../../../ui/export_figure';
import { colours, drawMap } from '../../../ui/heatmap_svg';

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
