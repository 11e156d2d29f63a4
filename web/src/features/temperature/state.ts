import { choice, clamp, flag, number, significant, type StateOf } from '../../state/field';
import { LAB_SCORES, type LabScores } from './shared/constants';

const GAINS = [0.25, 4] as const;

export const clampGain = (value: number) => clamp(significant(value, 3), GAINS);

export const temperatureFields = {
  /** Whether the curves are shown, or the reader guesses first. */
  curves: flag('curves', true),
  /** Which scores are shown at all temperatures. */
  scores: choice('ts', 'random', LAB_SCORES),
  /** By how much the gain of a LayerNorm is multiplied. */
  gain: number('gc', 2, GAINS, clampGain),
};
export type TemperatureState = StateOf<typeof temperatureFields>;

export interface TemperatureRequest {
  /** Which scores are studied. */
  readonly scores: LabScores;
  readonly gain: number;
}

export const temperatureRequest = ({ scores, gain }: TemperatureState): TemperatureRequest => ({
  scores,
  gain,
});
