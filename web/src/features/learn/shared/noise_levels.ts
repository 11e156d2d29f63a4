/** Standard deviations of the noise that an observation may have, in the experiment about estimating. */
export const LEVELS = [0.25, 0.5, 1, 2] as const;
/** Observations of one unknown number. */
export const OBSERVATIONS = 8;
