// ESM-2, which reads proteins: an encoder with norms before its parts, and rotated.

import type { Fields } from '../fields.js';
import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { bertSizes } from './bert.js';
import { named } from './locate.js';

/** Of the embeddings in training 0.15 x 0.8 were left out; those of a text without a mask are made smaller by as much. */
const kept = 1 - 0.15 * 0.8;
const scaleOf = (fields: Fields): number => (fields.flag('token_dropout', false) ? kept : 1);

export const esm: Family = {
  types: ['esm'],
  traits: {
    ...{ positions: 'rotary', rotary: { base: 10_000 }, activation: 'gelu' },
    ...{ causal: false, head: false },
  },
  hub: {
    names: {
      ...{ layers: 'encoder.layer.', prefix: 'esm.' },
      modules: named(
        'embeddings.word_embeddings encoder.emb_layer_norm_after - attention.LayerNorm ' +
          'attention.self.query attention.self.key attention.self.value attention.output.dense ' +
          'LayerNorm intermediate.dense output.dense',
      ),
      // Files have a table of positions that nothing reads.
      ignored: /^embeddings\.position_(ids|embeddings\.weight)$|\.rotary_embeddings\.inv_freq$/,
    },
    sizes: bertSizes,
    fixed: {
      ...{ ...unrotated, ...all('hidden_act', 'gelu') },
      ...all('is_decoder is_causal emb_layer_norm_before is_folding_model', false),
    },
    more: (fields) => {
      fields.choice('position_embedding_type', { rotary: true });
      return { config: { embeddingScale: scaleOf(fields) } };
    },
  },
};
