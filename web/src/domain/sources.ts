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

/** The heads of a model: its layers, and how many each has. */
export interface ModelHeads {
  readonly layers: number;
  readonly perLayer: number;
}

/** Whose heads there are to choose from: their count and their names follow from it. */
export interface HeadSource {
  readonly source: Source;
  /** Of the trained model; null while there is none whose heads can be drawn. */
  readonly trainedHeads: ModelHeads | null;
}

/** A head of the trained model by its layer and its place there, both from 0. */
export function trainedHeadName({ trainedHeads }: HeadSource, head: number): string {
  const perLayer = trainedHeads?.perLayer ?? 1;
  return `${Math.floor(head / perLayer)}.${head % perLayer}`;
}

/** The head that is shown: the last one where the state names one that only other weights have. */
export const shownHead = (head: number, source: HeadSource): number =>
  Math.min(head, headCount(source) - 1);

/** At least 1, also while the model is not there. */
export function headCount({ source, trainedHeads }: HeadSource): number {
  if (source === 'trained') return trainedHeads ? trainedHeads.layers * trainedHeads.perLayer : 1;
  return { constructed: CONSTRUCTED.length, random: RANDOM_HEADS, yours: 1 }[source];
}
