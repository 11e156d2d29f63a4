// BERT: an encoder with norms after its parts, and tables of positions and segments.

import type { Family, Hub } from './family.js';
import type { Heads } from './heads.js';
import { plain } from './plain-activations.js';
import type { Fields } from '../fields.js';
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

/** Heads of BERT: of masked tokens, and of classes by its pooler. */
const bertHeads = (fields: Fields): Heads => ({
  MaskedLM: {
    config: {
      headTransform: fields.choice('hidden_act', plain, 'gelu'),
      ...{ headNorm: true, headBias: true },
    },
    modules: {
      headTransform: 'cls.predictions.transform.dense',
      headNorm: 'cls.predictions.transform.LayerNorm',
      head: 'cls.predictions.decoder',
    },
    biases: ['cls.predictions.bias', 'cls.predictions.decoder.bias'],
  },
  SequenceClassification: {
    config: { headTransform: 'tanh', headPooling: 'first', headBias: true },
    modules: { headTransform: 'pooler.dense', head: 'classifier' },
  },
  TokenClassification: { config: { headBias: true }, modules: { head: 'classifier' } },
});

export const bertHub: Hub = {
  ...{ names: bertNames, sizes: bertSizes, fixed: bertFixed },
  more: (fields) => ({ config: { tokenTypes: fields.count('type_vocab_size') } }),
  tasks: bertHeads,
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
