import { stacked, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { coverShare } from '../shared/capacity';
import { ball, beta, ROWS, sharp } from '../shared/stability';
import type { BoundsResult } from '../worker/frame_feature';
import { CAPACITY_HEIGHT, drawCapacity, drawStability, STABILITY_HEIGHT } from './plots';

const WIDTH = 600;

/** Both charts, and the numbers of both. */
export function boundsFigure(result: BoundsResult, rows: number): Figure {
  const { capacity, stability } = result;
  const labels = { x: 'n', y: 'labelings that fit', all: 'H + 1', half: '2 (H + 1)' };
  const titles = { x: 'n', y: '|o′ − o|' };
  const { body, end } = stacked(
    [
      [CAPACITY_HEIGHT, drawCapacity(filePen, WIDTH, capacity, labels)],
      [STABILITY_HEIGHT, drawStability(filePen, WIDTH, stability, { rows, titles })],
    ],
    { top: 12 },
  );
  const { norms, random, built } = stability;
  return {
    name: 'bounds',
    svg: { width: WIDTH + 24, height: end, body },
    table: [
      [`H = ${capacity.heads}`, 'rows', 'labelings that fit', 'Cover', ''],
      ...capacity.points.map(({ share }, i) => [
        '',
        i + 1,
        share,
        coverShare(i + 1, capacity.heads),
        '',
      ]),
      ['rows', 'beta', '2 R M_o M_v', 'bound that is reached', 'built', 'random'],
      ...ROWS.map((n, i) => [
        ...[n, beta(norms, n), ball(norms), sharp(norms, n)],
        ...[built[i] ?? 0, random[i] ?? 0],
      ]),
    ],
    data: { bounds: result },
  };
}
