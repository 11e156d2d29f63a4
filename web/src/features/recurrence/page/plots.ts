import { text } from '../../../ui/export_figure';
import {
  curve,
  filePen,
  leftAxis,
  linear,
  logarithmic,
  lowerAxis,
  niceTicks,
  pagePen,
  shape,
  type Box,
  type Pen,
  type Scale,
} from '../../../ui/plot';
import { accuracyOf } from '../shared/accuracy';
import { KINDS, type Kind } from '../shared/model_configs';
import { lineOf, pointOf, type Paper } from './plot_marks';
import type { Counted, Reached } from '../shared/protocol';
import { LONGEST, LONGEST_ASKED, SHORTEST, TOKENS } from '../shared/task';
import { t } from '../texts';
import {
  FITTED_FROM,
  LENGTHS,
  LONGEST_TIMED,
  type Spread,
  type Timing,
} from '../shared/timing_settings';
import { fitPower, type PowerFit } from '../../../domain/power_fit';

export const CHART_HEIGHT = 270;
const LEFT = 52;

const boxOf = (width: number): Box => ({
  ...{ left: LEFT, right: Math.max(LEFT + 80, width - 14) },
  ...{ top: 32, bottom: CHART_HEIGHT - 44 },
});

const penOf = (paper: Paper): Pen => (paper === 'page' ? pagePen : filePen);

function frame(pen: Pen, box: Box, [above, below]: readonly [string, string]): string {
  const middle = { ...pen('label'), 'text-anchor': 'middle' };
  return (
    text(4, 16, above, pen('title')) +
    text((box.left + box.right) / 2, box.bottom + 38, below, middle)
  );
}

/** The part of the x axis that models were trained on. */
function trained(
  pen: Pen,
  box: Box,
  [from, to, label]: readonly [from: number, to: number, label: number],
): string {
  const size = { x: from, y: box.top, width: to - from, height: box.bottom - box.top };
  return (
    shape('rect', { ...pen('collapse'), ...size }) +
    text(from + 6, label, t('recurrence.trained'), pen('label'))
  );
}

function points(
  paper: Paper,
  kind: Kind,
  [xs, ys]: readonly [readonly number[], readonly number[]],
  [x, y]: readonly [Scale, Scale],
): string {
  const marks = xs.map((at, i) => {
    const value = ys[i] ?? NaN;
    return Number.isFinite(value) ? pointOf(paper, kind, x(at), y(value)) : '';
  });
  return curve(lineOf(paper, kind), xs, ys, [x, y]) + marks.join('');
}

/** 10⁻⁶, and 0.01 where that is as short. */
function powerText(exponent: number): string {
  if (Math.abs(exponent) <= 2) return String(Number(`1e${exponent}`));
  const small = Array.from(String(Math.abs(exponent)), (digit) =>
    '⁰¹²³⁴⁵⁶⁷⁸⁹'.charAt(Number(digit)),
  );
  return `10${exponent < 0 ? '⁻' : ''}${small.join('')}`;
}

/** A left axis with powers of ten. */
function powerAxis(pen: Pen, box: Box, y: Scale, exponents: readonly number[]): string {
  const style = { ...pen('label'), 'text-anchor': 'end' };
  const names = exponents.map((exponent) => {
    const at = y(10 ** exponent);
    return (
      shape('path', { ...pen('axis'), d: `M${box.left - 4} ${at.toFixed(1)}H${box.left}` }) +
      text(box.left - 7, Number((at + 4).toFixed(1)), powerText(exponent), style)
    );
  });
  return leftAxis(pen, box, y, []) + names.join('');
}

const every = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + step * i);

/** The part of the digits that are right, by length. */
export function drawAccuracy(
  paper: Paper,
  width: number,
  tallies: Counted['tallies'] | null,
): string {
  const [pen, box] = [penOf(paper), boxOf(width)];
  const x = linear([SHORTEST, LONGEST_ASKED], [box.left + 8, box.right - 6]);
  const y = linear([0, 1], [box.bottom, box.top]);
  const chance = y(1 / TOKENS);
  const label = { ...pen('label'), 'text-anchor': 'end' };
  const curves = KINDS.map((kind) => {
    const known = (tallies?.[kind] ?? []).filter(({ sequences }) => sequences > 0);
    const lengths = known.map(({ length }) => length);
    return points(paper, kind, [lengths, known.map(accuracyOf)], [x, y]);
  });
  return [
    trained(pen, box, [x(SHORTEST), x(LONGEST), y(0.25)]),
    frame(pen, box, [t('recurrence.accuracyAxis'), t('recurrence.lengthAxis')]),
    shape('path', { ...pen('reference'), d: `M${box.left} ${chance.toFixed(1)}H${box.right}` }),
    text(box.left + 6, chance - 5, t('recurrence.guessing'), { ...label, 'text-anchor': 'start' }),
    leftAxis(pen, box, y, [0, 0.25, 0.5, 0.75, 1]),
    lowerAxis(pen, box, x, { ticks: every(SHORTEST, LONGEST_ASKED, 4), labels: true }),
    ...curves,
  ].join('');
}

