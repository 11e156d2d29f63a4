import type { LabScores } from './shared/constants';
import type { TemperatureState } from './state';

export interface TemperatureRequest {
  /** Which scores are studied. */
  readonly scores: LabScores;
  readonly gain: number;
}

export const temperatureRequest = ({ scores, gain }: TemperatureState): TemperatureRequest => ({
  scores,
  gain,
});
