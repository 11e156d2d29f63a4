import { choice, flag, integer, type Field, type StateOf } from '../../state/field';
import { GRID, MASK_KINDS, OPEN_PAINT, readPaint, type MaskChoice } from './shared/mask_grid';

const maskPaint: Field<string> = {
  ...{ key: 'mp', initial: OPEN_PAINT },
  ...{ write: String, read: readPaint },
};

export const masksFields = {
  maskKind: choice('mk', 'causal', MASK_KINDS),
  /** The size of a mask that has one. */
  maskSize: integer('ms', 3, [1, GRID]),
  /** What was painted by hand. */
  maskPaint,
  /** The seed of the order the tokens are in; 0: as they are written. */
  maskShuffle: integer('mo', 0, [0, 999999]),
  /** Whether the reader guesses before the panel says what the order changes. */
  masksAsk: flag('ma', false),
};
export type MasksState = StateOf<typeof masksFields>;

export interface MasksRequest extends MaskChoice {
  /** The seed of the order the tokens are in; 0: as they are written. */
  readonly maskShuffle: number;
}

export function masksRequest(state: MasksState): MasksRequest {
  const { maskKind, maskSize, maskPaint, maskShuffle } = state;
  return { maskKind, maskSize, maskPaint, maskShuffle };
}
