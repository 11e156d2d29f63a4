/** How many scores the row has. */
export const KEYS = 5;
/** How many shakes are drawn. */
export const DRAWS = 500;
/** The temperatures of the curves. */
export const CURVE: readonly number[] = Array.from({ length: 37 }, (_, i) =>
  Number((0.05 * 100 ** (i / 36)).toPrecision(4)),
);
