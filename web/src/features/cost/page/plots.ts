import { Chart, powerTicks } from '../../../ui/chart';
import type { Mark, Pen } from '../../../ui/plot';
import { fitPower, type PowerFit } from '../../../domain/power_fit';
import { FIT_FROM, LENGTHS, type BenchRow } from '../shared/bench_result';
import { t } from '../feature';

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

/** Measured points over T on logarithmic axes, and the straight lines that were fitted to them. */
export function drawBench(
  pen: Pen,
  width: number,
  rows: readonly BenchRow[],
  series: readonly Series[],
): string {
  const time = series.some((name) => name === 'storedMs');
  /** Memory is drawn in megabytes, so that the numbers of the axis are short. */
  const unit = time ? 1 : 1e6;
  const valuesOf = (name: Series) => rows.map((row) => row[name] / unit);
  const values = series.flatMap(valuesOf).filter((value) => value > 0);
  if (values.length === 0) return '';
  const [low, high] = [Math.min(...values) / 1.6, Math.max(...values) * 1.6];
  const longest = Math.max(...LENGTHS);
  const layout = { width, height: BENCH_HEIGHT, left: 58, right: 14 };
  const chart = new Chart(pen, layout, {
    x: {
      domain: [LENGTHS[0], longest],
      log: true,
      inset: [12, 12],
      ticks: LENGTHS.filter((_, i) => width >= 420 || i % 2 === 0),
      title: t('cost.lengthAxis'),
    },
    y: {
      domain: [low, high],
      log: true,
      ticks: powerTicks(low, high),
      title: t(time ? 'cost.timeAxis' : 'cost.bytesAxis'),
    },
  });
  const tokens = rows.map((row) => row.tokens);
  const drawn = series.map((name) => {
    const mark = SERIES[name];
    const { slope, factor } = fitOf(rows, name);
    const ends = [FIT_FROM, longest];
    const fitted = ends.map((T) => (factor / unit) * T ** slope);
    const measured = valuesOf(name);
    return (
      chart.curve('reference', ends, fitted) +
      chart.curve(mark, tokens, measured) +
      chart.dots(mark === 'gradient' ? 'dot' : `${mark}-point`, tokens, measured, 4)
    );
  });
  return [chart.titles(), chart.leftAxis(), chart.lowerAxis(), ...drawn].join('');
}
