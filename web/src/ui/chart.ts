import { text } from './export_figure';
import { raised } from './numbers';
import {
  bars,
  curve,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  shape,
  type Attributes,
  type Box,
  type Histogram,
  type Mark,
  type Pen,
  type Scale,
} from './plot';

/** An axis of a chart. */
export interface Axis {
  /** The numbers at its two ends. */
  readonly domain: readonly [number, number];
  /** Equal distances are equal factors; by default they are equal differences. */
  readonly log?: boolean;
  readonly ticks: readonly number[];
  /** How a tick is written; by default as a plain number. */
  readonly tickText?: (tick: number) => string;
  /** Pixels between the ends of the line and those of the domain; none by default. */
  readonly inset?: readonly [start: number, end: number];
  /** Written above the chart for y, below it for x. */
  readonly title?: string;
}

/** The size of a chart, and what it leaves free around the plot, in pixels. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top?: number;
  readonly bottom?: number;
  /** The baseline of the title. */
  readonly titleAt?: number;
}

/** A plot is at least so wide, however narrow its place is. */
const LEAST_WIDTH = 80;

/** Powers of ten from `low` to `high`. */
export function powerTicks(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(`1e${first + i}`));
}

/** 1, 2 and 5 times powers of ten from `low` to `high`, or the powers alone where these are many. */
export function logTicks(low: number, high: number): number[] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const all = Array.from({ length: last - first + 1 }, (_, i) =>
    [1, 2, 5].map((digit) => Number(`${digit}e${first + i}`)),
  );
  const inside = all.flat().filter((tick) => tick >= low && tick <= high);
  return inside.length > 7 ? powerTicks(low, high) : inside;
}

/** A power of ten as 10⁻⁶, or as 0.01 where that is as short. */
export function powerText(power: number): string {
  const exponent = Math.round(Math.log10(power));
  if (Math.abs(exponent) <= 2) return String(Number(`1e${exponent}`));
  return `10${raised(exponent)}`;
}

function scaleOf({ domain, log, inset = [0, 0] }: Axis, from: number, to: number): Scale {
  const along = Math.sign(to - from);
  const range = [from + along * inset[0], to - along * inset[1]] as const;
  return log ? logarithmic(domain, range) : linear(domain, range);
}

/**
 * One plot with two axes. Each method returns a part of the drawing as SVG; the caller joins them in the order in which they
 * are painted.
 */
export class Chart {
  readonly pen: Pen;
  readonly box: Box;
  readonly x: Scale;
  readonly y: Scale;
  readonly #axes: { readonly x: Axis; readonly y: Axis };
  readonly #titleAt: number;

  constructor(pen: Pen, layout: Layout, axes: { readonly x: Axis; readonly y: Axis }) {
    const { width, height, left, right, top = 30, bottom = 44, titleAt = 16 } = layout;
    const end = Math.max(left + LEAST_WIDTH, width - right);
    this.pen = pen;
    this.box = { left, right: end, top, bottom: height - bottom };
    this.x = scaleOf(axes.x, this.box.left, this.box.right);
    this.y = scaleOf(axes.y, this.box.bottom, this.box.top);
    this.#axes = axes;
    this.#titleAt = titleAt;
  }

  titles(): string {
    const { left, right, bottom } = this.box;
    const { x, y } = this.#axes;
    const above = text(4, this.#titleAt, y.title ?? '', this.pen('title'));
    if (x.title === undefined) return above;
    return above + this.label((left + right) / 2, bottom + 38, x.title, 'middle');
  }

  leftAxis(): string {
    const { ticks, tickText } = this.#axes.y;
    return leftAxis(this.pen, this.box, this.y, ticks, tickText);
  }

  lowerAxis(): string {
    return lowerAxis(this.pen, this.box, this.x, { ticks: this.#axes.x.ticks, labels: true });
  }

  /** `pen`: a mark, or how the line is drawn where a mark does not say it. */
  curve(pen: Mark | Attributes, xs: ArrayLike<number>, ys: ArrayLike<number>): string {
    const style = typeof pen === 'string' ? this.pen(pen) : pen;
    return curve(style, xs, ys, [this.x, this.y]);
  }

  /** What `draw` returns for each point that has a place on the axis of y. */
  points(
    xs: readonly number[],
    ys: readonly number[],
    draw: (x: number, y: number, index: number) => string,
  ): string {
    return xs
      .map((at, i) => {
        const y = this.y(ys[i] ?? NaN); // of 0 on a logarithmic axis it is no number
        return Number.isFinite(y) ? draw(this.x(at), y, i) : '';
      })
      .join('');
  }

  /** A circle at each of these points. */
  dots(
    mark: Mark,
    xs: readonly number[],
    ys: readonly number[],
    radius: number | ((index: number) => number),
  ): string {
    return this.points(xs, ys, (cx, cy, i) =>
      shape('circle', {
        ...this.pen(mark),
        cx,
        cy,
        r: typeof radius === 'number' ? radius : radius(i),
      }),
    );
  }

  bars(histogram: Histogram): string {
    return bars(this.pen, histogram, [this.x, this.y]);
  }

  /** The area between two curves over the same xs. */
  band(pen: Attributes, xs: readonly number[], low: readonly number[], high: readonly number[]) {
    const at = (value: number, i: number) =>
      `${this.x(xs[i] ?? NaN).toFixed(1)} ${this.y(value).toFixed(1)}`;
    const around = [...high.map(at), ...low.map(at).reverse()];
    return shape('path', { ...pen, d: `M${around.join('L')}Z` });
  }

  /** A line across the plot at one value of y. */
  across(mark: Mark, value: number): string {
    const { left, right } = this.box;
    const d = `M${left} ${this.y(value).toFixed(1)}H${right}`;
    return shape('path', { ...this.pen(mark), d });
  }

  /** A line from the top of the plot to its bottom at one value of x. */
  upright(mark: Mark, value: number): string {
    const { top, bottom } = this.box;
    const d = `M${this.x(value).toFixed(1)} ${top}V${bottom}`;
    return shape('path', { ...this.pen(mark), d });
  }

  /** Words at a place in pixels. */
  label(x: number, y: number, content: string, anchor?: 'start' | 'middle' | 'end'): string {
    const place = anchor ? { 'text-anchor': anchor } : {};
    return text(x, y, content, { ...this.pen('label'), ...place });
  }
}
