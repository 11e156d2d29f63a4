import { tokenize, type Tokenizer } from '../../domain/tokenizer';
import type { Language } from '../../i18n/i18n';
import { MAX_BLOCK_TOKENS, type NormPlace, type NormType, type TapId } from './shared/constants';
import { CONTEXTS, type BlockState } from './state';

export interface BlockRequest {
  readonly place: NormPlace;
  readonly type: NormType;
  readonly tap: TapId;
  /** The tokens whose keys and values the sentence reads. */
  readonly context: readonly string[];
}

type Read = BlockState & { readonly language: Language; readonly tokenizer: Tokenizer };

export function blockRequest(state: Read): BlockRequest {
  const { blockNorm, blockType, blockTap, blockContext, language, tokenizer } = state;
  const { tokens } = tokenize(blockContext || CONTEXTS[language], tokenizer, null);
  const context = tokens.slice(0, MAX_BLOCK_TOKENS);
  return { place: blockNorm, type: blockType, tap: blockTap, context };
}
