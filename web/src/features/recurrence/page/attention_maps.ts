import type { MatrixModel } from '../../../ui/matrix/view';
import type { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { paintWeights } from '../../../ui/matrix/paint_weights';
import { digits } from '../../../ui/numbers';
import type { Said, Spoken } from '../shared/protocol';
import { t } from '../feature';
import { nameOf } from './sentences';

/** The models that read the source again with every digit they say. */
export const MAPPED = ['gru_attention', 'transformer'] as const;
export type Mapped = (typeof MAPPED)[number];

/** The head that is shown of a model: only the transformer has several. */
export const headOf = (kind: Mapped, chosen: number) => (kind === 'transformer' ? chosen : 0);

/** The weights of one head, [rows, columns]. */
export interface Weights {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float32Array;
}

export function weightsOf(
  source: readonly number[],
  { rows, weights }: Said,
  head: number,
): Weights {
  const columns = source.length;
  const size = rows * columns;
  return { rows, columns, values: weights.subarray(head * size, (head + 1) * size) };
}

const tokenOf = (token: number | undefined): string =>
  token === undefined ? t('recurrence.end') : String(token);

/** With which weights a model read the source: this page paints the matrix itself, as it has 41 rows at most. */
export function showMap(
  matrix: PaintedMatrix,
  kind: Mapped,
  { source, said }: Spoken,
  [head, look]: readonly [number, number],
): void {
  const name = nameOf(kind);
  const { ids } = said[kind];
  const weights = weightsOf(source, said[kind], headOf(kind, head));
  const rowLabels = Array.from({ length: weights.rows }, (_, i) => tokenOf(ids[i]));
  const at = (row: number, col: number) => weights.values[row * weights.columns + col] ?? NaN;
  const model: MatrixModel = {
    rows: weights.rows,
    cols: weights.columns,
    rowLabels,
    colLabels: source.map(String),
    rowHeight: 'square',
    name: t('recurrence.mapName', { name, rows: weights.rows, cols: weights.columns }),
    look,
    home: { row: 0, col: weights.columns - 1 },
    bracket: null,
    describe: ({ row, col }) =>
      t('recurrence.cell', {
        ...{ name, said: rowLabels[row] ?? '', token: source[col] ?? '' },
        ...{ row: row + 1, col: col + 1, weight: digits(at(row, col), 3) },
      }),
  };
  matrix.show(model, (cells) => paintWeights(cells, weights.values, weights.columns));
}
