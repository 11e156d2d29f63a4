/** By how much the reader can change a number of x, up or down. */
export const MOST_SHIFT = 4;
/** Of more keys than these only the heaviest are listed. */
export const MOST_KEYS = 10;
