// RoBERTa and its translations: BERT whose first token has the position after that of padding. GGUF has them as BERT.

import { bertFixed, bertNames, bertSizes, bertTraits } from './bert.js';
import type { Family, Hub } from './family.js';
import { robertaHeads } from './heads.js';

export const robertaHub: Hub = {
  names: { ...bertNames, prefix: 'roberta.' },
  ...{ sizes: bertSizes, fixed: bertFixed, tasks: () => robertaHeads },
  more: (fields, { maxLength }) => {
    const firstPosition = fields.count('pad_token_id', 1, 0) + 1;
    const tokenTypes = fields.count('type_vocab_size');
    return {
      config: { tokenTypes, maxLength: maxLength - firstPosition },
      names: { firstPosition },
    };
  },
};

export const roberta: Family = {
  types: ['roberta', 'xlm-roberta', 'camembert'],
  traits: bertTraits,
  hub: robertaHub,
};
