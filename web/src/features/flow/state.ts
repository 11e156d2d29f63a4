import { clamp, integer, number, optionalNumber, type StateOf } from '../../state/field';
import { MOST_SHIFT } from './shared/constants';

/** The number of x that is chosen first: in the heads built by hand, whether a word asks for an animal. */
const FIRST_PART = 32;

const LIMITS = [-MOST_SHIFT, MOST_SHIFT] as const;
const clampShift = (value: number) => clamp(Math.round(value * 20) / 20, LIMITS) + 0;

export const flowFields = {
  /** Which number of x the reader changes; null: FIRST_PART. */
  flowPart: optionalNumber(integer('fx', FIRST_PART, [0, 63])),
  /** What is added to it; null: nothing. */
  flowShift: optionalNumber(number('fd', 0, LIMITS, clampShift)),
};
export type FlowState = StateOf<typeof flowFields>;

/** What is requested of the frame worker. */
export interface FlowRequest {
  readonly part: number;
  readonly shift: number;
}

export const flowRequest = ({ flowPart, flowShift }: FlowState): FlowRequest => ({
  part: flowPart ?? FIRST_PART,
  shift: flowShift ?? 0,
});
