import { TEMPERATURES } from '../../../domain/temperatures';
import type { RowScores, TemperaturePoint, TemperatureStudy } from '../worker/temperature_study';
import { text } from '../../../ui/export_figure';
import { t } from '../feature';
import { digits } from '../../../ui/numbers';
import {
  curve,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  niceTicks,
  shape,
  subscript,
  type Box,
  type Pen,
  type Scale,
} from '../../../ui/plot';

const TICKS = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20];
const FEW_TICKS = [0.05, 0.2, 1, 5, 20];
export const LEFT = 42;
export const RIGHT = 12;
/** Where tau_c is written, above the first strip. */
const HEAD = 40;
const TITLE = 30;
const HEIGHTS = [210, 84, 84] as const;

/** Where everything stands for a width: three strips over one axis of temperatures. */
export interface Places {
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly temperatureAt: (x: number) => number;
  readonly strips: readonly [entropy: Box, largest: Box, gradient: Box];
  readonly ticks: readonly number[];
}

export function placesOf(width: number): Places {
  const [left, right] = [LEFT, Math.max(LEFT + 100, width - RIGHT)];
  const [least, most] = TEMPERATURES;
  const x = logarithmic(TEMPERATURES, [left, right]);
  const box = (top: number, height: number): Box => ({ left, right, top, bottom: top + height });
  const first = box(HEAD, HEIGHTS[0]);
  const second = box(first.bottom + TITLE, HEIGHTS[1]);
  const third = box(second.bottom + TITLE, HEIGHTS[2]);
  return {
    width,
    height: third.bottom + 40,
    x,
    temperatureAt: (at) => least * (most / least) ** ((at - left) / (right - left)),
    strips: [first, second, third],
    ticks: right - left < 420 ? FEW_TICKS : TICKS,
  };
}

/** The scale of entropies; of a single key there is nothing but 0, which also needs a place. */
export function entropyScale({ strips: [{ top, bottom }] }: Places, keys: number): Scale {
  return linear([0, Math.max(1, Math.log(keys) * 1.06)], [bottom, top]);
}

function entropyStrip(pen: Pen, places: Places, keys: number): string {
  const [box] = places.strips;
  const most = Math.log(keys);
  const y = entropyScale(places, keys);
  const ticks = keys > 1 ? niceTicks(0, most, 4) : [0, 1];
  const top = y(most);
  const bound =
    keys > 1
      ? shape('path', { ...pen('reference'), d: `M${box.left} ${top}H${box.right}` }) +
        text(box.right, top - 5, `ln n = ${digits(most, 3)}`, {
          ...pen('label'),
          'text-anchor': 'end',
        })
      : '';
  return leftAxis(pen, box, y, ticks) + bound;
}

/** tau_c as a line with its number, what lies left of it shaded, and 3 tau_c, from where the theory holds. */
function collapse(pen: Pen, { x, strips, width }: Places, value: number): string {
  const [{ left, right, top }] = strips;
  const inside = (temperature: number) => Math.min(right, Math.max(left, x(temperature)));
  const line = inside(value);
  const shade = strips.map((box) =>
    shape('rect', {
      ...pen('collapse'),
      x: left,
      y: box.top,
      width: line - left,
      height: box.bottom - box.top,
    }),
  );
  const parts = line > left ? shade : [];
  const number = ` = ${digits(value, 3)}`;
  const label = (place: { x: number; anchor: 'start' | 'end' }, before: string, rest: string) =>
    subscript({ ...place, y: top - 8 }, [before, 'c', rest], pen('label'));
  const beyond = x(value) < left ? '← ' : '';
  if (line > left && x(value) <= right) {
    const at = line.toFixed(1);
    parts.push(
      ...strips.map((box) =>
        shape('path', { ...pen('critical'), d: `M${at} ${box.top}V${box.bottom}` }),
      ),
    );
  }
  const room = line - left > 100;
  if (x(value) > right) parts.push(label({ x: right, anchor: 'end' }, 'τ', `${number} →`));
  else if (room) parts.push(label({ x: line - 4, anchor: 'end' }, 'τ', number));
  else parts.push(label({ x: line, anchor: 'start' }, `${beyond}τ`, number));
  const three = x(3 * value);
  if (three > left && three < right) {
    parts.push(
      shape('path', { ...pen('reference'), d: `M${three.toFixed(1)} ${top}V${strips[0].bottom}` }),
    );
    const clear = room || three - line > 96;
    if (clear && three < width - 40) parts.push(label({ x: three + 4, anchor: 'start' }, '3τ', ''));
  }
  if (line - left > 90) {
    parts.push(text(left + 8, top + 34, t('temperature.collapsed'), pen('region')));
  }
  return parts.join('');
}

