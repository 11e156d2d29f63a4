import { Chart, powerText, powerTicks, type Axis } from '../../../ui/chart';
import { filePen, niceTicks, pagePen, shape } from '../../../ui/plot';
import { accuracyOf } from '../shared/accuracy';
import { KINDS, type Kind } from '../shared/model_configs';
import { lineOf, pointOf, type Paper } from './plot_marks';
import type { Counted, Reached } from '../shared/protocol';
import { LONGEST, LONGEST_TESTED, SHORTEST, TOKENS } from '../shared/task';
import { t } from '../feature';
import {
  FITTED_FROM,
  LENGTHS,
  LONGEST_TIMED,
  type Spread,
  type Timing,
} from '../shared/timing_settings';
import { fitPower, type PowerFit } from '../../../domain/power_fit';

export const CHART_HEIGHT = 270;
/** Below this width there is room for every second length only. */
const NARROW = 396;

function chartOf(paper: Paper, width: number, x: Axis, y: Axis): Chart {
  const layout = { width, height: CHART_HEIGHT, left: 52, right: 14, top: 32 };
  return new Chart(paper === 'page' ? pagePen : filePen, layout, { x, y });
}

/** The part of the x axis that models were trained on, with its name at `y` pixels. */
function trained(chart: Chart, [from, to]: readonly [number, number], y: number): string {
  const { top, bottom } = chart.box;
  const [left, right] = [chart.x(from), chart.x(to)];
  const size = { x: left, y: top, width: right - left, height: bottom - top };
  return (
    shape('rect', { ...chart.pen('collapse'), ...size }) +
    chart.label(left + 6, y, t('recurrence.trained'))
  );
}

/** The curve of a model with its points. */
function pointed(
  chart: Chart,
  [paper, kind]: readonly [Paper, Kind],
  xs: readonly number[],
  ys: readonly number[],
): string {
  const points = chart.points(xs, ys, (x, y) => pointOf(paper, kind, x, y));
  return chart.curve(lineOf(paper, kind), xs, ys) + points;
}

const every = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => from + step * i);

/** The part of the digits that are right, by length. */
export function drawAccuracy(
  paper: Paper,
  width: number,
  tallies: Counted['tallies'] | null,
): string {
  const chart = chartOf(
    paper,
    width,
    {
      domain: [SHORTEST, LONGEST_TESTED],
      inset: [8, 6],
      ticks: every(SHORTEST, LONGEST_TESTED, 4),
      title: t('recurrence.lengthAxis'),
    },
    { domain: [0, 1], ticks: [0, 0.25, 0.5, 0.75, 1], title: t('recurrence.accuracyAxis') },
  );
  const { box, y } = chart;
  const curves = KINDS.map((kind) => {
    const known = (tallies?.[kind] ?? []).filter(({ sequences }) => sequences > 0);
    const lengths = known.map(({ length }) => length);
    return pointed(chart, [paper, kind], lengths, known.map(accuracyOf));
  });
  return [
    trained(chart, [SHORTEST, LONGEST], y(0.25)),
    chart.titles(),
    chart.across('reference', 1 / TOKENS),
    chart.label(box.left + 6, y(1 / TOKENS) - 5, t('recurrence.guessing'), 'start'),
    chart.leftAxis(),
    chart.lowerAxis(),
    ...curves,
  ].join('');
}

/** Norms of the gradient by distance, on a logarithmic axis. */
export function drawReach(paper: Paper, width: number, reached: Reached | null): string {
  const all = KINDS.flatMap((kind) => [
    ...(reached?.first[kind] ?? []),
    ...(reached?.now[kind] ?? []),
  ]).filter((norm) => norm > 0);
  const low = Math.floor(Math.log10(Math.min(...all, 1e-2)));
  const high = Math.ceil(Math.log10(Math.max(...all, 1)));
  const powers = every(low, high, high - low > 6 ? 2 : 1).map((exponent) => 10 ** exponent);
  const last = LONGEST_TESTED - 1;
  const chart = chartOf(
    paper,
    width,
    {
      domain: [0, last],
      inset: [8, 6],
      ticks: niceTicks(0, last, 8),
      title: t('recurrence.distanceAxis'),
    },
    {
      domain: [10 ** low, 10 ** high],
      log: true,
      ticks: powers,
      tickText: powerText,
      title: t('recurrence.reachAxis'),
    },
  );
  const distances = every(0, last, 1);
  const curves = (['first', 'now'] as const).flatMap((when) =>
    KINDS.map((kind) =>
      chart.curve(lineOf(paper, kind, when), distances, reached?.[when][kind] ?? []),
    ),
  );
  return [
    trained(chart, [0, LONGEST - 1], chart.box.bottom - 8),
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
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
function fitted(chart: Chart, { slope, factor }: PowerFit): string {
  const ends = [FITTED_FROM, LONGEST_TIMED];
  const times = ends.map((length) => factor * length ** slope);
  return chart.curve('theory', ends, times);
}

/** The names of both at their last points, the upper one above and the lower one below. */
function names(chart: Chart, timings: readonly Timing[]): string[] {
  const last = timings.at(-1);
  if (!last) return [];
  const [gru, attention] = [last.gru.median, last.attention.median];
  const name = (words: string, value: number, upper: boolean) => {
    const at = Math.round(chart.y(value) + (upper ? -9 : 18));
    return chart.label(Math.round(chart.x(last.length)), at, words, 'end');
  };
  return [
    name(t('recurrence.gruLayer'), gru, gru > attention),
    name(t('recurrence.attentionLayer'), attention, attention >= gru),
  ];
}

/** Times of one pass, with quartiles and the lines that were fitted. */
export function drawCost(paper: Paper, width: number, timings: readonly Timing[]): string {
  const values = timings.flatMap((each) =>
    LAYERS.flatMap(({ of }) => [of(each).low, of(each).high]),
  );
  const low = 10 ** Math.floor(Math.log10(Math.min(...values, 0.1)));
  const high = 10 ** Math.ceil(Math.log10(Math.max(...values, 10)));
  const chart = chartOf(
    paper,
    width,
    {
      domain: [Math.min(...LENGTHS), LONGEST_TIMED],
      log: true,
      inset: [10, 10],
      ticks: LENGTHS.filter((_, i) => width >= NARROW || i % 2 === 0),
      title: t('recurrence.tokensAxis'),
    },
    {
      domain: [low, high],
      log: true,
      ticks: powerTicks(low, high),
      tickText: powerText,
      title: t('recurrence.timeAxis'),
    },
  );
  const quartiles = timings.flatMap((each) =>
    LAYERS.map(({ of, kind }) => {
      const [at, { low: least, high: most }] = [chart.x(each.length).toFixed(1), of(each)];
      const d = `M${at} ${chart.y(least).toFixed(1)}V${chart.y(most).toFixed(1)}`;
      return shape('path', { ...lineOf(paper, kind, 'first'), d });
    }),
  );
  const lengths = timings.map(({ length }) => length);
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    ...quartiles,
    ...LAYERS.map(({ of, kind }) => {
      const medians = timings.map((each) => of(each).median);
      return pointed(chart, [paper, kind], lengths, medians);
    }),
    ...names(chart, timings),
    ...(timings.length === LENGTHS.length ? slopes(timings).map((fit) => fitted(chart, fit)) : []),
  ].join('');
}
