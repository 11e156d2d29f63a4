/** The ways to say where a token is. */
export const SCHEMES = ['sinusoidal', 'learned', 't5', 'xl', 'alibi', 'rotary'] as const;
export type Scheme = (typeof SCHEMES)[number];
