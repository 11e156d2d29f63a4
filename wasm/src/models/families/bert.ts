// BERT: an encoder with norms after its parts, and tables of positions and segments.

import type { Family, Hub } from './family.js';
import { all, type Fixed, unrotated } from './fixed.js';
import { named, type Names } from './locate.js';

export const bertTraits = {
  causal: false,
  norm: 'post',
  embeddingNorm: true,
  head: false,
} as const;
export const bertNames: Names = {
  ...{ layers: 'encoder.layer.', prefix: 'bert.' },
  modules: named(
    'embeddings.word_embeddings - - attention.output.LayerNorm ' +
      'attention.self.query attention.self.key attention.self.value attention.output.dense ' +
      'output.LayerNorm intermediate.dense output.dense - - - - - ' +
      'embeddings.position_embeddings embeddings.token_type_embeddings embeddings.LayerNorm',
  ),
  ignored: /^embeddings\.position_ids$/,
};
export const bertFixed: Fixed = {
  ...{ ...unrotated, ...all('is_decoder is_causal', false), ...all('directionality', 'bidi') },
  ...all('position_embedding_type', 'absolute'),
};
export const bertSizes =
  'num_hidden_layers hidden_size num_attention_heads intermediate_size max_position_embeddings';

export const bertHub: Hub = {
  ...{ names: bertNames, sizes: bertSizes, fixed: bertFixed },
  more: (fields) => ({ config: { tokenTypes: fields.count('type_vocab_size') } }),
};

export const bert: Family = {
  types: ['bert'],
  traits: bertTraits,
  hub: bertHub,
  gguf: {
    architecture: 'bert',
    modules: { norm1: 'attn_output_norm', norm2: 'layer_output_norm' },
  },
};
