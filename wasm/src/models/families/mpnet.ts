// MPNet: BERT without segments, and with the biases by distance of T5.

import { bertFixed, bertSizes, bertTraits } from './bert.js';
import type { Family } from './family.js';
import { robertaHeads } from './heads.js';
import { named } from './locate.js';

/** The first token has the position after that of padding, which is 1 in every file. */
const firstPosition = 2;

export const mpnet: Family = {
  types: ['mpnet'],
  traits: bertTraits,
  hub: {
    names: {
      ...{ layers: 'encoder.layer.', prefix: 'mpnet.', firstPosition },
      modules: named(
        'embeddings.word_embeddings - - attention.LayerNorm attention.attn.q attention.attn.k attention.attn.v attention.attn.o ' +
          'output.LayerNorm intermediate.dense output.dense - - - - - embeddings.position_embeddings - embeddings.LayerNorm ' +
          'encoder.relative_attention_bias',
      ),
      ignored: /^embeddings\.position_ids$/,
    },
    ...{ sizes: bertSizes, fixed: bertFixed, tasks: () => robertaHeads },
    more: (fields, { maxLength }) => ({
      config: {
        maxLength: maxLength - firstPosition,
        relativeBuckets: fields.count('relative_attention_num_buckets', 32),
      },
    }),
  },
};
