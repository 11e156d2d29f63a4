// Nomic's BERT (nomic-embed-text v1 and v1.5): BERT with rotary positions and a gate, and maps without biases.

import { bertTraits } from './bert.js';
import type { Family } from './family.js';
import { all, caps, unbiased } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { named } from './locate.js';

const qkv = 'attn.Wqkv';
const constants = /^(q|k|v|o|up|gate|down)\.bias$/;

export const nomicBert: Family = {
  types: ['nomic_bert'],
  traits: { ...bertTraits, positions: 'rotary', activation: 'swiglu' },
  hub: {
    classes: 'NomicBert',
    names: {
      ...{ layers: 'encoder.layers.', prefix: 'bert.', constants },
      modules: named(
        `embeddings.word_embeddings - - norm1 ${qkv} ${qkv} ${qkv} attn.out_proj norm2 mlp.fc11 mlp.fc2 mlp.fc12 ` +
          '- - - - - embeddings.token_type_embeddings emb_ln',
      ),
    },
    ...{ sizes: 'n_layer n_embd n_head n_inner n_positions', epsilon: 'layer_norm_epsilon' },
    fixed: {
      ...{ ...caps, ...unbiased, ...all('activation_function', 'swiglu') },
      ...all('rotary_emb_scale_base'),
      ...all('rotary_emb_fraction', 1),
      ...all('is_decoder is_causal causal prenorm parallel_block use_rms_norm', false),
      ...all('rotary_emb_interleaved qkv_proj_bias mlp_fc1_bias mlp_fc2_bias', false),
      ...all('scale_attn_by_inverse_layer_idx', false),
      ...all('scale_attn_weights', true),
    },
    more: (fields, { maxLength }) => ({
      config: {
        tokenTypes: fields.count('type_vocab_size'),
        // The base of the rotation is another one for rows that are longer than those of training.
        maxLength: fields.has('rotary_scaling_factor')
          ? Math.min(maxLength, fields.count('max_trained_positions', 2048))
          : maxLength,
      },
    }),
  },
  gguf: {
    architecture: 'nomic-bert',
    modules: { ...fusedQkv, norm1: 'attn_output_norm', norm2: 'layer_output_norm' },
    more: () => ({ names: { constants } }),
  },
};
