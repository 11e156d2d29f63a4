import type { MatrixModel, MatrixView } from '../../../ui/matrix/view';
import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { paintWeights } from '../../../ui/matrix/paint_weights';
import { digits } from '../../../ui/numbers';
import { find } from '../../../ui/dom';
import type { Said, Spoken } from '../shared/protocol';
import { t } from '../feature';
import { mirrorWords, nameOf } from './sentences';

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

/** With which weights a model read the source: a matrix that this page paints itself, as it has 41 rows at most. */
class AttentionMap {
  readonly #matrix: PaintedMatrix;

  constructor(view: MatrixView) {
    this.#matrix = new PaintedMatrix(view);
  }

  show(
    name: string,
    [source, said]: readonly [readonly number[], Said],
    [head, look]: readonly [number, number],
  ): void {
    const weights = weightsOf(source, said, head);
    const rowLabels = Array.from({ length: weights.rows }, (_, i) => tokenOf(said.ids[i]));
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
    this.#matrix.show(model, (cells) => paintWeights(cells, weights.values, weights.columns));
  }

  hide(): void {
    this.#matrix.hide();
  }
}

const tokenOf = (token: number | undefined): string =>
  token === undefined ? t('recurrence.end') : String(token);

/** The maps of both models that have one, and what is read from them. */
export class Maps {
  readonly #maps;

  constructor(attention: MatrixView, transformer: MatrixView) {
    this.#maps = {
      gru_attention: new AttentionMap(attention),
      transformer: new AttentionMap(transformer),
    };
  }

  draw(panel: ParentNode, spoken: Spoken | null, [head, look]: readonly [number, number]): void {
    for (const kind of ['gru_attention', 'transformer'] as const) {
      if (!spoken) {
        this.#maps[kind].hide();
        continue;
      }
      const { source, said } = spoken;
      const shown = kind === 'transformer' ? head : 0;
      this.#maps[kind].show(nameOf(kind), [source, said[kind]], [shown, look]);
      const note = find(panel, `[data-map=${kind}] .hint`, HTMLElement);
      note.textContent = mirrorWords(kind, source, said[kind], shown);
    }
  }
}
