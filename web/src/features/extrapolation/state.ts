import { integer, optionalNumber, powerOfTwo, type StateOf } from '../../state/field';
import type { Settings } from './shared/protocol';

/** Null, as in links that are older than the panel: the first run, on 64 positions. */
export const extrapolationFields = {
  extrapolationSeed: optionalNumber(integer('exs', 1, [1, 9999])),
  /** The length of the rows of training. */
  extrapolationTrained: optionalNumber(powerOfTwo('ext', 64, [16, 128])),
};
export type ExtrapolationState = StateOf<typeof extrapolationFields>;

export const settingsOf = (state: ExtrapolationState): Settings => ({
  seed: state.extrapolationSeed ?? 1,
  trained: state.extrapolationTrained ?? 64,
});
