import { flag, integer, powerOfTwo, type StateOf } from '../../state/field';
import { RANGE } from './shared/constants';

export const scaleFields = {
  /** The width d of queries and keys. */
  width: powerOfTwo('d', 64, RANGE),
  /** Whether scores are divided by sqrt(d). */
  divided: flag('div', false),
  /** Which sample is drawn. */
  sample: integer('draw', 1, [1, 9999]),
  /** Whether the reader guesses before the entropies are shown. */
  scaleAsk: flag('da', false),
};
export type ScaleState = StateOf<typeof scaleFields>;

/** Which sample is studied. */
export const scaleRequest = ({ sample }: ScaleState): number => sample;
