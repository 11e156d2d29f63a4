import { text } from './export_figure';

/** What is drawn, by what it means. */
export type Mark =
  | 'axis'
  | 'label'
  | 'region'
  | 'title'
  | 'reference'
  | 'measured'
  | 'theory'
  | 'theory-outside'
  | 'weight'
  | 'gradient'
  | 'collapse'
  | 'critical'
  | 'here'
  | 'dot'
  | 'bar'
  | 'density'
  | 'plain'
  | 'plain-point'
  | 'scaled'
  | 'scaled-point';

export type Attributes = Readonly<Record<string, string | number>>;

/** How a mark is drawn: on the page by a class, in a file by colours of its own. */
export type Pen = (mark: Mark) => Attributes;
export const pagePen: Pen = (mark) => ({ class: `plot-${mark}` });

const line = (stroke: string, width: number, dashes = ''): Attributes => ({
  fill: 'none',
  stroke,
  'stroke-width': width,
  ...(dashes && { 'stroke-dasharray': dashes }),
});

const IN_FILE: Readonly<Record<Mark, Attributes>> = {
  axis: line('#85837b', 1),
  label: { fill: '#5a5e64', 'font-size': 12 },
  region: { fill: '#5a5e64', 'font-size': 12 },
  title: { fill: '#1d1f22', 'font-weight': 600 },
  reference: line('#85837b', 1, '2 4'),
  measured: line('#0072b2', 3),
  theory: line('#1d1f22', 2, '7 5'),
  'theory-outside': line('#1d1f22', 1.5, '1.5 5'),
  weight: line('#d55e00', 2.5),
  gradient: line('#973a6b', 2.5),
  collapse: { fill: '#e4e0d6' },
  critical: line('#7a5400', 2, '10 3 2 3'),
  here: line('#1d1f22', 1),
  dot: { fill: '#1d1f22', stroke: '#ffffff', 'stroke-width': 2 },
  bar: { fill: '#0072b2' },
  density: line('#1d1f22', 2, '7 5'),
  plain: line('#d55e00', 2.5, '9 4'),
  'plain-point': { fill: '#ffffff', stroke: '#d55e00', 'stroke-width': 2.5 },
  scaled: line('#0072b2', 2.5),
  'scaled-point': { fill: '#0072b2', stroke: '#0072b2', 'stroke-width': 2 },
};
export const filePen: Pen = (mark) => IN_FILE[mark];

export function shape(name: string, attributes: Attributes): string {
  const written = Object.entries(attributes).map(([key, value]) => {
    return ` ${key}="${typeof value === 'number' ? Number(value.toFixed(2)) : value}"`;
  });
  return `<${name}${written.join('')}/>`;
}

// ---- scales ----

export type Scale = (value: number) => number;

export function linear(
  [from, to]: readonly [number, number],
  [a, b]: readonly [number, number],
): Scale {
  return (value) => a + ((value - from) / (to - from)) * (b - a);
}

export function logarithmic(
  domain: readonly [number, number],
  range: readonly [number, number],
): Scale {
  const inner = linear([Math.log(domain[0]), Math.log(domain[1])], range);
  return (value) => inner(Math.log(value));
}

/** Round numbers from `low` to `high`, about `count` of them. */
export function niceTicks(low: number, high: number, count: number): number[] {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(9)),
  );
}

const tickText = (value: number) => String(value).replace('-', '−');

// ---- what plots are made of ----

/** A curve through the points whose y is a number. */
export function curve(
  pen: Attributes,
  xs: ArrayLike<number>,
  ys: ArrayLike<number>,
  [x, y]: readonly [Scale, Scale],
): string {
  let drawn = '';
  let begun = false;
  for (let i = 0; i < xs.length; i++) {
    const value = ys[i] ?? NaN;
    if (Number.isFinite(value)) {
      drawn += `${begun ? 'L' : 'M'}${x(xs[i] ?? NaN).toFixed(1)} ${y(value).toFixed(1)}`;
    }
    begun = Number.isFinite(value);
  }
  return drawn ? shape('path', { ...pen, d: drawn }) : '';
}

/** Where a plot stands in its drawing. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The left edge of a plot with its numbers. */
export function leftAxis(
  pen: Pen,
  { left, top, bottom }: Box,
  y: Scale,
  ticks: readonly number[],
  write = tickText,
): string {
  const marks = ticks.map((tick) => {
    const at = y(tick);
    return (
      shape('path', { ...pen('axis'), d: `M${left - 4} ${at.toFixed(1)}H${left}` }) +
      text(left - 7, Number((at + 4).toFixed(1)), write(tick), {
        ...pen('label'),
        'text-anchor': 'end',
      })
    );
  });
  return shape('path', { ...pen('axis'), d: `M${left} ${top}V${bottom}` }) + marks.join('');
}

/** The lower edge of a plot; numbers where `labels` is set. */
export function lowerAxis(
  pen: Pen,
  { left, right, bottom }: Box,
  x: Scale,
  { ticks, labels }: { ticks: readonly number[]; labels: boolean },
): string {
  const marks = ticks.map((tick) => {
    const at = Number(x(tick).toFixed(1));
    const mark = shape('path', { ...pen('axis'), d: `M${at} ${bottom}v4` });
    if (!labels) return mark;
    const style = { ...pen('label'), 'text-anchor': 'middle' };
    return mark + text(at, bottom + 18, tickText(tick), style);
  });
  return shape('path', { ...pen('axis'), d: `M${left} ${bottom}H${right}` }) + marks.join('');
}

/** How many numbers lie in each of the intervals of one width from `from` on. */
export interface Histogram {
  readonly from: number;
  readonly width: number;
  readonly counts: readonly number[];
}

/** The bars of a histogram, with hairlines between them. */
export function bars(
  pen: Pen,
  { from, width, counts }: Histogram,
  [x, y]: readonly [Scale, Scale],
): string {
  return counts
    .map((count, i) => {
      if (count === 0) return '';
      const [left, right] = [x(from + i * width), x(from + (i + 1) * width)];
      const wide = Math.max(1, right - left - 1);
      const top = y(count);
      return shape('rect', { ...pen('bar'), x: left, y: top, width: wide, height: y(0) - top });
    })
    .join('');
}

/** The density of N(mean, variance) at evenly spaced places, times `factor`. */
export function normalDensity(
  [low, high]: readonly [number, number],
  { mean, variance, factor }: { mean: number; variance: number; factor: number },
): { xs: number[]; ys: number[] } {
  const xs = Array.from({ length: 97 }, (_, i) => low + ((high - low) * i) / 96);
  const scale = factor / Math.sqrt(2 * Math.PI * variance);
  return { xs, ys: xs.map((x) => scale * Math.exp(-((x - mean) ** 2) / (2 * variance))) };
}

/** A symbol with a subscript, as SVG has no other way to write it. */
export function subscript(
  place: { x: number; y: number; anchor: 'start' | 'middle' | 'end' },
  [symbol, below, rest]: readonly [string, string, string],
  attributes: Attributes,
): string {
  const written = text(place.x, place.y, '@', { ...attributes, 'text-anchor': place.anchor });
  const lowered = `<tspan dy="4" font-size="75%">${below}</tspan><tspan dy="-4">${rest}</tspan>`;
  return written.replace('@', `${symbol}${lowered}`);
}

/** A drawing as an element of the page that says in words what it shows. */
export function pageSvg(width: number, height: number, body: string): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" class="plot" ${size} role="img">${body}</svg>`;
}
