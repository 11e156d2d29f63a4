/** The lowest and the highest temperature that can be set. */
export const TEMPERATURES = [0.05, 20] as const;
