import { largestAt } from '../domain/largest_at';
import type { Mask } from '../domain/choices';
import { isSigned, type colourIndex } from '../domain/colour_scale';
import type { Head, Layer } from './heads';
import { allowedKeys } from '../domain/mask';
import type { RowData } from '../domain/row_data';

/** What a picture of a head is made of. */
export interface Values {
  /** [rows, count]: of every `step` rows the last. */
  readonly values: Float32Array;
  readonly count: number;
  readonly step: number;
  readonly show: Parameters<typeof colourIndex>[0];
  readonly range: number;
  readonly mask: Mask;
}

/** The largest magnitude among the cells that are not masked. */
function rangeOf(values: Float32Array, mask: Mask): number {
  const count = Math.sqrt(values.length);
  let most = 0;
  for (let row = 0; row < count; row++) {
    const [first, end] = allowedKeys(mask, row, count);
    for (let at = row * count + first; at < row * count + end; at++) {
      const size = Math.abs(values[at]!);
      if (size > most && size < Infinity) most = size;
    }
  }
  return most;
}

export function valuesOf(values: Float32Array, show: Values['show'], mask: Mask): Values {
  const count = Math.sqrt(values.length);
  return { values, count, step: 1, show, range: isSigned(show) ? rangeOf(values, mask) : 1, mask };
}

export function rowData(head: Head, row: number, layer: Layer): RowData {
  const { weights, logits, entropy, lse } = head.row(row, layer, {
    returnWeights: true,
    returnLogits: 'biased',
    returnEntropy: true,
    returnLse: true,
  });
  if (!weights || !logits || !entropy || !lse) throw new Error('the head left out a result');
  return {
    row,
    weights: weights.data,
    scores: logits.data,
    entropy: entropy.data[0]!,
    lse: lse.data[0]!,
    largest: largestAt(weights.data),
  };
}
