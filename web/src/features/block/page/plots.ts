import { text } from '../../../ui/export_figure';
import { digits } from '../../../ui/numbers';
import {
  curve,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  niceTicks,
  shape,
  type Box,
  type Mark,
  type Pen,
  type Scale,
} from '../../../ui/plot';
import type { Band, DepthResult } from '../worker/depth_study';
import { NORM_PLACES, type NormPlace } from '../shared/constants';
import { t } from '../texts';

export const DEPTH_HEIGHT = 260;
/** Curves have the marks that plots have already: pre-norm the solid one, post-norm the dashed one. */
export const MARKS: Readonly<Record<NormPlace, 'scaled' | 'plain'>> = {
  pre: 'scaled',
  post: 'plain',
};

/** The area between the least and the greatest; in a file it has the colours of the curves. */
export type AreaPen = (place: NormPlace) => Readonly<Record<string, string | number>>;
export const pageArea: AreaPen = (place) => ({ class: `block-band ${place}` });
export const fileArea: AreaPen = (place) => ({
  fill: place === 'pre' ? '#0072b2' : '#d55e00',
  'fill-opacity': 0.15,
});

export interface Pens {
  readonly pen: Pen;
  readonly area: AreaPen;
}

const boxOf = (width: number): Box => ({
  left: 46,
  right: Math.max(126, width - 12),
  top: 30,
  bottom: DEPTH_HEIGHT - 44,
});

function areaOf({ low, high }: Band, [x, y]: readonly [Scale, Scale]): string {
  const at = (value: number, l: number) => `${x(l).toFixed(1)} ${y(value).toFixed(1)}`;
  const above = high.map(at);
  const below = low.map(at).reverse();
  return `M${[...above, ...below].join('L')}Z`;
}

/** 1, 2 and 5 times powers of ten. */
function logTicks(low: number, high: number): number[] {
  const first = Math.floor(Math.log10(low));
  const powers = Array.from(
    { length: Math.ceil(Math.log10(high)) - first + 1 },
    (_, i) => first + i,
  );
  const all = powers.flatMap((power) =>
    [1, 2, 5].map((k) => Number((k * 10 ** power).toPrecision(3))),
  );
  const inside = all.filter((tick) => tick >= low && tick <= high);
  return inside.length > 7 ? inside.filter((tick) => /^[0.]*1[0.]*$/.test(String(tick))) : inside;
}

/** One quantity along the stack, for both places of the norm; on a logarithmic scale. */
function drawCurves(
  { pen, area }: Pens,
  width: number,
  bands: Readonly<Record<NormPlace, Band>>,
  title: string,
): string {
  const box = boxOf(width);
  const all = NORM_PLACES.flatMap((place) => [...bands[place].low, ...bands[place].high]);
  const depth = bands.pre.middle.length - 1;
  const [low, high] = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const y = logarithmic([low, high], [box.bottom, box.top]);
  const x = linear([0, depth], [box.left + 12, box.right - 12]);
  const steps = Array.from({ length: depth + 1 }, (_, l) => l);
  const drawn = NORM_PLACES.map((place) => {
    const { middle } = bands[place];
    const points = middle.map((value, l) =>
      shape('circle', { ...pen(`${MARKS[place]}-point`), cx: x(l), cy: y(value), r: 2.5 }),
    );
    return curve(pen(MARKS[place]), steps, middle, [x, y]) + (depth <= 24 ? points.join('') : '');
  });
  const areas = NORM_PLACES.map((place) =>
    shape('path', { ...area(place), d: areaOf(bands[place], [x, y]) }),
  );
  const ticks = niceTicks(0, depth, Math.min(depth, 6)).filter(Number.isInteger);
  const style = { ...pen('label' satisfies Mark), 'text-anchor': 'middle' };
  return [
    text(4, 16, title, pen('title')),
    text((box.left + box.right) / 2, box.bottom + 38, t('block.depthAxis'), style),
    ...areas,
    leftAxis(pen, box, y, logTicks(low, high)),
    lowerAxis(pen, box, x, { ticks, labels: true }),
    ...drawn,
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
