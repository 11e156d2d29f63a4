import type { Language } from '../../i18n/i18n';
import { MAX_TEXT, tokenize, type Tokenizer } from '../../domain/tokenizer';
import {
  choice,
  clamp,
  freeText,
  integer,
  number,
  numberList,
  optional,
  optionalNumber,
  rounded,
  significant,
  type Limits,
  type StateOf,
} from '../../state/field';
import { ROW_LENGTH } from './shared/worked_norm';
import {
  MAX_BLOCK_TOKENS,
  MAX_DEPTH,
  NORM_PLACES,
  NORM_TYPES,
  RULES,
  TAPS,
  type NormPlace,
  type NormType,
  type TapId,
} from './shared/constants';

/** The sentence that the queries of the other one read, until the reader writes another. */
export const CONTEXTS: Readonly<Record<Language, string>> = {
  en: 'A tired dog saw the cat on a mat.',
  zh: '一只累了的狗看见垫子上的猫。',
};

/** What the model that writes dates reads; empty: that of DATES. */
export const DATES: Readonly<Record<Language, string>> = { en: '3 March 1987', zh: '1987年3月3日' };

const ROW: Limits = [-1000, 1000];
const GAINS: Limits = [0.25, 4];
const SHIFTS: Limits = [-2, 2];
/** Four significant digits: what a box and a link show. */
export const clampEntry = (value: number): number => clamp(significant(value, 4), ROW) + 0;

export const blockFields = {
  blockNorm: choice('bn', 'pre', NORM_PLACES),
  blockType: choice('by', 'layer', NORM_TYPES),
  blockTap: choice('bt', 'sum1', TAPS),
  /** Empty: the sentence of CONTEXTS. */
  blockContext: freeText('bx', MAX_TEXT / 4),
  blockDate: optional(freeText('bd', 40)),
  /** Of the stack: its blocks, how they are drawn, and the seed of the first one. */
  blockDepth: integer('bl', 12, [1, MAX_DEPTH]),
  blockRule: choice('br', 'glorot', RULES),
  blockSeed: integer('bs', 1, [1, 9999]),
  /** The row that is normalised by hand, its gain and its shift; null, as in older links: that of workedRowOf. */
  blockRow: numberList('bnr', ROW_LENGTH, clampEntry),
  blockGain: optionalNumber(rounded('bng', 1, GAINS, 2)),
  blockShift: optionalNumber(
    number('bnb', 0, SHIFTS, (value) => clamp(Math.round(value * 10) / 10, SHIFTS) + 0),
  ),
};
export type BlockState = StateOf<typeof blockFields>;

/** What the worked norm begins with. */
export const workedRowOf = (state: BlockState) => ({
  row: state.blockRow ?? [2, 4, -1, 0, 3, 4],
  gain: state.blockGain ?? 1,
  shift: state.blockShift ?? 0,
});

export type BlockReader = BlockState & {
  readonly language: Language;
  readonly tokenizer: Tokenizer;
};

export interface BlockRequest {
  readonly place: NormPlace;
  readonly type: NormType;
  readonly tap: TapId;
  /** The tokens whose keys and values the sentence reads. */
  readonly context: readonly string[];
}

export function blockRequest(state: BlockReader): BlockRequest {
  const { blockNorm, blockType, blockTap, blockContext, language, tokenizer } = state;
  const { tokens } = tokenize(blockContext || CONTEXTS[language], tokenizer, null);
  const context = tokens.slice(0, MAX_BLOCK_TOKENS);
  return { place: blockNorm, type: blockType, tap: blockTap, context };
}
