import { Chart, logTicks, powerText, powerTicks } from '../../../ui/chart';
import type { Pen } from '../../../ui/plot';
import { coverShare, mostRows } from '../shared/capacity';
import { ball, beta, ROWS, sharp } from '../shared/stability';
import type { Capacity } from '../worker/capacity';
import type { Stability } from '../worker/stability';

export const [CAPACITY_HEIGHT, STABILITY_HEIGHT] = [270, 320];
/** The smallest move that is drawn, as a share of the largest bound. */
const LEAST = 1e-8;
const SIDES = { left: 48, right: 16 } as const;

interface Titles {
  readonly x: string;
  readonly y: string;
}

/** The share of the labelings that a readout of H heads fits: measured as points, Cover's count as a curve. */
export function drawCapacity(
  pen: Pen,
  width: number,
  { heads, points }: Capacity,
  titles: Titles & { readonly all: string; readonly half: string },
): string {
  const rows = points.map((_, i) => i + 1);
  const narrow = width < 480;
  const most = mostRows(heads);
  const step = Math.ceil(most / (narrow ? 8 : 14));
  const chart = new Chart(
    pen,
    { width, height: CAPACITY_HEIGHT, ...SIDES },
    {
      x: {
        domain: [1, most],
        inset: [8, 8],
        ticks: rows.filter((row) => row % step === 0),
        title: titles.x,
      },
      y: { domain: [0, 1.04], ticks: [0, 0.25, 0.5, 0.75, 1], title: titles.y },
    },
  );
  const mark = (at: number, words: string, y: number) =>
    chart.upright('here', at) + chart.label(chart.x(at) + 5, chart.y(y), words);
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    mark(heads + 1, titles.all, 0.08),
    mark(2 * (heads + 1), titles.half, 0.62),
    chart.curve(
      'theory',
      rows,
      rows.map((row) => coverShare(row, heads)),
    ),
    chart.dots(
      'scaled-point',
      rows,
      points.map(({ share }) => share),
      4,
    ),
  ].join('');
}

/** How far an output moves when one of n rows is replaced, on logarithmic axes: three bounds, and what was measured. */
export function drawStability(
  pen: Pen,
  width: number,
  { norms, random, built }: Stability,
  { rows, titles }: { readonly rows: number; readonly titles: Titles },
): string {
  const bounds = ROWS.map((n) => beta(norms, n));
  const high = Math.max(...bounds) * 1.4;
  // Where scores are large, one row has all the weight, and others move next to nothing: that has no place on a logarithmic axis.
  const shown = (moves: readonly number[]) =>
    moves.map((move) => (move > high * LEAST ? move : NaN));
  const low = Math.min(...[...random, ...built].filter((move) => move > high * LEAST)) / 1.4;
  const ticks = high / low > 1e3 ? powerTicks(low, high) : logTicks(low, high);
  const chart = new Chart(
    pen,
    { width, height: STABILITY_HEIGHT, ...SIDES },
    {
      x: { domain: [2, 256], log: true, inset: [10, 10], ticks: ROWS, title: titles.x },
      y: {
        ...{ domain: [low, high], log: true, ticks, title: titles.y },
        tickText: (tick) => (high / low > 1e3 ? powerText(tick) : String(tick)),
      },
    },
  );
  return [
    chart.titles(),
    chart.leftAxis(),
    chart.lowerAxis(),
    chart.upright('here', rows),
    chart.curve('critical', ROWS, bounds),
    chart.curve(
      'theory-outside',
      ROWS,
      ROWS.map(() => ball(norms)),
    ),
    chart.curve(
      'theory',
      ROWS,
      ROWS.map((n) => sharp(norms, n)),
    ),
    chart.dots('plain-point', ROWS, shown(built), 5),
    chart.curve('scaled', ROWS, shown(random)),
    chart.dots('scaled-point', ROWS, shown(random), 4),
  ].join('');
}
