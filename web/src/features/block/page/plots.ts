import { Chart, logTicks } from '../../../ui/chart';
import { digits } from '../../../ui/numbers';
import { niceTicks, type Attributes, type Pen } from '../../../ui/plot';
import type { Band, DepthResult } from '../shared/protocol';
import { NORM_PLACES, type NormPlace } from '../shared/constants';
import { t } from '../feature';

export const DEPTH_HEIGHT = 260;
/** Curves have the marks that plots have already: pre-norm the solid one, post-norm the dashed one. */
export const MARKS: Readonly<Record<NormPlace, 'scaled' | 'plain'>> = {
  pre: 'scaled',
  post: 'plain',
};

/** The area between the least and the greatest; in a file it has the colours of the curves. */
export type AreaPen = (place: NormPlace) => Attributes;
export const pageArea: AreaPen = (place) => ({ class: `block-band ${place}` });
export const fileArea: AreaPen = (place) => ({
  fill: place === 'pre' ? '#0072b2' : '#d55e00',
  'fill-opacity': 0.15,
});

export interface Pens {
  readonly pen: Pen;
  readonly area: AreaPen;
}

/** One quantity along the stack, for both places of the norm; on a logarithmic scale. */
function drawCurves(
  { pen, area }: Pens,
  width: number,
  bands: Readonly<Record<NormPlace, Band>>,
  title: string,
): string {
  const all = NORM_PLACES.flatMap((place) => [...bands[place].low, ...bands[place].high]);
  const depth = bands.pre.middle.length - 1;
  const [low, high] = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const ticks = niceTicks(0, depth, Math.min(depth, 6)).filter(Number.isInteger);
  const layout = { width, height: DEPTH_HEIGHT, left: 46, right: 12 };
  const chart = new Chart(pen, layout, {
    x: { domain: [0, depth], inset: [12, 12], ticks, title: t('block.depthAxis') },
    y: { domain: [low, high], log: true, ticks: logTicks(low, high), title },
  });
  const steps = bands.pre.middle.map((_, l) => l);
  const curves = NORM_PLACES.map((place) => {
    const { middle } = bands[place];
    const dots = depth <= 24 ? chart.dots(`${MARKS[place]}-point`, steps, middle, 2.5) : '';
    return chart.curve(MARKS[place], steps, middle) + dots;
  });
  return [
    chart.titles(),
    ...NORM_PLACES.map((place) =>
      chart.band(area(place), steps, bands[place].low, bands[place].high),
    ),
    chart.leftAxis(),
    chart.lowerAxis(),
    ...curves,
  ].join('');
}

const bandsOf = ({ curves }: DepthResult, what: 'stream' | 'gradient') => ({
  pre: curves.pre[what],
  post: curves.post[what],
});

export const drawStream = (pens: Pens, width: number, result: DepthResult) =>
  drawCurves(pens, width, bandsOf(result, 'stream'), t('block.streamAxis'));

export const drawGradient = (pens: Pens, width: number, result: DepthResult) =>
  drawCurves(pens, width, bandsOf(result, 'gradient'), t('block.gradientAxis'));

/** The first and the last of a curve, and what the stacks range over at its first point. */
export function endsOf({ middle, low, high }: Band) {
  return {
    first: digits(middle[0] ?? NaN, 3),
    last: digits(middle.at(-1) ?? NaN, 3),
    low: digits(low[0] ?? NaN, 3),
    high: digits(high[0] ?? NaN, 3),
  };
}