function curves(
  pen: Pen,
  places: Places,
  { scores, critical }: RowScores,
  study: TemperatureStudy,
): string {
  const { x, strips } = places;
  const { temperatures, entropy, largest, gradient, theory } = study;
  const start = 3 * (critical ?? 0);
  const y = entropyScale(places, scores.length);
  const drawn = (keep: (temperature: number) => boolean) =>
    theory.map((value, i) => (value >= 0 && keep(temperatures[i] ?? NaN) ? value : NaN));
  return [
    curve(pen('measured'), temperatures, entropy, [x, y]),
    curve(
      pen('theory-outside'),
      temperatures,
      drawn((tau) => tau <= start * 1.05),
      [x, y],
    ),
    curve(
      pen('theory'),
      temperatures,
      drawn((tau) => tau >= start),
      [x, y],
    ),
    curve(pen('weight'), temperatures, largest, [
      x,
      linear([0, 1], [strips[1].bottom, strips[1].top]),
    ]),
    curve(pen('gradient'), temperatures, gradient, [x, gradientScale(places, study)]),
  ].join('');
}

function gradientScale(
  { strips: [, , { top, bottom }] }: Places,
  { gradient }: TemperatureStudy,
): Scale {
  const most = gradient.reduce((a, b) => Math.max(a, b), 0);
  return linear([0, most > 0 ? most * 1.08 : 1], [bottom, top]);
}

/** The line through the temperature of the page, and where it meets the curves. */
export function drawHere(
  pen: Pen,
  places: Places,
  study: TemperatureStudy | null,
  point: TemperaturePoint,
): string {
  const { x, strips } = places;
  const at = x(point.temperature);
  const dot = (value: number, y: Scale, radius: number) =>
    shape('circle', { ...pen('dot'), cx: at, cy: y(value), r: radius });
  const lines = strips.map(({ top, bottom }) =>
    shape('path', { ...pen('here'), d: `M${at.toFixed(1)} ${top}V${bottom}` }),
  );
  const others = study
    ? dot(point.largest, linear([0, 1], [strips[1].bottom, strips[1].top]), 5) +
      dot(point.gradient, gradientScale(places, study), 5)
    : '';
  return (
    lines.join('') + others + dot(point.entropy, entropyScale(places, point.of.scores.length), 8)
  );
}

/** The curves of a row, or as long as the reader is to guess, the axes alone. */
export function drawCurves(
  pen: Pen,
  places: Places,
  of: RowScores,
  study: TemperatureStudy | null,
): string {
  const { x, strips, ticks } = places;
  const [first, second, third] = strips;
  const title = (box: Box, content: string) => text(LEFT, box.top - 9, content, pen('title'));
  const gradientMost = study ? study.gradient.reduce((a, b) => Math.max(a, b), 0) : 0;
  const gradientTicks = gradientMost > 0 ? niceTicks(0, gradientMost * 1.08, 2) : [0];
  const value = of.critical;
  return [
    study && value !== null && value > 0 ? collapse(pen, places, value) : '',
    text(LEFT, 14, t('temperature.entropyAxis'), pen('title')),
    title(second, t('temperature.largestAxis')),
    title(third, t('temperature.gradientAxis')),
    entropyStrip(pen, places, of.scores.length),
    leftAxis(pen, second, linear([0, 1], [second.bottom, second.top]), [0, 0.5, 1]),
    study
      ? leftAxis(pen, third, gradientScale(places, study), gradientTicks)
      : leftAxis(pen, third, () => 0, []),
    ...strips.map((box) => lowerAxis(pen, box, x, { ticks, labels: box === third })),
    text((first.left + first.right) / 2, third.bottom + 36, t('temperature.axis'), {
      ...pen('label'),
      'text-anchor': 'middle',
    }),
    study ? curves(pen, places, of, study) : '',
  ].join('');
}
