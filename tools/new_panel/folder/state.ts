import { integer, optionalNumber, type StateOf } from '../../state/field';
import type { FrameAsk } from '../feature';
import type { panelnameFrames } from './worker/frame_feature';

/** How many keys are listed until the reader chooses. */
const FIRST_COUNT = 3;

export const panelnameFields = {
  /** How many of the heaviest keys are listed; null, as in links that are older than the panel: FIRST_COUNT. */
  panelnameCount: optionalNumber(integer('panelname', FIRST_COUNT, [1, 12])),
};
export type PanelnameState = StateOf<typeof panelnameFields>;

export const panelnameCountOf = ({ panelnameCount }: PanelnameState): number =>
  panelnameCount ?? FIRST_COUNT;

export const panelnameRequest: FrameAsk<typeof panelnameFrames, PanelnameState> = (state) => ({
  count: panelnameCountOf(state),
});
