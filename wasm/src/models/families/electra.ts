// ELECTRA whose embeddings are as wide as its layers (base; small projects them): BERT by another name.

import { bertHub, bertTraits } from './bert.js';
import type { Family } from './family.js';

export const electra: Family = {
  types: ['electra'],
  traits: bertTraits,
  hub: {
    ...{ ...bertHub, names: { ...bertHub.names, prefix: 'electra.' } },
    more: (fields, sizes) => {
      fields.only('embedding_size', sizes.dModel);
      return bertHub.more?.(fields, sizes) ?? {};
    },
  },
};
