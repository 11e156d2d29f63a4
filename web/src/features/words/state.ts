import { choice, freeText, optional, type Field, type StateOf } from '../../state/field';
import { CELLS, type Cells } from './shared/cells';

export const LONGEST_TEXT = 600;
export const LONGEST_WORD = 24;
export const LONGEST_PLANE = 400;
export const LONGEST_CONTEXT = 120;

/** A text that a reader may empty: then a link has a space for it, as nothing means what the panel begins with. */
function ownText(key: string, longest: number): Field<string | null> {
  const field = freeText(key, longest);
  return {
    ...{ key, initial: null },
    write: (value) => (value === null ? '' : field.write(value) || ' '),
    read: (raw) => (raw === '' ? undefined : typed(field.read(raw) ?? '')),
  };
}

/** What was typed, as the state has it: spaces alone are nothing. */
export const typed = (text: string): string => (text.trim() === '' ? '' : text);

/** Null where a link says nothing of it: then it is as the panel begins. */
export const wordsFields = {
  /** Documents that are counted, a line each. */
  wordsText: ownText('wdx', LONGEST_TEXT),
  wordsCells: optional(choice<Cells>('wdc', 'counts', CELLS)),
  /** The word whose formula is worked out. */
  wordsTerm: ownText('wdt', LONGEST_WORD),
  /** The word whose neighbours are listed, and the one it is compared with. */
  wordsNear: ownText('wdn', LONGEST_WORD),
  wordsOther: ownText('wdo', LONGEST_WORD),
  /** Words on the plane. */
  wordsPlane: ownText('wdp', LONGEST_PLANE),
  /** Three words with spaces between: the first, less the second, plus the third. */
  wordsAnalogy: ownText('wda', 3 * LONGEST_WORD + 2),
  /** A word, and two texts in which a trained model reads it. */
  wordsContext: ownText('wdw', LONGEST_WORD),
  wordsFirst: ownText('wd1', LONGEST_CONTEXT),
  wordsSecond: ownText('wd2', LONGEST_CONTEXT),
};
export type WordsState = StateOf<typeof wordsFields>;
