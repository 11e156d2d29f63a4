import { stacked, type Figure } from '../../../ui/export_figure';
import { filePen, shape } from '../../../ui/plot';
import { objective, slopes, type Weights } from '../shared/objective';
import type { SimplexResult } from '../worker/frame_feature';
import { drawSlopes, SLOPES_HEIGHT } from './slope_plot';
import { drawTriangle, HEIGHT, Triangle } from './triangle';

const WIDTH = 480;
const NAMES = ['p1', 'p2', 'p3'];

/** The triangle with the reader's point, the slopes, and a row for each key. */
export function simplexFigure(result: SimplexResult, p: Weights): Figure {
  const { scores, temperature, best, value } = result;
  const found = slopes(p, scores, temperature);
  const [cx, cy] = new Triangle(WIDTH).spot(p);
  const dot = shape('circle', { ...filePen('dot'), cx, cy, r: 7 });
  const hill = drawTriangle(filePen, WIDTH, result, { names: NAMES, title: 'J(p) = p·s + τ H(p)' });
  const marks = { slopes: found, lambda: value - temperature };
  const line = drawSlopes(filePen, WIDTH, marks, { names: NAMES, title: 's − τ (1 + ln p)' });
  const { body, end } = stacked([
    [HEIGHT, hill + dot],
    [SLOPES_HEIGHT, line],
  ]);
  return {
    name: 'simplex',
    svg: { width: WIDTH + 24, height: end, body },
    table: [
      ['key', 's', 'p', 's - tau (1 + ln p)', 'softmax'],
      ...scores.map((s, i) => [i + 1, s, p[i] ?? 0, found[i] ?? 0, best[i] ?? 0]),
    ],
    data: { simplex: { ...result, p, objective: objective(p, scores, temperature) } },
  };
}
