import { BINS, KEYS, RANGE, REACH, ROWS, WIDTHS } from '../shared/constants';
import type { Spread, WidthResult } from '../worker/frame_feature';
import { t } from '../feature';
import { Chart, type Axis } from '../../../ui/chart';
import { digits } from '../../../ui/numbers';
import { niceTicks, normalDensity, type Pen } from '../../../ui/plot';

export const HISTOGRAM_HEIGHT = 280;
export const CHART_HEIGHT = 250;
const SIDES = { left: 46, right: 12 };

/** What the scaled scores should have: ln n - 1/2. */
export const LAW = Math.log(KEYS) - 0.5;

/** The scores of one width over four standard deviations, and the density of N(0, d) or N(0, 1). */
export function drawHistogram(
  pen: Pen,
  width: number,
  result: WidthResult,
  divided: boolean,
): string {
  const deviation = divided ? 1 : Math.sqrt(result.width);
  const { counts } = divided ? result.scaled : result.plain;
  const reach = REACH * deviation;
  const bin = (2 * reach) / BINS;
  const total = ROWS * KEYS;
  const normal = { mean: 0, variance: deviation ** 2, factor: total * bin };
  const { xs, ys } = normalDensity([-reach, reach], normal);
  const layout = { width, height: HISTOGRAM_HEIGHT, ...SIDES };
  const chart = new Chart(pen, layout, {
    x: {
      domain: [-reach, reach],
      ticks: niceTicks(-reach, reach, width < 420 ? 4 : 8),
      title: divided ? t('scale.dividedAxis') : t('scale.plainAxis'),
    },
    y: {
      domain: [0, Math.max(...counts, ...ys) * 1.05],
      ticks: niceTicks(0, Math.max(...counts), 4),
      title: t('scale.countAxis', { total }),
    },
  });
  return [
    chart.titles(),
    chart.bars({ from: -reach, width: bin, counts }),
    chart.curve('density', xs, ys),
    chart.leftAxis(),
    chart.lowerAxis(),
  ].join('');
}

/** A chart over the widths, which stand at even distances because they double. */
function chartOfWidths(pen: Pen, width: number, y: Axis): Chart {
  const layout = { width, height: CHART_HEIGHT, ...SIDES };
  const narrow = width - SIDES.left - SIDES.right < 330;
  const ticks = WIDTHS.filter((_, i) => !narrow || i % 2 === 0);
  const x: Axis = { domain: RANGE, log: true, inset: [12, 12], ticks, title: t('scale.widthAxis') };
  return new Chart(pen, layout, { x, y });
}

/** Both curves over the widths with a point for each; the chosen one is larger. */
function curvesOf(
  chart: Chart,
  results: readonly WidthResult[],
  chosen: number,
  of: (spread: Spread) => number,
): string[] {
  const xs = results.map(({ width }) => width);
  return (['plain', 'scaled'] as const).map((kind) => {
    const ys = results.map((result) => of(result[kind]));
    const radius = (i: number) => (xs[i] === chosen ? 7 : 4);
    return chart.curve(kind, xs, ys) + chart.dots(`${kind}-point`, xs, ys, radius);
  });
}

/** Mean entropy before and after the division, and what the law says of it after. */
export function drawEntropies(
  pen: Pen,
  width: number,
  results: readonly WidthResult[],
  chosen: number,
): string {
  const most = Math.log(KEYS);
  const y = {
    domain: [0, most * 1.08],
    ticks: [0, 1, 2, 3, 4],
    title: t('scale.entropyAxis'),
  } as const;
  const chart = chartOfWidths(pen, width, y);
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.across('reference', most),
    chart.label(chart.box.right, chart.y(most) - 4, `ln ${KEYS} = ${digits(most, 3)}`, 'end'),
    chart.upright('here', chosen),
    chart.lowerAxis(),
    ...curvesOf(chart, results, chosen, ({ entropy }) => entropy),
    chart.across('theory', LAW),
  ].join('');
}

/** Measured variances against d, and against 1. */
export function drawVariances(
  pen: Pen,
  width: number,
  results: readonly WidthResult[],
  chosen: number,
): string {
  const ticks = [1, 4, 16, 64, 256, 1024];
  const title = t('scale.varianceAxis');
  const chart = chartOfWidths(pen, width, { domain: [0.5, 2048], log: true, ticks, title });
  const law = (value: (width: number) => number) =>
    chart.curve('theory', WIDTHS, WIDTHS.map(value));
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.upright('here', chosen),
    chart.lowerAxis(),
    ...curvesOf(chart, results, chosen, ({ variance }) => variance),
    law((d) => d),
    law(() => 1),
    chart.label(chart.x(256) - 10, chart.y(256) - 12, t('scale.varianceLaw'), 'end'),
  ].join('');
}
