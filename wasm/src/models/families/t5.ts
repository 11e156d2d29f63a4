// T5 and its relatives: RMS norms, scores that are not scaled, and biases by distance in place of positions. Files have an encoder and
// a decoder, or the encoder alone.

import { describe } from '../../arguments/values.js';
import { refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import type { ModelFile } from '../file.js';
import type { Family, More } from './family.js';
import { all, unrotated } from './fixed.js';
import { ggufModules } from './gguf-names.js';
import { named, type Names } from './locate.js';
import type { Sizes } from './sizes.js';

const traits: Family['traits'] = {
  ...{ normType: 'rms', positions: 'none', attentionScale: 1, activation: 'relu' },
};
const alone: Family['traits'] = { ...traits, causal: false, head: false };

const kinds = { relu: 'relu', 'gated-gelu': 'geglu_tanh', 'gated-silu': 'swiglu' } as const;

/** The names of one stack, whose feed-forward layer is the part of such a number. */
function namesOf(stack: 'encoder' | 'decoder', isGated: boolean) {
  const last = stack === 'encoder' ? 'layer.1' : 'layer.2';
  const [part, own] = [`${last}.DenseReluDense`, 'layer.0.SelfAttention'];
  const cross = 'layer.1.EncDecAttention';
  return {
    layers: `${stack}.block.`,
    modules: named(
      `shared ${stack}.final_layer_norm lm_head layer.0.layer_norm ${own}.q ${own}.k ${own}.v ${own}.o ${last}.layer_norm ` +
        `${part}.${isGated ? 'wi_1' : 'wi'} ${part}.wo ${part}.wi_0 - - - - - - - ` +
        `${stack}.block.0.${own}.relative_attention_bias layer.1.layer_norm ${cross}.q ${cross}.k ${cross}.v ${cross}.o`,
    ),
  };
}

/** Where logits are products with the embedding, the stream is divided by the root of its width before. */
const tiedFactor = (isTied: boolean, { dModel }: Sizes): Pick<Names, 'factors'> => ({
  factors: { norm: isTied ? dModel ** -0.5 : 1 },
});

const known = /(EncoderModel|ConditionalGeneration|LMHeadModel)$/;

/** Whether a file is of the encoder alone, or is to be read as one; and of no other class. */
function isAlone(fields: Fields): boolean {
  const classes = fields.list('architectures') ?? [];
  const isOf = (pattern: RegExp, name: unknown): boolean =>
    typeof name === 'string' && pattern.test(name);
  const other = classes.find((name) => !isOf(known, name));
  if (other !== undefined)
    refuseUnsupported(
      `${fields.pathOf('architectures')} is ${describe(other)}`,
      'T5ForConditionalGeneration, or T5EncoderModel for the encoder alone, also of a file with a decoder',
    );
  return classes.length > 0
    ? classes.every((name) => isOf(/EncoderModel$/, name))
    : !fields.flag('is_encoder_decoder', true);
}

function more(fields: Fields, sizes: Sizes): More {
  const activation = fields.choice('feed_forward_proj', kinds, 'relu');
  const isGated = /glu/.test(activation);
  const config = {
    activation,
    relativeBuckets: fields.count('relative_attention_num_buckets', 32),
    relativeMaxDistance: fields.count('relative_attention_max_distance', 128),
  };
  const encoder = namesOf('encoder', isGated);
  if (isAlone(fields)) return { config, names: { ...encoder, heads: /^(decoder|lm_head)\./ } };
  const tiedEmbeddings = fields.flag('tie_word_embeddings', true);
  const start = 'decoder_start_token_id';
  return {
    config: {
      ...{ ...config, causal: true, head: true, tiedEmbeddings },
      numLayers: fields.count('num_decoder_layers', sizes.numLayers),
      encoderLayers: sizes.numLayers,
      ...(fields.has(start) && { startToken: fields.count(start, undefined, 0) }),
    },
    names: { ...namesOf('decoder', isGated), encoder, ...tiedFactor(tiedEmbeddings, sizes) },
  };
}

const ggufEncoder = { norm: 'enc.output_norm', o: 'attn_o', relativeBias: 'enc.blk.0.attn_rel_b' };
const buckets = 'attention.relative_buckets_count';

const ggufConfig = (fields: Fields, { tensors }: ModelFile) =>
  ({
    relativeBuckets: fields.count(buckets),
    activation: tensors.has('enc.blk.0.ffn_gate.weight') ? 'geglu_tanh' : 'relu',
  }) as const;

function decoderConfig(fields: Fields, file: ModelFile) {
  fields.only('attention.causal', true);
  return ggufConfig(fields, file);
}

export const t5: Family = {
  types: ['t5'],
  traits: alone,
  hub: {
    names: {
      ...namesOf('encoder', false),
      // The table of tokens once more, and biases that nothing reads.
      ignored:
        /^(encoder|decoder)\.embed_tokens\.weight$|^decoder\.block\.0\.layer\.1\.EncDecAttention\.relative_attention_bias\.weight$/,
    },
    isByConfig: true,
    sizes: 'num_layers d_model num_heads d_ff n_positions=512 - d_kv',
    epsilon: 'layer_norm_epsilon',
    fixed: { ...unrotated, ...all('hidden_act'), ...all('is_decoder is_causal', false) },
    // Also of an encoder alone; its class says what it is.
    obeyed: 'is_encoder_decoder',
    more,
  },
  gguf: {
    architecture: 't5encoder',
    modules: ggufEncoder,
    keys: `${buckets} decoder_start_token_id decoder_block_count`,
    more: (fields, _sizes, file) => ({
      config: ggufConfig(fields, file),
      names: { layers: 'enc.blk.' },
    }),
  },
};

/** Files of GGUF with both. */
export const t5Pair: Family = {
  types: ['t5'],
  traits,
  gguf: {
    architecture: 't5',
    modules: {
      ...{ norm: 'dec.output_norm', o: 'attn_o', relativeBias: 'dec.blk.0.attn_rel_b' },
      ...{ normCross: 'cross_attn_norm', crossQ: 'cross_attn_q', crossK: 'cross_attn_k' },
      ...{ crossV: 'cross_attn_v', crossO: 'cross_attn_o' },
    },
    keys: `${buckets} decoder_start_token_id decoder_block_count`,
    more: (fields, sizes, file) => ({
      config: {
        ...decoderConfig(fields, file),
        numLayers: fields.count('decoder_block_count', sizes.numLayers),
        encoderLayers: sizes.numLayers,
        ...(fields.has('decoder_start_token_id') && {
          startToken: fields.count('decoder_start_token_id', undefined, 0),
        }),
      },
      names: {
        layers: 'dec.blk.',
        encoder: { layers: 'enc.blk.', modules: { ...ggufModules, ...ggufEncoder } },
        ignored: /^dec\.blk\.0\.cross_attn_rel_b\.weight$/,
        ...tiedFactor(!file.tensors.has('output.weight'), sizes),
      },
    }),
  },
};
