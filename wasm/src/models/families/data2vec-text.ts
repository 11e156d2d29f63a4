// Data2Vec of texts, whose files are those of RoBERTa by another name.

import { bertTraits } from './bert.js';
import type { Family } from './family.js';
import { robertaHub } from './roberta.js';

export const data2vecText: Family = {
  types: ['data2vec-text'],
  traits: bertTraits,
  hub: { ...robertaHub, names: { ...robertaHub.names, prefix: 'data2vec_text.' } },
};
