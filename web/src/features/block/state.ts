import type { Language } from '../../i18n/i18n';
import { MAX_TEXT, tokenize, type Tokenizer } from '../../domain/tokenizer';
import { choice, integer, type Field, type StateOf } from '../../state/field';
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

const short = (text: string) => text.slice(0, MAX_TEXT / 4).replace(/\p{Surrogate}/gu, '\uFFFD');
/** Empty: the sentence of CONTEXTS. */
const context: Field<string> = { key: 'bx', initial: '', write: short, read: short };

export const blockFields = {
  blockNorm: choice('bn', 'pre', NORM_PLACES),
  blockType: choice('by', 'layer', NORM_TYPES),
  blockTap: choice('bt', 'sum1', TAPS),
  blockContext: context,
  /** Of the stack: its blocks, how they are drawn, and the seed of the first one. */
  blockDepth: integer('bl', 12, [1, MAX_DEPTH]),
  blockRule: choice('br', 'glorot', RULES),
  blockSeed: integer('bs', 1, [1, 9999]),
};
export type BlockState = StateOf<typeof blockFields>;

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
