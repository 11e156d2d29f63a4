import { largestAt } from '../../../domain/largest_at';
import type { Language } from '../../../i18n/i18n';
import type { Cell } from '../../../ui/matrix/cell';
import { paintWeights } from '../../../ui/matrix/paint_weights';
import type { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import type { MatrixModel } from '../../../ui/matrix/view';
import { percent } from '../../../ui/numbers';
import { t } from '../feature';
import { charactersOf, placesOf, type Day, type PartOfDay } from '../shared/dates';
import { DATE_HEADS, type DateReading } from '../shared/protocol';

/** Where the ISO form has each part. */
const ROWS: Readonly<Record<PartOfDay, readonly [from: number, to: number]>> = {
  year: [0, 4],
  month: [5, 7],
  day: [8, 10],
};

export function charactersFor(tokens: readonly number[], language: Language): string[] {
  const characters = charactersOf(language);
  return tokens.map((token) => characters[token] ?? '?');
}

function weightsOf({ rows, tokens, weights }: DateReading, head: number): Float32Array {
  const size = rows * tokens.length;
  return weights.subarray(head * size, (head + 1) * size);
}

/** What a matrix shows of the cross-attention of one head. */
export function mapOf(
  reading: DateReading,
  head: number,
  [language, look]: readonly [Language, number],
): MatrixModel {
  const weights = weightsOf(reading, head);
  const cols = reading.tokens.length;
  const labels = (tokens: readonly number[]) =>
    charactersFor(tokens, language).map((character) => (character === ' ' ? '␣' : character));
  const colLabels = labels(reading.tokens);
  const rowLabels = [...labels(reading.ids), t('block.dates.end')].slice(0, reading.rows);
  const describe = ({ row, col }: Cell) =>
    t('block.dates.cell', {
      ...{ head: head + 1, written: rowLabels[row] ?? '', read: colLabels[col] ?? '' },
      ...{ row: row + 1, col: col + 1, weight: percent(weights[row * cols + col] ?? NaN) },
    });
  return {
    ...{ rows: reading.rows, cols, rowLabels, colLabels, rowHeight: 'square', look },
    name: t('block.dates.name', { head: head + 1, rows: reading.rows, cols }),
    home: { row: 0, col: largestAt(weights.subarray(0, cols)) },
    bracket: null,
    describe,
  };
}

/** Shows it in a matrix that the page paints itself. */
export function showMap(
  matrix: PaintedMatrix,
  reading: DateReading,
  head: number,
  of: readonly [Language, number],
): void {
  const model = mapOf(reading, head, of);
  matrix.show(model, (cells) => paintWeights(cells, weightsOf(reading, head), model.cols));
}

/** While this part is written: the share of the weights of all heads that is on the same part of what is read. */
export function shareOn(
  part: PartOfDay,
  reading: DateReading,
  day: Day,
  language: Language,
): number {
  const [[from, to], [first, end]] = [placesOf(day, language)[part], ROWS[part]];
  const cols = reading.tokens.length;
  let sum = 0;
  for (let head = 0; head < DATE_HEADS; head++) {
    const weights = weightsOf(reading, head);
    for (let row = first; row < end; row++) {
      for (let col = from; col < to; col++) sum += weights[row * cols + col] ?? NaN;
    }
  }
  return sum / (DATE_HEADS * (end - first));
}
