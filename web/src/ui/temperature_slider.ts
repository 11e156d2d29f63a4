import { clampTemperature } from '../state/page';

/** Sliders hold the exponent: tau = 10 ^ (value / 100), so that 1 is in the middle. */
export const toSlider = (temperature: number) => Math.round(Math.log10(temperature) * 100);
export const fromSlider = (value: number) => clampTemperature(10 ** (value / 100));
