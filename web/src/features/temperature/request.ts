import type { LabScores } from './settings';
import type { TemperatureState } from './state';

export const temperatureRequest = ({ scores }: TemperatureState): LabScores => scores;
