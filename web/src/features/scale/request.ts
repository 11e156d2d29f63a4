import type { ScaleState } from './state';

export const scaleRequest = ({ sample }: ScaleState): number => sample;
