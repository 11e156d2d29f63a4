import { TEMPERATURES } from '../../domain/temperatures';
import {
  number,
  numberList,
  optional,
  optionalNumber,
  type Field,
  type StateOf,
} from '../../state/field';
import { clampTemperature } from '../../state/page';
import { clampScore } from '../../state/score';
import { fromWhole, type Weights } from './shared/objective';

/** Until the reader chooses. */
const FIRST = { scores: [2, 1, 0], temperature: 1, point: fromWhole(334, 333) } as const;

/** Weights in thousandths, so that a link holds them exactly: the first two, the third is what is left. */
const point: Field<Weights> = {
  key: 'sxp',
  initial: FIRST.point,
  write: ([first, second]) => `${Math.round(first * 1000)},${Math.round(second * 1000)}`,
  read(raw) {
    const match = /^(\d{1,4}),(\d{1,4})$/.exec(raw);
    if (!match) return undefined;
    const [first, second] = [Number(match[1]), Number(match[2])];
    return first + second <= 1000 ? fromWhole(first, second) : undefined;
  },
};

/** Null, as in links that are older than the panel: FIRST. */
export const simplexFields = {
  /** The scores of the three keys. */
  simplexScores: numberList('sxs', 3, clampScore),
  simplexTemperature: optionalNumber(number('sxt', 1, TEMPERATURES, clampTemperature)),
  /** The weights that the reader tries. */
  simplexPoint: optional(point),
};
export type SimplexState = StateOf<typeof simplexFields>;

/** What is requested of the frame worker: the weights that softmax gives to these scores. */
export interface SimplexRequest {
  readonly scores: readonly number[];
  readonly temperature: number;
}

export const simplexRequest = (state: SimplexState): SimplexRequest => ({
  scores: state.simplexScores ?? FIRST.scores,
  temperature: state.simplexTemperature ?? FIRST.temperature,
});

export const simplexPointOf = ({ simplexPoint }: SimplexState): Weights =>
  simplexPoint ?? FIRST.point;