/** Norms of the gradient by distance, on a logarithmic axis. */
export function drawReach(paper: Paper, width: number, reached: Reached | null): string {
  const [pen, box] = [penOf(paper), boxOf(width)];
  const x = linear([0, LONGEST_ASKED - 1], [box.left + 8, box.right - 6]);
  const all = KINDS.flatMap((kind) => [
    ...(reached?.first[kind] ?? []),
    ...(reached?.now[kind] ?? []),
  ]).filter((norm) => norm > 0);
  const power = (value: number, round: (x: number) => number) => round(Math.log10(value));
  const low = power(Math.min(...all, 1e-2), Math.floor);
  const high = power(Math.max(...all, 1), Math.ceil);
  const y = logarithmic([10 ** low, 10 ** high], [box.bottom, box.top]);
  const powers = every(low, high, high - low > 6 ? 2 : 1);
  const distances = every(0, LONGEST_ASKED - 1, 1);
  const curves = (['first', 'now'] as const).flatMap((when) =>
    KINDS.map((kind) =>
      curve(lineOf(paper, kind, when), distances, reached?.[when][kind] ?? [], [x, y]),
    ),
  );
  return [
    trained(pen, box, [x(0), x(LONGEST - 1), box.bottom - 8]),
    frame(pen, box, [t('recurrence.reachAxis'), t('recurrence.distanceAxis')]),
    powerAxis(pen, box, y, powers),
    lowerAxis(pen, box, x, { ticks: niceTicks(0, LONGEST_ASKED - 1, 8), labels: true }),
    ...curves,
  ].join('');
}

/** What is measured of both layers, in the order of the legend, and the model whose pen it has. */
export const LAYERS = [
  { of: (timing: Timing): Spread => timing.gru, kind: 'gru' },
  { of: (timing: Timing): Spread => timing.attention, kind: 'transformer' },
] as const;

/** The slopes of both at the long end, where what a call costs besides does not count. */
export function slopes(timings: readonly Timing[]): PowerFit[] {
  const long = timings.filter(({ length }) => length >= FITTED_FROM);
  const lengths = long.map(({ length }) => length);
  return LAYERS.map(({ of }) =>
    fitPower(
      lengths,
      long.map((each) => of(each).median),
    ),
  );
}

/** The line that was fitted, over the lengths it was fitted to. */
function fitted(pen: Pen, { slope, factor }: PowerFit, [x, y]: readonly [Scale, Scale]): string {
  const ends = [FITTED_FROM, LONGEST_TIMED];
  return curve(
    pen('theory'),
    ends,
    ends.map((length) => factor * length ** slope),
    [x, y],
  );
}

/** The names of both at their last points, the upper one above and the lower one below. */
function names(pen: Pen, timings: readonly Timing[], [x, y]: readonly [Scale, Scale]): string[] {
  const last = timings.at(-1);
  if (!last) return [];
  const style = { ...pen('label'), 'text-anchor': 'end' };
  const [gru, attention] = [last.gru.median, last.attention.median];
  const name = (text_: string, value: number, upper: boolean) =>
    text(Math.round(x(last.length)), Math.round(y(value) + (upper ? -9 : 18)), text_, style);
  return [
    name(t('recurrence.gruLayer'), gru, gru > attention),
    name(t('recurrence.attentionLayer'), attention, attention >= gru),
  ];
}

/** Times of one pass, with quartiles and the lines that were fitted. */
export function drawCost(paper: Paper, width: number, timings: readonly Timing[]): string {
  const [pen, box] = [penOf(paper), boxOf(width)];
  const x = logarithmic([Math.min(...LENGTHS), LONGEST_TIMED], [box.left + 10, box.right - 10]);
  const values = timings.flatMap((each) =>
    LAYERS.flatMap(({ of }) => [of(each).low, of(each).high]),
  );
  const low = Math.floor(Math.log10(Math.min(...values, 0.1)));
  const high = Math.ceil(Math.log10(Math.max(...values, 10)));
  const y = logarithmic([10 ** low, 10 ** high], [box.bottom, box.top]);
  const lengths = timings.map(({ length }) => length);
  const bars = timings.flatMap((each) =>
    LAYERS.map(({ of, kind }) => {
      const spread = of(each);
      const d = `M${x(each.length).toFixed(1)} ${y(spread.low).toFixed(1)}V${y(spread.high).toFixed(1)}`;
      return shape('path', { ...lineOf(paper, kind, 'first'), d });
    }),
  );
  const narrow = box.right - box.left < 330;
  const ticks = LENGTHS.filter((_, i) => !narrow || i % 2 === 0);
  return [
    frame(pen, box, [t('recurrence.timeAxis'), t('recurrence.tokensAxis')]),
    powerAxis(pen, box, y, every(low, high, 1)),
    lowerAxis(pen, box, x, { ticks, labels: true }),
    ...bars,
    ...LAYERS.map(({ of, kind }) =>
      points(paper, kind, [lengths, timings.map((each) => of(each).median)], [x, y]),
    ),
    ...names(pen, timings, [x, y]),
    ...(timings.length === LENGTHS.length
      ? slopes(timings).map((power) => fitted(pen, power, [x, y]))
      : []),
  ].join('');
}
