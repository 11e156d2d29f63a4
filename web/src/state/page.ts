import { MASKS, POSITIONS } from '../domain/choices';
import { SOURCES } from '../domain/sources';
import { TEMPERATURES } from '../domain/temperatures';
import { readNumbers, WORKED_EXAMPLE, writeNumbers, type NumberSet } from '../domain/number_sets';
import { MAX_TEXT, MAX_TOKENS, TOKENIZERS } from '../domain/tokenizer';
import {
  choice,
  clamp,
  flag,
  freeText,
  integer,
  number,
  optionalNumber,
  significant,
  type Field,
  type StateOf,
} from './field';

/** Three significant digits: what the slider, the box and the link all show. */
export function clampTemperature(value: number): number {
  return clamp(significant(value, 3), TEMPERATURES);
}

/** Its initial value depends on the language. */
const text = freeText('x', MAX_TEXT);

const numbers: Field<NumberSet> = {
  ...{ key: 'n', initial: WORKED_EXAMPLE },
  ...{ write: writeNumbers, read: readNumbers },
};

/** What the whole page depends on: the sentence and the settings of the layer. */
export const PAGE_FIELDS = {
  text,
  tokenizer: choice('tok', 'word', TOKENIZERS),
  /** Tokens the layer reads, the text repeated or cut to fit; null: as many as the text has. */
  length: optionalNumber(integer('T', 1, [1, MAX_TOKENS])),
  source: choice('src', 'constructed', SOURCES),
  positions: choice('pe', 'sinusoidal', POSITIONS),
  mask: choice('mask', 'causal', MASKS),
  temperature: number('tau', 1, TEMPERATURES, clampTemperature),
  seed: integer('seed', 7, [0, 999999]),
  /** The token whose row is described; null: the page chooses. */
  query: optionalNumber(integer('q', 0, [0, MAX_TOKENS - 1])),
  /** The numbers of the source `yours`, and of the panel that follows one row. */
  numbers,
  /** Whether controls are shown; a teacher may hide them. */
  controls: flag('controls', true),
};
export type PageState = StateOf<typeof PAGE_FIELDS>;
