import type { RowScores, TemperatureStudy } from '../worker/temperature_study';
import { text } from '../../../ui/export_figure';
import { t } from '../texts';
import {
  bars,
  curve,
  leftAxis,
  linear,
  lowerAxis,
  niceTicks,
  normalDensity,
  type Pen,
} from '../../../ui/plot';
import { LEFT, RIGHT } from './plots';

export const HISTOGRAM_HEIGHT = 170;

/** The scores of the row, and the normal density with their mean and variance. */
export function drawScores(
  pen: Pen,
  width: number,
  { histogram }: TemperatureStudy,
  { scores, mean, cumulants }: RowScores,
): string {
  const box = { left: LEFT, right: width - RIGHT, top: 24, bottom: HISTOGRAM_HEIGHT - 40 };
  const variance = cumulants[2] ?? NaN;
  const end = histogram.from + histogram.width * histogram.counts.length;
  const spare = (end - histogram.from) * 0.08;
  const domain = [histogram.from - spare, end + spare] as const;
  const factor = scores.length * histogram.width;
  const density = normalDensity(domain, { mean, variance, factor });
  const normal = variance > 0 ? density.ys : [];
  const most = Math.max(...histogram.counts, ...normal);
  const x = linear(domain, [box.left, box.right]);
  const y = linear([0, most * 1.05], [box.bottom, box.top]);
  const whole = niceTicks(0, most, 3).filter(Number.isInteger);
  const ticks = niceTicks(domain[0], domain[1], width < 360 ? 4 : 6);
  return [
    text(LEFT, 14, t('temperature.scoresAxis'), pen('title')),
    bars(pen, histogram, [x, y]),
    curve(pen('density'), density.xs, normal, [x, y]),
    leftAxis(pen, box, y, whole),
    lowerAxis(pen, box, x, { ticks, labels: true }),
    text((box.left + box.right) / 2, HISTOGRAM_HEIGHT - 4, t('temperature.scoreAxis'), {
      ...pen('label'),
      'text-anchor': 'middle',
    }),
  ].join('');
}
