// The encoder of T5 and its relatives: RMS norms, scores that are not scaled, and biases by distance in place of positions.

import { refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import type { Family, More } from './family.js';
import { all, unrotated } from './fixed.js';
import { named } from './locate.js';

const traits: Family['traits'] = {
  ...{ normType: 'rms', positions: 'none', attentionScale: 1, causal: false, head: false },
  activation: 'relu',
};

const part = 'layer.1.DenseReluDense';
const kinds = { relu: 'relu', 'gated-gelu': 'geglu_tanh', 'gated-silu': 'swiglu' } as const;

function more(fields: Fields): More {
  const classes = fields.list('architectures')?.map(String) ?? [];
  if (!classes.every((name) => /EncoderModel$/.test(name)))
    refuseUnsupported(
      `${fields.pathOf('architectures')} is ${String(classes[0])}`,
      'T5EncoderModel: the encoder alone loads, and of a file with a decoder too if the config says that class',
    );
  const activation = fields.choice('feed_forward_proj', kinds, 'relu');
  const isGated = /glu/.test(activation);
  return {
    config: {
      activation,
      relativeBuckets: fields.count('relative_attention_num_buckets', 32),
      relativeMaxDistance: fields.count('relative_attention_max_distance', 128),
    },
    names: { modules: modulesOf(isGated) },
  };
}

const modulesOf = (isGated: boolean) =>
  named(
    'shared encoder.final_layer_norm - layer.0.layer_norm ' +
      'layer.0.SelfAttention.q layer.0.SelfAttention.k layer.0.SelfAttention.v layer.0.SelfAttention.o layer.1.layer_norm ' +
      `${part}.${isGated ? 'wi_1' : 'wi'} ${part}.wo ${part}.wi_0 - - - - - - - ` +
      'encoder.block.0.layer.0.SelfAttention.relative_attention_bias',
  );

export const t5: Family = {
  types: ['t5'],
  traits,
  hub: {
    names: {
      ...{ layers: 'encoder.block.', modules: modulesOf(false) },
      // The table of tokens once more.
      ignored: /^encoder\.embed_tokens\.weight$/,
      heads: /^(decoder|lm_head)\./,
    },
    sizes: 'num_layers d_model num_heads d_ff n_positions=512 - d_kv',
    epsilon: 'layer_norm_epsilon',
    fixed: { ...unrotated, ...all('hidden_act'), ...all('is_decoder is_causal', false) },
    // Also of an encoder alone; its class says what it is.
    obeyed: 'is_encoder_decoder',
    more,
  },
  gguf: {
    architecture: 't5encoder',
    modules: { norm: 'enc.output_norm', o: 'attn_o', relativeBias: 'enc.blk.0.attn_rel_b' },
    keys: 'attention.relative_buckets_count decoder_start_token_id decoder_block_count',
    more: (fields, _sizes, { tensors }) => ({
      config: {
        relativeBuckets: fields.count('attention.relative_buckets_count'),
        activation: tensors.has('enc.blk.0.ffn_gate.weight') ? 'geglu_tanh' : 'relu',
      },
      names: { layers: 'enc.blk.' },
    }),
  },
};
