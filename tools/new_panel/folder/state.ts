import { integer, optionalNumber, type StateOf } from '../../state/field';

/** How many keys are listed until the reader chooses. */
const FIRST_COUNT = 3;

export const panelnameFields = {
  /** How many of the heaviest keys are listed; null, as in links that are older than the panel: FIRST_COUNT. */
  panelnameCount: optionalNumber(integer('panelname', FIRST_COUNT, [1, 12])),
};
export type PanelnameState = StateOf<typeof panelnameFields>;

export const panelnameCountOf = ({ panelnameCount }: PanelnameState): number =>
  panelnameCount ?? FIRST_COUNT;

/** What is requested of the frame worker. */
export interface PanelnameRequest {
  /** At most so many keys. */
  readonly count: number;
}

export const panelnameRequest = (state: PanelnameState): PanelnameRequest => ({
  count: panelnameCountOf(state),
});
