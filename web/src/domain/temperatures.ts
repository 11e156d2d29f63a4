/** The temperatures that can be set. */
export const TEMPERATURES = [0.05, 20] as const;
