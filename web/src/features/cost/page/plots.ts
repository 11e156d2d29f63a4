import { text } from '../../../ui/export_figure';
import {
  curve,
  leftAxis,
  logarithmic,
  lowerAxis,
  shape,
  type Box,
  type Mark,
  type Pen,
} from '../../../ui/plot';
import { fitPower, type PowerFit } from '../../../domain/power_fit';
import { FIT_FROM, LENGTHS, type BenchRow } from '../shared/bench_result';
import { t } from '../texts';

export const BENCH_HEIGHT = 300;

/** What is drawn, with the marks that plots have already. */
export const SERIES = {
  storedMs: 'plain',
  streamingMs: 'scaled',
  decodeMs: 'gradient',
  storedBytes: 'plain',
  streamingBytes: 'scaled',
} as const satisfies Readonly<Partial<Record<keyof BenchRow, Mark>>>;
export type Series = keyof typeof SERIES;
export const TIMES = ['storedMs', 'streamingMs', 'decodeMs'] as const satisfies readonly Series[];
export const MEMORY = ['storedBytes', 'streamingBytes'] as const satisfies readonly Series[];

/** The power law of a series from FIT_FROM tokens on. */
export function fitOf(rows: readonly BenchRow[], series: Series): PowerFit {
  const used = rows.filter((row) => row.tokens >= FIT_FROM);
  return fitPower(
    used.map(({ tokens }) => tokens),
    used.map((row) => row[series]),
  );
}

/** 10^n as a person writes it on an axis of milliseconds or bytes. */
function powerTicks(low: number, high: number): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) =>
    Number((10 ** (first + i)).toPrecision(1)),
  );
}

function points(
  pen: Pen,
  mark: 'plain' | 'scaled' | 'gradient',
  at: readonly (readonly [number, number])[],
) {
  const style = mark === 'gradient' ? pen('dot') : pen(`${mark}-point`);
  return at
    .filter(([, y]) => Number.isFinite(y))
    .map(([cx, cy]) => shape('circle', { ...style, cx, cy, r: 4 }))
    .join('');
}

/** Measured points over T on logarithmic axes, and the straight lines that were fitted to them. */
export function drawBench(
  pen: Pen,
  width: number,
  rows: readonly BenchRow[],
  series: readonly Series[],
): string {
  const box: Box = {
    left: 58,
    right: Math.max(138, width - 14),
    top: 30,
    bottom: BENCH_HEIGHT - 44,
  };
  const time = series.some((name) => name === 'storedMs');
  /** Memory is drawn in megabytes, so that the numbers of the axis are short. */
  const unit = time ? 1 : 1e6;
  const valueOf = (row: BenchRow, name: Series) => row[name] / unit;
  const values = rows
    .flatMap((row) => series.map((name) => valueOf(row, name)))
    .filter((v) => v > 0);
  if (values.length === 0) return '';
  const [low, high] = [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
  const y = logarithmic([low, high], [box.bottom, box.top]);
  const x = logarithmic([LENGTHS[0], Math.max(...LENGTHS)], [box.left + 12, box.right - 12]);
  const tokens = rows.map((row) => row.tokens);
  const drawn = series.map((name) => {
    const ys = rows.map((row) => valueOf(row, name));
    const { slope, factor } = fitOf(rows, name);
    const ends = [FIT_FROM, ...LENGTHS.slice(-1)];
    const line = curve(
      pen('reference'),
      ends,
      ends.map((T) => (factor / unit) * T ** slope),
      [x, y],
    );
    const at = rows.map((row) => [x(row.tokens), y(valueOf(row, name))] as const);
    return line + curve(pen(SERIES[name]), tokens, ys, [x, y]) + points(pen, SERIES[name], at);
  });
  const ticks = LENGTHS.filter((_, i) => width >= 420 || i % 2 === 0);
  return [
    text(4, 16, t(time ? 'cost.timeAxis' : 'cost.bytesAxis'), pen('title')),
    text((box.left + box.right) / 2, box.bottom + 38, t('cost.lengthAxis'), {
      ...pen('label'),
      'text-anchor': 'middle',
    }),
    leftAxis(pen, box, y, powerTicks(low, high)),
    lowerAxis(pen, box, x, { ticks, labels: true }),
    ...drawn,
  ].join('');
}
