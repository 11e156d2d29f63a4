/** What the enlarged map shows: scores before the softmax, or weights on one of three scales. */
export const SHOWS = ['scores', 'weights', 'sqrt', 'log'] as const;
export type Show = (typeof SHOWS)[number];
export const MASKS = ['none', 'causal', 'window'] as const;
export type Mask = (typeof MASKS)[number];
export const POSITIONS = ['none', 'sinusoidal'] as const;
export type Positions = (typeof POSITIONS)[number];
export const ORDERS = ['number', 'entropy', 'distance', 'first', 'rank'] as const;
export type Order = (typeof ORDERS)[number];
export const LOOKS = ['map', 'arcs'] as const;
