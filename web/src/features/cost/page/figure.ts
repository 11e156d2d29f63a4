import { stacked, text, type Figure } from '../../../ui/export_figure';
import { filePen } from '../../../ui/plot';
import { bytesOf, generationFlops, parametersOf, passFlops, tokenFlops } from './operation_count';
import { BYTE_ROWS, FLOP_ROWS } from './counts_part';
import { BENCH_HEIGHT, drawBench, fitOf, MEMORY, TIMES } from './plots';
import { gigabytes, gigaflops, type BenchResult } from '../shared/bench_result';
import type { Shape } from '../shared/shape';
import { t } from '../feature';
import { withUnit } from '../../../ui/numbers';

const WIDTH = 600;
const LINE = 22;

/** The counts as a list, and the measurements below it where there are any. */
export function costFigure(shape: Shape, result: BenchResult | null): Figure {
  const [pass, one, bytes] = [passFlops(shape), tokenFlops(shape), bytesOf(shape)];
  const names = [...FLOP_ROWS, 'total'] as const;
  const lines = [
    ...names.map((name) => [t(`cost.${name}`), withUnit(pass[name], 'FLOP')] as const),
    ...BYTE_ROWS.map((name) => [t(`cost.${name}`), withUnit(bytes[name], 'B')] as const),
  ];
  const list = lines.map(
    ([name, value], i) =>
      text(12, 28 + i * LINE, name) + text(420, 28 + i * LINE, value, { 'text-anchor': 'end' }),
  );
  const plots = (result ? [TIMES, MEMORY] : []).map(
    (series) => [BENCH_HEIGHT, drawBench(filePen, WIDTH, result?.rows ?? [], series)] as const,
  );
  const { body, end } = stacked(plots, { top: 40 + lines.length * LINE });
  const fits = Object.fromEntries(
    [...TIMES, ...MEMORY].map((series) => [series, fitOf(result?.rows ?? [], series)] as const),
  );
  return {
    name: 'cost',
    svg: { width: WIDTH + 24, height: end, body: list.join('') + body },
    table: [
      ['', t('cost.pass', { tokens: shape.tokens }), t('cost.one', { tokens: shape.tokens })],
      ...names.map((name) => [t(`cost.${name}`), pass[name], one[name]]),
      ...BYTE_ROWS.map((name) => [t(`cost.${name}`), bytes[name]]),
      ...benchTable(result),
    ],
    data: {
      ...{ shape, pass, one, bytes, parameters: parametersOf(shape) },
      ...{
        generation: generationFlops(shape),
        result,
        fits: result ? fits : null,
      },
    },
  };
}

function benchTable(result: BenchResult | null): (string | number)[][] {
  if (!result) return [];
  const { variant, threads, cores, rows } = result;
  return [
    [variant, `${threads} / ${cores}`],
    [
      ...['T', 'stored ms', 'stored GFLOP/s', 'stored bytes'],
      ...['streaming ms', 'streaming GFLOP/s', 'streaming bytes', 'decode ms', 'decode GB/s'],
    ],
    ...rows.map((row) => [
      ...[row.tokens, row.storedMs, gigaflops(row.tokens, row.storedMs), row.storedBytes],
      ...[row.streamingMs, gigaflops(row.tokens, row.streamingMs), row.streamingBytes],
      ...[row.decodeMs, gigabytes(row.tokens, row.decodeMs)],
    ]),
  ];
}
