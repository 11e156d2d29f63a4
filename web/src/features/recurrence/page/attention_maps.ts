import { cividis } from '../../../domain/cividis';
import { colourIndex } from '../../../domain/colour_scale';
import type { MatrixModel, MatrixView } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { context2d, find } from '../../../ui/dom';
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

/** One pixel a cell, as the canvas enlarges it. */
export function pixelsOf({ values }: Weights): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new Uint8ClampedArray(4 * values.length);
  const index = colourIndex('weights', 1);
  values.forEach((weight, i) => {
    const from = 4 * index(weight);
    bytes.set(cividis.subarray(from, from + 4), 4 * i);
  });
  return bytes;
}

/** With which weights a model read the source: a matrix that this page paints itself, as it has 41 rows at most. */
class AttentionMap {
  readonly #view: MatrixView;
  #weights: Weights | null = null;

  constructor(view: MatrixView) {
    this.#view = view;
    view.addEventListener('surface-resized', (event) => {
      event.stopPropagation(); // nobody else paints it
      this.#paint();
    });
  }

  show(
    name: string,
    [source, said]: readonly [readonly number[], Said],
    [head, look]: readonly [number, number],
  ): void {
    const weights = weightsOf(source, said, head);
    this.#weights = weights;
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
    this.#view.model = model;
    this.#paint();
  }

  hide(): void {
    this.#view.model = null;
  }

  #paint(): void {
    const [weights, size] = [this.#weights, this.#view.size];
    if (!weights || weights.rows === 0 || size.width === 0) return;
    const small = document.createElement('canvas');
    [small.width, small.height] = [weights.columns, weights.rows];
    const pixels = new ImageData(pixelsOf(weights), weights.columns, weights.rows);
    small.getContext('2d')?.putImageData(pixels, 0, 0);
    const { canvas } = this.#view;
    canvas.width = size.width;
    canvas.height = size.height;
    const context = context2d(canvas);
    context.imageSmoothingEnabled = false;
    context.drawImage(small, 0, 0, size.width, size.height);
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
