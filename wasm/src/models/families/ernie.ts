// ERNIE, the encoder, without embeddings of tasks: BERT by another name.

import { bertHub, bertTraits } from './bert.js';
import type { Family } from './family.js';
import { all } from './fixed.js';

export const ernie: Family = {
  types: ['ernie'],
  traits: bertTraits,
  hub: {
    ...{ ...bertHub, names: { ...bertHub.names, prefix: 'ernie.' } },
    fixed: { ...bertHub.fixed, ...all('use_task_id', false) },
  },
};
