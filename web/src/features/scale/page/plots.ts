import { BINS, KEYS, RANGE, REACH, ROWS, WIDTHS } from '../shared/constants';
import type { Spread, WidthResult } from '../worker/frame_feature';
import { text } from '../../../ui/export_figure';
import { t } from '../texts';
import { digits } from '../../../ui/numbers';
import {
  bars,
  curve,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  niceTicks,
  normalDensity,
  shape,
  type Box,
  type Pen,
  type Scale,
} from '../../../ui/plot';

export const HISTOGRAM_HEIGHT = 280;
export const CHART_HEIGHT = 250;
const LEFT = 46;
const RIGHT = 12;

/** What the scaled scores should have: ln n - 1/2. */
export const LAW = Math.log(KEYS) - 0.5;

const boxOf = (width: number, height: number): Box => ({
  left: LEFT,
  right: Math.max(LEFT + 80, width - RIGHT),
  top: 30,
  bottom: height - 44,
});

function frame(pen: Pen, box: Box, [above, below]: readonly [string, string]): string {
  return (
    text(4, 16, above, pen('title')) +
    text((box.left + box.right) / 2, box.bottom + 38, below, {
      ...pen('label'),
      'text-anchor': 'middle',
    })
  );
}

/** The scores of one width over four standard deviations, and the density of N(0, d) or N(0, 1). */
export function drawHistogram(
  pen: Pen,
  width: number,
  result: WidthResult,
  divided: boolean,
): string {
  const box = boxOf(width, HISTOGRAM_HEIGHT);
  const deviation = divided ? 1 : Math.sqrt(result.width);
  const { counts } = divided ? result.scaled : result.plain;
  const reach = REACH * deviation;
  const bin = (2 * reach) / BINS;
  const total = ROWS * KEYS;
  const normal = { mean: 0, variance: deviation ** 2, factor: total * bin };
  const { xs, ys } = normalDensity([-reach, reach], normal);
  const x = linear([-reach, reach], [box.left, box.right]);
  const y = linear([0, Math.max(...counts, ...ys) * 1.05], [box.bottom, box.top]);
  const names = divided ? t('scale.dividedAxis') : t('scale.plainAxis');
  const most = Math.max(...counts);
  return [
    frame(pen, box, [t('scale.countAxis', { total }), names]),
    bars(pen, { from: -reach, width: bin, counts }, [x, y]),
    curve(pen('density'), xs, ys, [x, y]),
    leftAxis(pen, box, y, niceTicks(0, most, 4)),
    lowerAxis(pen, box, x, { ticks: niceTicks(-reach, reach, width < 420 ? 4 : 8), labels: true }),
  ].join('');
}

/** The axis of widths, at even distances because they double, and the chosen one as a line. */
function widthAxis(pen: Pen, box: Box, chosen: number): { x: Scale; drawn: string } {
  const x = logarithmic(RANGE, [box.left + 12, box.right - 12]);
  const narrow = box.right - box.left < 330;
  const ticks = WIDTHS.filter((_, i) => !narrow || i % 2 === 0);
  const line = shape('path', {
    ...pen('here'),
    d: `M${x(chosen).toFixed(1)} ${box.top}V${box.bottom}`,
  });
  return { x, drawn: line + lowerAxis(pen, box, x, { ticks, labels: true }) };
}

type Kind = 'plain' | 'scaled';

/** One curve over the widths with a point for each; the chosen one is larger. */
function points(
  pen: Pen,
  kind: Kind,
  [results, chosen]: readonly [readonly WidthResult[], number],
  { of, x, y }: { of: (spread: Spread) => number; x: Scale; y: Scale },
): string {
  const xs = results.map(({ width }) => width);
  const ys = results.map((result) => of(result[kind]));
  const marks = xs.map((width, i) =>
    shape('circle', {
      ...pen(`${kind}-point`),
      cx: x(width),
      cy: y(ys[i] ?? NaN),
      r: width === chosen ? 7 : 4,
    }),
  );
  return curve(pen(kind), xs, ys, [x, y]) + marks.join('');
}

/** Mean entropy before and after the division, and what the law says of it after. */
export function drawEntropies(
  pen: Pen,
  width: number,
  results: readonly WidthResult[],
  chosen: number,
): string {
  const box = boxOf(width, CHART_HEIGHT);
  const most = Math.log(KEYS);
  const y = linear([0, most * 1.08], [box.bottom, box.top]);
  const { x, drawn } = widthAxis(pen, box, chosen);
  const level = (value: number, mark: 'reference' | 'theory') =>
    shape('path', { ...pen(mark), d: `M${box.left} ${y(value).toFixed(1)}H${box.right}` });
  const of = ({ entropy }: Spread) => entropy;
  return [
    frame(pen, box, [t('scale.entropyAxis'), t('scale.widthAxis')]),
    leftAxis(pen, box, y, [0, 1, 2, 3, 4]),
    level(most, 'reference'),
    text(box.right, y(most) - 4, `ln ${KEYS} = ${digits(most, 3)}`, {
      ...pen('label'),
      'text-anchor': 'end',
    }),
    drawn,
    points(pen, 'plain', [results, chosen], { of, x, y }),
    points(pen, 'scaled', [results, chosen], { of, x, y }),
    level(LAW, 'theory'),
  ].join('');
}

/** Measured variances against d, and against 1. */
export function drawVariances(
  pen: Pen,
  width: number,
  results: readonly WidthResult[],
  chosen: number,
): string {
  const box = boxOf(width, CHART_HEIGHT);
  const y = logarithmic([0.5, 2048], [box.bottom, box.top]);
  const { x, drawn } = widthAxis(pen, box, chosen);
  const law = (value: (width: number) => number) =>
    curve(pen('theory'), WIDTHS, WIDTHS.map(value), [x, y]);
  const of = ({ variance }: Spread) => variance;
  return [
    frame(pen, box, [t('scale.varianceAxis'), t('scale.widthAxis')]),
    leftAxis(pen, box, y, [1, 4, 16, 64, 256, 1024]),
    drawn,
    points(pen, 'plain', [results, chosen], { of, x, y }),
    points(pen, 'scaled', [results, chosen], { of, x, y }),
    law((d) => d),
    law(() => 1),
    text(x(256) - 10, y(256) - 12, t('scale.varianceLaw'), {
      ...pen('label'),
      'text-anchor': 'end',
    }),
  ].join('');
}
