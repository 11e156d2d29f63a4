import type { RowSteps } from '../worker/frame_feature';
import { WIDTH } from '../../../domain/number_sets';
import { four } from '../../../ui/numbers';
import { text, type Figure } from '../../../ui/export_figure';

const COLUMN = 110;
const LINE = 44;
const LABEL = 130;

/** The steps as rows of numbers with bars under them. */
export function rowFigure(steps: RowSteps): Figure {
  const { request, products, scaled, masked, exps, naive, weights, output } = steps;
  const { q, k, v } = request.numbers;
  const count = products.length;
  const at = Math.min(request.query, count - 1) * WIDTH;
  const given = request.subtractMax ? weights : naive;
  const rows: [string, ArrayLike<number>][] = [
    ['q·k', products],
    ['× scale', scaled],
    ['+ mask', masked],
    ['exp', exps],
    ['weight', given],
  ];
  const body = rows.flatMap(([name, values], i) => {
    const y = 64 + i * LINE;
    const most = Math.max(...Array.from(values, Math.abs).filter(Number.isFinite), 1e-30);
    const cells = Array.from(values, (value, j) => {
      const x = LABEL + j * COLUMN;
      const width = Number.isFinite(value) ? (Math.abs(value) / most) * (COLUMN - 24) : COLUMN - 24;
      const colour = Number.isFinite(value) ? (value < 0 ? '#d55e00' : '#0072b2') : '#ff00ff';
      return `${text(x, y, four(value))}<rect x="${x}" y="${y + 6}" width="${width}" height="8" fill="${colour}"/>`;
    });
    return [text(16, y, name, { 'font-weight': 700 }), ...cells];
  });
  const end = 64 + rows.length * LINE;
  const shown = request.subtractMax ? output : steps.naiveOutput;
  body.push(text(16, end, `o = (${Array.from(shown, four).join(', ')})`, { 'font-weight': 700 }));
  body.unshift(text(16, 28, `q = (${q.slice(at, at + WIDTH).join(', ')})`, { 'font-weight': 700 }));
  const pairs = (of: readonly number[]) =>
    Array.from({ length: count }, (_, j) => of.slice(j * WIDTH, (j + 1) * WIDTH).join(' '));
  return {
    name: 'row',
    svg: { width: LABEL + count * COLUMN + 16, height: end + 28, body: body.join('') },
    table: [
      ['step', ...Array.from({ length: count }, (_, j) => `key ${j + 1}`)],
      ['k', ...pairs(k)],
      ...rows.map(([name, values]) => [name, ...Array.from(values)]),
      ['v', ...pairs(v)],
      ['output', ...Array.from(shown)],
    ],
    data: { row: steps },
  };
}
