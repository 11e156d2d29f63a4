/** Where the numbers of the heads come from; the page always says which. */
export const SOURCES = ['constructed', 'random', 'trained', 'yours'] as const;
export type Source = (typeof SOURCES)[number];

/** The heads built by hand, in their order. */
export const CONSTRUCTED = ['reference', 'previous', 'same', 'first', 'local', 'mean'] as const;
export type Construction = (typeof CONSTRUCTED)[number];

export const D_MODEL = 64;
export const D_K = 16;
export const RANDOM_HEADS = 4;
/** Heads that a link can name: models of the reader have many. */
export const MAX_HEADS = 4096;
/** The keys that the window of the mask leaves to a query: itself and those before it. */
export const WINDOW = 4;

/** The heads of the loaded model; names and counts follow from it, as texts follow from the language. */
let trained = { layers: 0, perLayer: 1 };

export function setTrainedHeads(layers: number, perLayer: number): void {
  trained = { layers, perLayer };
}

/** A head of a model by its layer and its place there, both from 0. */
export function trainedHeadName(head: number): string {
  return `${Math.floor(head / trained.perLayer)}.${head % trained.perLayer}`;
}

/** At least 1, also while the model is not there. */
export function headCount(source: Source): number {
  if (source === 'trained') return Math.max(1, trained.layers * trained.perLayer);
  return { constructed: CONSTRUCTED.length, random: RANDOM_HEADS, yours: 1 }[source];
}
