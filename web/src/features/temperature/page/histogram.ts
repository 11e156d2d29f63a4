import type { RowScores, TemperatureStudy } from '../worker/temperature_study';
import { Chart } from '../../../ui/chart';
import { text } from '../../../ui/export_figure';
import { niceTicks, normalDensity, type Pen } from '../../../ui/plot';
import { t } from '../feature';
import { LEFT, RIGHT } from './plots';

export const HISTOGRAM_HEIGHT = 170;

/** The scores of the row, and the normal density with their mean and variance. */
export function drawScores(
  pen: Pen,
  width: number,
  { histogram }: TemperatureStudy,
  { scores, mean, cumulants }: RowScores,
): string {
  const variance = cumulants[2] ?? NaN;
  const end = histogram.from + histogram.width * histogram.counts.length;
  const spare = (end - histogram.from) * 0.08;
  const domain = [histogram.from - spare, end + spare] as const;
  const factor = scores.length * histogram.width;
  const density = normalDensity(domain, { mean, variance, factor });
  const normal = variance > 0 ? density.ys : [];
  const most = Math.max(...histogram.counts, ...normal);
  const layout = { width, height: HISTOGRAM_HEIGHT, left: LEFT, right: RIGHT, top: 24, bottom: 40 };
  const chart = new Chart(pen, layout, {
    x: { domain, ticks: niceTicks(domain[0], domain[1], width < 360 ? 4 : 6) },
    y: { domain: [0, most * 1.05], ticks: niceTicks(0, most, 3).filter(Number.isInteger) },
  });
  const middle = (chart.box.left + chart.box.right) / 2;
  return [
    text(LEFT, 14, t('temperature.scoresAxis'), pen('title')),
    chart.bars(histogram),
    chart.curve('density', density.xs, normal),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.label(middle, HISTOGRAM_HEIGHT - 4, t('temperature.scoreAxis'), 'middle'),
  ].join('');
}
