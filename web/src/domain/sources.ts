/** Where the numbers of the heads come from; the page always says which. */
export const SOURCES = ['constructed', 'random', 'yours'] as const;
export type Source = (typeof SOURCES)[number];

/** The heads built by hand, in their order. */
export const CONSTRUCTED = ['reference', 'previous', 'same', 'first', 'local', 'mean'] as const;
export type Construction = (typeof CONSTRUCTED)[number];

export const D_MODEL = 64;
export const D_K = 16;
export const RANDOM_HEADS = 4;
export const MAX_HEADS = CONSTRUCTED.length;
/** The keys that the window of the mask leaves to a query: itself and those before it. */
export const WINDOW = 4;

export function headCount(source: Source): number {
  return { constructed: CONSTRUCTED.length, random: RANDOM_HEADS, yours: 1 }[source];
}
