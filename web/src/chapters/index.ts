// The chapters of the page, in its order. What a chapter says is in en.json and zh.json beside this file, under `chapters.<id>`.
// A panel of features/index.ts gets its place in the page here.
import type { PanelId } from '../features/index';

export interface Chapter {
  /** Whether it has a small picture of its own, `qkv-picture-<id>` of features/pictures. */
  readonly picture?: true;
  /** Panels that are there at once: the picture of the chapter. */
  readonly shown: readonly PanelId[];
  /** Panels that open when the reader asks for the laboratory of the chapter. */
  readonly laboratory: readonly PanelId[];
  /** Panels of other chapters that show the same from another side. */
  readonly see?: readonly PanelId[];
  /** Whether it leads to the lessons. */
  readonly lessons?: true;
  /** Whether the settings of the layer act on the pictures of this chapter: elsewhere they are not on the screen. */
  readonly settings: boolean;
}

export const CHAPTERS = {
  why: { shown: ['lookup', 'map'], laboratory: [], settings: true },
  qkv: { shown: ['flow'], laboratory: ['pair'], settings: true },
  row: { shown: ['row'], laboratory: [], settings: false },
  scores: {
    picture: true,
    shown: [],
    laboratory: ['temperature', 'scale'],
    see: ['fragility', 'simplex'],
    settings: true,
  },
  masks: { picture: true, shown: [], laboratory: ['masks'], settings: true },
  heads: { picture: true, shown: [], laboratory: [], see: ['map', 'block'], settings: true },
  order: { picture: true, shown: [], laboratory: ['positions', 'extrapolation'], settings: true },
  blocks: { picture: true, shown: [], laboratory: ['block'], settings: true },
  before: { picture: true, shown: [], laboratory: ['recurrence'], settings: false },
  words: { picture: true, shown: [], laboratory: ['words'], see: ['model'], settings: false },
  learning: { shown: ['learn'], laboratory: [], settings: false },
  trained: { shown: ['model', 'microscope'], laboratory: [], settings: false },
  cost: { picture: true, shown: [], laboratory: ['cost', 'linear'], settings: false },
  theory: {
    shown: ['simplex'],
    laboratory: ['fragility', 'bounds'],
    see: ['temperature', 'scale', 'positions', 'recurrence', 'learn'],
    settings: false,
  },
  use: { lessons: true, shown: [], laboratory: ['checks', 'use'], settings: false },
} satisfies Readonly<Record<string, Chapter>>;

export type ChapterId = keyof typeof CHAPTERS;
export const CHAPTER_IDS = Object.keys(CHAPTERS) as readonly ChapterId[];

/** The name of a chapter in an address, and the id of its element: panels have the bare names. */
export type ChapterPlace = `chapter-${ChapterId}`;
export const placeOf = (id: ChapterId): ChapterPlace => `chapter-${id}`;
export const CHAPTER_PLACES = CHAPTER_IDS.map(placeOf);

/** The chapter of a panel, if that is in a laboratory: it has to be open for the panel to be seen. */
export function laboratoryOf(panel: string | null): ChapterId | undefined {
  return CHAPTER_IDS.find((id) => {
    const { laboratory }: Chapter = CHAPTERS[id];
    return laboratory.some((name) => name === panel);
  });
}
