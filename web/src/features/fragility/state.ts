import {
  clamp,
  integer,
  number,
  numberList,
  optionalNumber,
  significant,
  type Limits,
  type StateOf,
} from '../../state/field';
import { clampTemperature } from '../../state/page';
import { clampScore } from '../../state/score';
import { TEMPERATURES } from '../../domain/temperatures';
import { KEYS } from './shared/constants';

const SHAKES: Limits = [0.01, 1];
export const clampShake = (value: number): number => clamp(significant(value, 2), SHAKES);

/** Until the reader chooses: two scores that lie close to each other. */
const FIRST = { scores: [2, 1.95, 1, 0.5, 0], shake: 0.1, temperature: 0.1, seed: 1 } as const;

/** Null, as in links that are older than the panel: FIRST. */
export const fragilityFields = {
  fragilityScores: numberList('frs', KEYS, clampScore),
  /** By how much a shake may change a score at most. */
  fragilityShake: optionalNumber(number('fre', FIRST.shake, SHAKES, clampShake)),
  fragilityTemperature: optionalNumber(number('frt', 1, TEMPERATURES, clampTemperature)),
  /** Which shakes are drawn. */
  fragilitySeed: optionalNumber(integer('frd', 1, [1, 9999])),
};
export type FragilityState = StateOf<typeof fragilityFields>;

/** What is requested of the frame worker. */
export interface FragilityRequest {
  readonly scores: readonly number[];
  readonly shake: number;
  readonly temperature: number;
  readonly seed: number;
}

export const fragilityRequest = (state: FragilityState): FragilityRequest => ({
  scores: state.fragilityScores ?? FIRST.scores,
  shake: state.fragilityShake ?? FIRST.shake,
  temperature: state.fragilityTemperature ?? FIRST.temperature,
  seed: state.fragilitySeed ?? FIRST.seed,
});
