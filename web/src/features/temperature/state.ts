import { choice, flag, type StateOf } from '../../state/field';
import { LAB_SCORES } from './settings';

export const temperatureFields = {
  /** Whether the curves are shown, or the reader is asked to guess first. */
  curves: flag('curves', true),
  /** Which scores are shown at all temperatures. */
  scores: choice('ts', 'random', LAB_SCORES),
};
export type TemperatureState = StateOf<typeof temperatureFields>;
