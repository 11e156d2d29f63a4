// Small models of every family as files of the hub have them, by a table: the config of the hub, what it is in ours, and the names
// of its arrays in safetensors, written from the code of transformers.
import { built } from './built.js';

const sizes = { vocabulary: 11, numLayers: 2, dModel: 64, numHeads: 4, dFeedForward: 96, maxLength: 9 }; // prettier-ignore
const hub = {
  ...{ vocab_size: 11, num_hidden_layers: 2, hidden_size: 64, num_attention_heads: 4 },
  ...{ intermediate_size: 96, max_position_embeddings: 9 },
};
/** Of Llama and those after it. */
const llamaHub = { ...hub, num_key_value_heads: 2, hidden_act: 'silu', rms_norm_eps: 1e-5 };
const rms = {
  ...{ ...sizes, numKvHeads: 2, normType: 'rms', positions: 'rotary', epsilon: 1e-5 },
  ...{ activation: 'swiglu', tiedEmbeddings: false, rotary: { base: 10_000 } },
};
const without = (object, ...names) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
/** Names by a word for each module. */
const named = (modules, text) => {
  const words = text.split(' ');
  return Object.fromEntries(modules.split(' ').map((module, i) => [module, words[i]]));
};
const layer = 'norm1 q k v o norm2 up down';

const encoder = { causal: false, norm: 'post', embeddingNorm: true, head: false };
const bertNames = (prefix) => ({
  ...named(
    layer,
    'attention.output.LayerNorm attention.self.query attention.self.key attention.self.value attention.output.dense ' +
      'output.LayerNorm intermediate.dense output.dense',
  ),
  embedding: `${prefix}.embeddings.word_embeddings`,
  positions: `${prefix}.embeddings.position_embeddings`,
  tokenTypes: `${prefix}.embeddings.token_type_embeddings`,
  embeddingNorm: `${prefix}.embeddings.LayerNorm`,
});
/** As BERT by another name. */
const likeBert = (prefix, more) => ({
  config: { ...hub, hidden_act: 'gelu', layer_norm_eps: 1e-12, type_vocab_size: 2, ...more },
  expected: { ...sizes, ...encoder, activation: 'gelu', epsilon: 1e-12, tokenTypes: 2 },
  file: { layers: `${prefix}.encoder.layer.`, names: bertNames(prefix) },
});
const roberta = (model_type, prefix = 'roberta') => ({
  config: {
    ...{ ...hub, model_type, max_position_embeddings: 11, pad_token_id: 1, type_vocab_size: 1 },
    ...{ hidden_act: 'gelu', layer_norm_eps: 1e-5 },
  },
  expected: { ...sizes, ...encoder, activation: 'gelu', epsilon: 1e-5, tokenTypes: 1 },
  file: { layers: `${prefix}.encoder.layer.`, firstRow: 2, names: bertNames(prefix) },
  // A head for words that are masked.
  more: {
    'lm_head.dense.weight': [64, 64],
    'lm_head.bias': [11],
    [`${prefix}.pooler.dense.bias`]: [64],
  },
});

/** OPT and BioGPT, which were trained with fairseq. */
const fairseqNames = named(
  layer,
  'self_attn_layer_norm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.out_proj final_layer_norm fc1 fc2',
);

const llamaNames = {
  ...named(
    layer + ' gate embedding norm head qNorm kNorm',
    'input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj post_attention_layernorm ' +
      'mlp.up_proj mlp.down_proj mlp.gate_proj model.embed_tokens model.norm lm_head self_attn.q_norm self_attn.k_norm',
  ),
};
const llamaFile = { layers: 'model.layers.', names: llamaNames };

const gelu = 'gelu_pytorch_tanh';
const qkNames = { ...llamaNames, ...named('postNorm1 postNorm2', 'post_attention_layernorm post_feedforward_layernorm') }; // prettier-ignore
/** Norms after the parts alone. */
const afterFile = { layers: 'model.layers.', names: qkNames };
const gemma2Names = {
  ...llamaNames,
  ...named(
    'postNorm1 norm2 postNorm2',
    'post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm',
  ),
};
const parallel = { positions: 'rotary', parallelResidual: true, headBias: true };
/** Of a rotation of 16 numbers. */
const pairFactors = (last) => Array.from({ length: 8 }, (_, i) => 1 + (i * (last - 1)) / 7);
const gemma3 = {
  config: {
    ...{ ...llamaHub, head_dim: 16, sliding_window: 3, query_pre_attn_scalar: 64 },
    hidden_act: gelu,
    ...{ hidden_activation: gelu, rope_theta: 1_000_000 },
    ...{ rope_local_base_freq: 10_000, rope_scaling: { rope_type: 'linear', factor: 8 } },
    ...{ layer_types: ['sliding_attention', 'full_attention'], sliding_window_pattern: 2 },
  },
  expected: {
    ...{ ...rms, activation: 'geglu_tanh', tiedEmbeddings: true, embeddingScale: 8, dK: 16 },
    ...{ attentionScale: 1 / 8, postNorms: true, qkNorm: true, window: [2, null] },
    rotary: [{ base: 10_000 }, { base: 1_000_000, scaling: { type: 'linear', factor: 8 } }],
  },
  file: { layers: 'model.layers.', lessOne: true, names: gemma2Names },
};
const t5Names = (up, stack = 'encoder', last = 'layer.1') => ({
  ...named(
    layer,
    'layer.0.layer_norm layer.0.SelfAttention.q layer.0.SelfAttention.k layer.0.SelfAttention.v layer.0.SelfAttention.o ' +
      `${last}.layer_norm ${last}.DenseReluDense.${up} ${last}.DenseReluDense.wo`,
  ),
  ...{
    embedding: 'shared',
    norm: `${stack}.final_layer_norm`,
    gate: `${last}.DenseReluDense.wi_0`,
  },
  relativeBias: `${stack}.block.0.layer.0.SelfAttention.relative_attention_bias`,
  ...{ head: 'lm_head', normCross: 'layer.1.layer_norm', crossQ: 'layer.1.EncDecAttention.q' },
  ...{ crossK: 'layer.1.EncDecAttention.k', crossV: 'layer.1.EncDecAttention.v' },
  crossO: 'layer.1.EncDecAttention.o',
});
const t5 = {
  config: {
    ...{ vocab_size: 11, num_layers: 2, d_model: 64, num_heads: 4, d_ff: 96, d_kv: 16 },
    ...{ n_positions: 9, feed_forward_proj: 'relu', layer_norm_epsilon: 1e-6 },
    ...{ relative_attention_num_buckets: 8, relative_attention_max_distance: 16 },
    ...{ architectures: ['T5EncoderModel'], is_encoder_decoder: false },
  },
  expected: {
    ...{ ...sizes, dK: 16, normType: 'rms', positions: 'none', attentionScale: 1 },
    ...{ relativeBuckets: 8, relativeMaxDistance: 16, causal: false, head: false },
    ...{ activation: 'relu', epsilon: 1e-6 },
  },
  file: { layers: 'encoder.block.', names: t5Names('wi') },
};

/** With its decoder, of another number of layers. */
const t5Pair = (up) => ({
  config: {
    ...{ ...t5.config, model_type: 't5', architectures: ['T5ForConditionalGeneration'] },
    ...{ is_encoder_decoder: true, num_decoder_layers: 1, decoder_start_token_id: 3 },
  },
  expected: {
    ...{ ...t5.expected, family: 't5', causal: true, head: true, tiedEmbeddings: true },
    ...{ numLayers: 1, encoderLayers: 2, startToken: 3 },
  },
  file: {
    ...{ layers: 'decoder.block.', names: t5Names(up, 'decoder', 'layer.2') },
    encoder: { layers: 'encoder.block.', names: t5Names(up) },
    factors: { norm: 1 / 8 },
  },
  more: {
    ...{ 'encoder.embed_tokens.weight': [11, 64], 'decoder.embed_tokens.weight': [11, 64] },
    'decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight': [8, 4],
  },
});
const t5WithDecoder = t5Pair('wi');
const flanT5 = t5Pair('wi_1');
const experts = { numExperts: 5, expertsPerToken: 2 };
const expertsFile = {
  layers: 'model.layers.',
  names: {
    ...{ ...llamaNames, router: 'mlp.gate' },
    ...named('gate up down', 'mlp.experts.{}.gate_proj mlp.experts.{}.up_proj mlp.experts.{}.down_proj'), // prettier-ignore
  },
};

const gemma = { activation: 'geglu_tanh', tiedEmbeddings: true, embeddingScale: 8, dK: 16 };

/** By `model_type`. */
const table = {
  gpt2: {
    config: {
      ...{ vocab_size: 11, n_embd: 64, n_layer: 2, n_head: 4, n_positions: 9, n_inner: 96 },
      ...{ activation_function: 'gelu_new', layer_norm_epsilon: 1e-6 },
    },
    expected: { ...sizes, epsilon: 1e-6, activation: 'gelu_tanh', tiedEmbeddings: true },
    file: {
      ...{ layers: 'h.', columns: true },
      names: named(
        `${layer} embedding positions norm`,
        'ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj wte wpe ln_f',
      ),
    },
    more: { 'h.0.attn.bias': [1, 1, 9, 9], 'h.1.attn.bias': [1, 1, 9, 9] },
  },
  gpt_neox: {
    config: {
      ...{ ...hub, hidden_act: 'gelu', layer_norm_eps: 1e-5, rotary_pct: 0.25 },
      ...{ rotary_emb_base: 10_000, use_parallel_residual: true },
    },
    expected: {
      ...{ ...sizes, epsilon: 1e-5, activation: 'gelu', tiedEmbeddings: false },
      ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 }, parallelResidual: true },
    },
    file: {
      ...{ layers: 'gpt_neox.layers.', byHead: true },
      names: named(
        `${layer} embedding norm head`,
        'input_layernorm attention.query_key_value attention.query_key_value attention.query_key_value attention.dense ' +
          'post_attention_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h gpt_neox.embed_in gpt_neox.final_layer_norm embed_out',
      ),
    },
    more: { 'gpt_neox.layers.0.attention.rotary_emb.inv_freq': [2] },
  },
  llama: {
    config: {
      ...{ ...llamaHub, rope_theta: 500_000, tie_word_embeddings: false },
      rope_scaling: {
        ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
        original_max_position_embeddings: 8192,
      },
    },
    expected: {
      ...rms,
      rotary: {
        base: 500_000,
        scaling: {
          ...{ type: 'llama3', factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4 },
          originalLength: 8192,
        },
      },
    },
    file: llamaFile,
  },
  mistral: {
    config: { ...llamaHub, sliding_window: 5, tie_word_embeddings: false },
    expected: { ...rms, window: 4 },
    file: llamaFile,
  },
  qwen2: {
    config: {
      ...{ ...llamaHub, tie_word_embeddings: true, use_sliding_window: true, sliding_window: 4 },
      max_window_layers: 1,
    },
    expected: { ...rms, tiedEmbeddings: true, qkvBiases: true, window: [null, 3] },
    file: llamaFile,
  },
  qwen3: {
    config: {
      ...{ ...llamaHub, tie_word_embeddings: false, head_dim: 8, attention_bias: false },
      ...{ use_sliding_window: false, sliding_window: null },
    },
    expected: { ...rms, dK: 8, qkNorm: true },
    file: llamaFile,
  },
  gemma: {
    config: {
      ...{ ...llamaHub, tie_word_embeddings: true, head_dim: 16, hidden_act: 'gelu' },
      hidden_activation: null,
    },
    expected: { ...rms, ...gemma },
    file: { ...llamaFile, lessOne: true },
  },
  gemma2: {
    config: {
      ...{ ...llamaHub, tie_word_embeddings: true, head_dim: 16, sliding_window: 3 },
      ...{ hidden_act: gelu, hidden_activation: gelu, query_pre_attn_scalar: 64 },
      ...{ attn_logit_softcapping: 50, final_logit_softcapping: null },
    },
    expected: {
      ...{ ...rms, ...gemma, attentionSoftcap: 50, logitSoftcap: 0, attentionScale: 1 / 8 },
      ...{ postNorms: true, window: [2, null] },
    },
    file: {
      ...{ layers: 'model.layers.', lessOne: true },
      names: {
        ...llamaNames,
        ...named(
          'postNorm1 norm2 postNorm2',
          'post_attention_layernorm pre_feedforward_layernorm post_feedforward_layernorm',
        ),
      },
    },
  },
  bert: {
    ...likeBert('bert', {}),
    // Every token changes what the others are.
    file: { ...likeBert('bert', {}).file, maps: 1 },
    more: { 'bert.pooler.dense.weight': [64, 64], 'cls.predictions.bias': [11] },
    // As the file of bert-base-uncased calls them.
    nameOf: (name) =>
      name.replace(/LayerNorm\.(weight|bias)$/, (_, of) => `LayerNorm.${of === 'bias' ? 'beta' : 'gamma'}`), // prettier-ignore
  },
  distilbert: {
    config: {
      ...{ vocab_size: 11, n_layers: 2, dim: 64, n_heads: 4, hidden_dim: 96 },
      ...{ max_position_embeddings: 9, activation: 'gelu', sinusoidal_pos_embds: false },
    },
    expected: { ...sizes, ...encoder, activation: 'gelu', epsilon: 1e-12 },
    file: {
      layers: 'distilbert.transformer.layer.',
      names: {
        ...bertNames('distilbert'),
        ...named(
          layer,
          'sa_layer_norm attention.q_lin attention.k_lin attention.v_lin attention.out_lin output_layer_norm ffn.lin1 ffn.lin2',
        ),
      },
    },
    more: { 'pre_classifier.weight': [64, 64], 'vocab_projector.bias': [11] },
  },
  roberta: roberta('roberta'),
  'xlm-roberta': roberta('xlm-roberta'),
  camembert: roberta('camembert'),
  'data2vec-text': roberta('data2vec-text', 'data2vec_text'),
  electra: {
    ...likeBert('electra', { embedding_size: 64 }),
    more: { 'discriminator_predictions.dense.bias': [64] },
  },
  ernie: likeBert('ernie', { use_task_id: false, task_type_vocab_size: 3 }),
  esm: {
    config: {
      ...{ ...hub, hidden_act: 'gelu', layer_norm_eps: 1e-5, position_embedding_type: 'rotary' },
      ...{ token_dropout: true, emb_layer_norm_before: false, mask_token_id: 10 },
    },
    expected: {
      ...{ ...sizes, positions: 'rotary', rotary: { base: 10_000 }, causal: false, head: false },
      ...{ activation: 'gelu', epsilon: 1e-5, embeddingScale: 0.88 },
    },
    file: {
      layers: 'esm.encoder.layer.',
      names: {
        ...bertNames('esm'),
        ...{ norm1: 'attention.LayerNorm', norm2: 'LayerNorm' },
        norm: 'esm.encoder.emb_layer_norm_after',
      },
    },
    more: { 'esm.contact_head.regression.bias': [1], 'lm_head.bias': [11], 'esm.embeddings.position_embeddings.weight': [9, 64] }, // prettier-ignore
  },
  opt: {
    config: {
      ...{ ...without(hub, 'intermediate_size'), ffn_dim: 96, activation_function: 'relu' },
      ...{ do_layer_norm_before: true, word_embed_proj_dim: 64, _remove_final_layer_norm: false },
    },
    expected: { ...sizes, activation: 'relu', epsilon: 1e-5, tiedEmbeddings: true },
    file: {
      ...{ layers: 'model.decoder.layers.', firstRow: 2 },
      names: {
        ...fairseqNames,
        ...{ embedding: 'model.decoder.embed_tokens', positions: 'model.decoder.embed_positions' },
        norm: 'model.decoder.final_layer_norm',
      },
    },
  },
  biogpt: {
    config: { ...hub, hidden_act: 'gelu', layer_norm_eps: 1e-12, scale_embedding: true },
    expected: {
      ...{ ...sizes, activation: 'gelu', epsilon: 1e-12, embeddingScale: 8, tiedEmbeddings: false },
    },
    file: {
      ...{ layers: 'biogpt.layers.', firstRow: 2 },
      names: {
        ...fairseqNames,
        ...{ embedding: 'biogpt.embed_tokens', positions: 'biogpt.embed_positions' },
        ...{ norm: 'biogpt.layer_norm', head: 'output_projection' },
      },
    },
  },
  bloom: {
    config: {
      ...{ vocab_size: 11, n_layer: 2, n_embed: 64, n_head: 4, n_inner: 96, seq_length: 9 },
      ...{ layer_norm_epsilon: 1e-5, apply_residual_connection_post_layernorm: false },
      ...{ offset_alibi: 100, pretraining_tp: 1 },
    },
    expected: {
      ...{ ...sizes, positions: 'alibi', embeddingNorm: true, activation: 'gelu_tanh' },
      ...{ epsilon: 1e-5, tiedEmbeddings: true },
    },
    file: {
      ...{ layers: 'transformer.h.', byHead: true },
      names: {
        ...named(
          layer,
          'input_layernorm self_attention.query_key_value self_attention.query_key_value self_attention.query_key_value ' +
            'self_attention.dense post_attention_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h',
        ),
        ...{ embedding: 'transformer.word_embeddings', norm: 'transformer.ln_f' },
        embeddingNorm: 'transformer.word_embeddings_layernorm',
      },
    },
  },
  gpt_neo: {
    config: {
      ...{ vocab_size: 11, num_layers: 2, hidden_size: 64, num_heads: 4, intermediate_size: 96 },
      ...{ max_position_embeddings: 9, activation_function: 'gelu_new', layer_norm_epsilon: 1e-5 },
      ...{ attention_types: [[['global', 'local'], 1]], attention_layers: ['global', 'local'] },
      window_size: 4,
    },
    expected: {
      ...{ ...sizes, activation: 'gelu_tanh', epsilon: 1e-5, tiedEmbeddings: true },
      ...{ attentionScale: 1, qkvBiases: false, window: [null, 3] },
    },
    file: {
      layers: 'transformer.h.',
      names: {
        ...named(
          layer,
          'ln_1 attn.attention.q_proj attn.attention.k_proj attn.attention.v_proj attn.attention.out_proj ln_2 mlp.c_fc mlp.c_proj',
        ),
        ...{ embedding: 'transformer.wte', positions: 'transformer.wpe', norm: 'transformer.ln_f' },
      },
    },
    more: { 'transformer.h.0.attn.attention.bias': [1, 1, 9, 9] },
  },
  'openai-gpt': {
    config: {
      ...{ vocab_size: 11, n_layer: 2, n_embd: 64, n_head: 4, n_positions: 9, afn: 'gelu' },
      layer_norm_epsilon: 1e-5,
    },
    expected: {
      ...{ ...sizes, dFeedForward: 256, norm: 'post', activation: 'gelu_tanh', epsilon: 1e-5 },
      tiedEmbeddings: true,
    },
    file: {
      ...{ layers: 'transformer.h.', columns: true },
      names: {
        ...named(
          layer,
          'ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj',
        ),
        ...{ embedding: 'transformer.tokens_embed', positions: 'transformer.positions_embed' },
      },
    },
  },
  gpt_bigcode: {
    config: {
      ...{ vocab_size: 11, n_layer: 2, n_embd: 64, n_head: 4, n_inner: 96, n_positions: 9 },
      ...{ activation_function: 'gelu_pytorch_tanh', layer_norm_epsilon: 1e-5, multi_query: true },
      ...{ attention_softmax_in_fp32: true, scale_attn_weights: true },
    },
    expected: {
      ...{ ...sizes, numKvHeads: 1, activation: 'gelu_tanh', epsilon: 1e-5, tiedEmbeddings: true },
    },
    file: {
      layers: 'transformer.h.',
      names: {
        ...named(
          layer,
          'ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj',
        ),
        ...{ embedding: 'transformer.wte', positions: 'transformer.wpe', norm: 'transformer.ln_f' },
      },
    },
  },
  starcoder2: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, hidden_act: 'gelu_pytorch_tanh', norm_epsilon: 1e-5 },
      ...{ rope_theta: 999_999, sliding_window: 5, use_bias: true, norm_type: 'layer_norm' },
      mlp_type: 'default',
    },
    expected: {
      ...{ ...sizes, numKvHeads: 2, positions: 'rotary', rotary: { base: 999_999 }, window: 4 },
      ...{ activation: 'gelu_tanh', epsilon: 1e-5, tiedEmbeddings: true },
    },
    file: {
      layers: 'model.layers.',
      names: { ...llamaNames, up: 'mlp.c_fc', down: 'mlp.c_proj' },
    },
  },
  'jina-bert-v2': {
    config: {
      ...{
        ...hub,
        model_type: 'bert',
        position_embedding_type: 'alibi',
        feed_forward_type: 'geglu',
      },
      ...{ hidden_act: 'gelu', layer_norm_eps: 1e-12, type_vocab_size: 2, emb_pooler: 'mean' },
    },
    expected: {
      ...{ ...sizes, ...encoder, activation: 'geglu', epsilon: 1e-12, tokenTypes: 2 },
      positions: 'alibi',
    },
    file: {
      ...{ layers: 'encoder.layer.', constants: /^(up|gate)\.bias$/ },
      names: {
        ...bertNames('bert'),
        ...named('gate up down norm2', 'mlp.gated_layers mlp.gated_layers mlp.wo mlp.layernorm'),
        ...{ embedding: 'embeddings.word_embeddings', embeddingNorm: 'embeddings.LayerNorm' },
        tokenTypes: 'embeddings.token_type_embeddings',
      },
    },
  },
  nomic_bert: {
    config: {
      ...{ vocab_size: 11, n_layer: 2, n_embd: 64, n_head: 4, n_inner: 96, n_positions: 12 },
      ...{ max_trained_positions: 9, rotary_scaling_factor: 2, rotary_emb_base: 1000 },
      ...{ rotary_emb_fraction: 1, rotary_emb_interleaved: false, rotary_emb_scale_base: null },
      ...{ activation_function: 'swiglu', layer_norm_epsilon: 1e-12, type_vocab_size: 2 },
      ...{ qkv_proj_bias: false, mlp_fc1_bias: false, mlp_fc2_bias: false, prenorm: false },
      ...{ parallel_block: false, use_rms_norm: false, scale_attn_weights: true, causal: false },
    },
    expected: {
      ...{ ...sizes, ...encoder, activation: 'swiglu', epsilon: 1e-12, tokenTypes: 2 },
      ...{ positions: 'rotary', rotary: { base: 1000 } },
    },
    file: {
      ...{ layers: 'encoder.layers.', constants: /^(q|k|v|o|up|gate|down)\.bias$/ },
      names: {
        ...named(
          layer + ' gate',
          'norm1 attn.Wqkv attn.Wqkv attn.Wqkv attn.out_proj norm2 mlp.fc11 mlp.fc2 mlp.fc12',
        ),
        ...{ embedding: 'embeddings.word_embeddings', embeddingNorm: 'emb_ln' },
        tokenTypes: 'embeddings.token_type_embeddings',
      },
    },
  },
  internlm2: {
    config: { ...llamaHub, rope_theta: 1_000_000, bias: false, attn_implementation: 'eager' },
    expected: { ...rms, rotary: { base: 1_000_000 } },
    file: {
      ...{ layers: 'model.layers.', byHead: true },
      names: {
        ...named(layer, 'attention_norm attention.wqkv attention.wqkv attention.wqkv attention.wo ffn_norm feed_forward.w3 feed_forward.w2'), // prettier-ignore
        ...named(
          'gate embedding norm head',
          'feed_forward.w1 model.tok_embeddings model.norm output',
        ),
      },
    },
  },
  exaone: {
    config: {
      ...{ ...without(hub, 'num_hidden_layers'), num_layers: 2, num_key_value_heads: 2 },
      ...{ activation_function: 'silu', layer_norm_epsilon: 1e-5, rope_theta: 1_000_000 },
    },
    expected: { ...rms, tiedEmbeddings: true, rotary: { base: 1_000_000 } },
    file: {
      layers: 'transformer.h.',
      names: {
        ...named(layer, 'ln_1 attn.attention.q_proj attn.attention.k_proj attn.attention.v_proj attn.attention.out_proj ln_2 mlp.c_fc_1 mlp.c_proj'), // prettier-ignore
        ...named('gate embedding norm', 'mlp.c_fc_0 transformer.wte transformer.ln_f'),
      },
    },
  },
  granite: {
    config: {
      ...{ ...llamaHub, attention_bias: false, mlp_bias: false, tie_word_embeddings: true },
      ...{ embedding_multiplier: 12, attention_multiplier: 0.125, residual_multiplier: 0.25 },
      ...{ rope_theta: 10_000, logits_scaling: 8 },
    },
    expected: { ...rms, tiedEmbeddings: true, embeddingScale: 12, attentionScale: 0.125 },
    file: { ...llamaFile, factors: { o: 0.25, down: 0.25, norm: 1 / 8 } },
  },
  minicpm: {
    config: {
      ...llamaHub,
      // Of two layers: a quarter of what each part adds.
      ...{ scale_emb: 12, scale_depth: Math.SQRT2 / 4, dim_model_base: 16, mup_denominator: 32 },
    },
    expected: { ...rms, tiedEmbeddings: true, embeddingScale: 12 },
    file: { ...llamaFile, factors: { o: 0.25, down: 0.25, norm: 1 / 4 } },
  },
  olmo: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, hidden_act: 'silu', rope_theta: 10_000, clip_qkv: null },
      ...{ attention_bias: false, tie_word_embeddings: false },
    },
    expected: {
      ...{ ...sizes, numKvHeads: 2, positions: 'rotary', rotary: { base: 10_000 } },
      ...{ activation: 'swiglu', epsilon: 1e-5, tiedEmbeddings: false },
    },
    file: { ...llamaFile, constants: /^norm|\.bias$/ },
  },
  phi3: {
    config: {
      ...{ ...llamaHub, rope_theta: 10_000, rope_scaling: null, partial_rotary_factor: 0.75 },
      ...{ original_max_position_embeddings: 9, sliding_window: 5, attention_bias: false },
    },
    expected: { ...rms, window: 4, rotary: { base: 10_000, rotaryDim: 12 } },
    file: {
      layers: 'model.layers.',
      names: {
        ...{ ...llamaNames, gate: 'mlp.gate_up_proj', up: 'mlp.gate_up_proj' },
        ...named('q k v', Array(3).fill('self_attn.qkv_proj').join(' ')),
      },
    },
  },
  stablelm: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, hidden_act: 'silu', layer_norm_eps: 1e-5 },
      ...{ rope_theta: 10_000, partial_rotary_factor: 0.25, use_qkv_bias: false },
      ...{ qk_layernorm: false, use_parallel_residual: false },
    },
    expected: {
      ...{ ...sizes, numKvHeads: 2, positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 } },
      ...{ activation: 'swiglu', epsilon: 1e-5, tiedEmbeddings: false },
    },
    file: { ...llamaFile, constants: /^(q|k|v|o|up|gate|down)\.bias$/ },
  },
  helium: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rms_norm_eps: 1e-8, rope_theta: 100_000 },
      ...{ attention_bias: false, mlp_bias: false, tie_word_embeddings: false },
    },
    expected: { ...rms, dK: 16, epsilon: 1e-8, rotary: { base: 100_000, interleaved: true } },
    file: llamaFile,
  },
  glm: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rope_theta: 10_000, partial_rotary_factor: 0.5 },
      attention_bias: true,
    },
    expected: {
      ...{ ...rms, dK: 16, qkvBiases: true },
      rotary: { base: 10_000, interleaved: true, rotaryDim: 8 },
    },
    file: {
      layers: 'model.layers.',
      names: { ...llamaNames, gate: 'mlp.gate_up_proj', up: 'mlp.gate_up_proj' },
    },
  },
  vaultgemma: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, head_dim: 16, rms_norm_eps: 1e-6, sliding_window: 3 },
      ...{ hidden_activation: gelu, query_pre_attn_scalar: 64, rope_theta: 10_000 },
      ...{ attn_logit_softcapping: 50, final_logit_softcapping: 30 },
      layer_types: ['sliding_attention', 'full_attention'],
    },
    expected: {
      ...{ ...rms, ...gemma, epsilon: 1e-6, attentionScale: 1 / 8 },
      ...{ attentionSoftcap: 50, logitSoftcap: 30, window: [2, null] },
    },
    file: {
      ...{ layers: 'model.layers.', lessOne: true },
      names: { ...llamaNames, norm2: 'pre_feedforward_layernorm' },
    },
  },
  phi: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, hidden_act: 'gelu_new', layer_norm_eps: 1e-5 },
      ...{ partial_rotary_factor: 0.5, rope_theta: 10_000, qk_layernorm: false },
    },
    expected: {
      ...{ ...sizes, ...parallel, numKvHeads: 2, rotary: { base: 10_000, rotaryDim: 8 } },
      ...{ activation: 'gelu_tanh', epsilon: 1e-5, tiedEmbeddings: false },
    },
    file: {
      ...{ layers: 'model.layers.', same: { norm2: 'norm1' } },
      names: {
        ...llamaNames,
        ...named('o up down norm', 'self_attn.dense mlp.fc1 mlp.fc2 model.final_layernorm'),
      },
    },
  },
  gptj: {
    config: {
      ...{ vocab_size: 11, n_layer: 2, n_embd: 64, n_head: 4, n_inner: 96, n_positions: 9 },
      ...{ activation_function: 'gelu_new', layer_norm_epsilon: 1e-5, rotary_dim: 8 },
      tie_word_embeddings: false,
    },
    expected: {
      ...{ ...sizes, ...parallel, activation: 'gelu_tanh', epsilon: 1e-5, tiedEmbeddings: false },
      rotary: { base: 10_000, interleaved: true, rotaryDim: 8 },
    },
    file: {
      ...{ layers: 'transformer.h.', same: { norm2: 'norm1' }, constants: /^[qkvo]\.bias$/ },
      names: named(
        `${layer} embedding norm head`,
        'ln_1 attn.q_proj attn.k_proj attn.v_proj attn.out_proj ln_1 mlp.fc_in mlp.fc_out ' +
          'transformer.wte transformer.ln_f lm_head',
      ),
    },
    more: { 'transformer.h.0.attn.masked_bias': [1] },
  },
  nemotron: {
    config: {
      ...{ ...hub, num_key_value_heads: 2, hidden_act: 'relu2', norm_eps: 1e-5 },
      ...{ partial_rotary_factor: 0.5, rope_theta: 10_000, attention_bias: false, mlp_bias: false },
    },
    expected: {
      ...{ ...sizes, numKvHeads: 2, positions: 'rotary', rotary: { base: 10_000, rotaryDim: 8 } },
      ...{ activation: 'relu2', epsilon: 1e-5, tiedEmbeddings: false },
    },
    file: { ...llamaFile, lessOne: true, constants: /^(q|k|v|o|up|down)\.bias$/ },
  },
  arcee: {
    config: { ...llamaHub, hidden_act: 'relu2', rope_theta: 10_000, attention_bias: false },
    expected: { ...rms, activation: 'relu2' },
    file: llamaFile,
  },
  hunyuan_v1_dense: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rope_theta: 10_000, tie_word_embeddings: true },
      ...{ use_qk_norm: true, use_cla: false, num_experts: 1 },
      rope_scaling: { type: 'dynamic', alpha: 1000, factor: 1, beta_fast: 32, mscale: 1 },
    },
    expected: {
      ...{ ...rms, dK: 16, tiedEmbeddings: true, qkNorm: true, qkNormOf: 'rotated' },
      rotary: { base: 10_000 * 1000 ** (16 / 14) },
    },
    file: {
      layers: 'model.layers.',
      names: {
        ...llamaNames,
        ...named('qNorm kNorm', 'self_attn.query_layernorm self_attn.key_layernorm'),
      },
    },
  },
  olmo2: {
    config: { ...llamaHub, rope_theta: 500_000, attention_bias: false },
    expected: {
      ...{ ...rms, norm: 'after', qkNorm: true, qkNormOf: 'whole', rotary: { base: 500_000 } },
    },
    file: afterFile,
  },
  exaone4: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rope_theta: 1_000_000, sliding_window: 3 },
      ...{ sliding_window_pattern: 'LG', layer_types: ['sliding_attention', 'full_attention'] },
    },
    expected: {
      ...{ ...rms, dK: 16, norm: 'after', qkNorm: true, window: [2, null] },
      rotary: [{ base: 1_000_000 }, null],
    },
    file: afterFile,
  },
  smollm3: {
    config: {
      ...{ ...llamaHub, rope_theta: 5_000_000, attention_bias: false, no_rope_layers: [1, 0] },
      ...{ no_rope_layer_interval: 4, tie_word_embeddings: true },
    },
    expected: { ...rms, tiedEmbeddings: true, rotary: [{ base: 5_000_000 }, null] },
    file: llamaFile,
  },
  gemma3_text: gemma3,
  mpnet: {
    config: {
      ...{ ...hub, max_position_embeddings: 11, relative_attention_num_buckets: 8 },
      ...{ hidden_act: 'gelu', layer_norm_eps: 1e-12 },
    },
    expected: {
      ...{ ...sizes, ...encoder, activation: 'gelu', epsilon: 1e-12, relativeBuckets: 8 },
    },
    file: {
      ...{ layers: 'mpnet.encoder.layer.', firstRow: 2 },
      names: {
        ...bertNames('mpnet'),
        ...named('norm1 q k v o', 'attention.LayerNorm attention.attn.q attention.attn.k attention.attn.v attention.attn.o'), // prettier-ignore
        relativeBias: 'mpnet.encoder.relative_attention_bias',
      },
    },
    more: { 'mpnet.pooler.dense.bias': [64], 'lm_head.dense.weight': [64, 64] },
  },
  modernbert: {
    config: {
      ...{ ...hub, hidden_activation: 'gelu', norm_eps: 1e-5, local_attention: 4 },
      ...{ global_attn_every_n_layers: 2, global_rope_theta: 160_000, local_rope_theta: 10_000 },
      ...{ attention_bias: false, mlp_bias: false, norm_bias: false },
    },
    expected: {
      ...{ ...sizes, positions: 'rotary', activation: 'geglu', embeddingNorm: true, biases: false },
      ...{ causal: false, head: false, firstNorm: false, symmetricWindow: true, epsilon: 1e-5 },
      ...{ window: [null, 2], rotary: [{ base: 160_000 }, { base: 10_000 }] },
    },
    file: {
      layers: 'model.layers.',
      names: {
        ...named(layer, 'attn_norm attn.Wqkv attn.Wqkv attn.Wqkv attn.Wo mlp_norm mlp.Wi mlp.Wo'),
        ...{ gate: 'mlp.Wi', embedding: 'model.embeddings.tok_embeddings' },
        ...{ embeddingNorm: 'model.embeddings.norm', norm: 'model.final_norm' },
      },
    },
    more: { 'head.dense.weight': [64, 64], 'decoder.bias': [11] },
  },
  t5: t5WithDecoder,
  olmoe: {
    config: {
      ...{ ...llamaHub, rope_theta: 10_000, clip_qkv: null, attention_bias: false },
      ...{ num_experts: 5, num_experts_per_tok: 2, norm_topk_prob: false },
    },
    expected: { ...rms, ...experts, normalizedExperts: false, qkNorm: true, qkNormOf: 'whole' },
    file: expertsFile,
  },
  qwen3_moe: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rope_theta: 10_000, attention_bias: false },
      ...{ num_experts: 5, num_experts_per_tok: 2, norm_topk_prob: true },
      ...{ intermediate_size: 7, moe_intermediate_size: 96, mlp_only_layers: [] },
      ...{ decoder_sparse_step: 1, use_sliding_window: false },
    },
    expected: { ...rms, ...experts, normalizedExperts: true, dK: 16, qkNorm: true },
    file: expertsFile,
  },
  granitemoe: {
    config: {
      ...{ ...llamaHub, attention_bias: false, tie_word_embeddings: true, rope_theta: 10_000 },
      ...{ embedding_multiplier: 12, attention_multiplier: 0.125, residual_multiplier: 0.25 },
      ...{ logits_scaling: 8, num_local_experts: 5, num_experts_per_tok: 2 },
    },
    expected: {
      ...{ ...rms, ...experts, normalizedExperts: true, tiedEmbeddings: true },
      ...{ embeddingScale: 12, attentionScale: 0.125 },
    },
    file: {
      ...{ layers: 'model.layers.', factors: { o: 0.25, down: 0.25, norm: 1 / 8 } },
      names: {
        ...{ ...llamaNames, router: 'block_sparse_moe.router.layer' },
        ...named('gate up down', 'block_sparse_moe.input_linear block_sparse_moe.input_linear block_sparse_moe.output_linear'), // prettier-ignore
      },
    },
  },
  ernie4_5: {
    config: {
      ...{ ...llamaHub, head_dim: 16, rope_theta: 500_000, use_bias: false },
      tie_word_embeddings: true,
    },
    expected: {
      ...{ ...rms, dK: 16, tiedEmbeddings: true, rotary: { base: 500_000, interleaved: true } },
    },
    file: llamaFile,
  },
};

/** Others of a `model_type` of the table. */
const others = {
  // Of InternLM, and of others that train Llama with biases.
  'llama with biases': {
    config: { ...llamaHub, model_type: 'llama', attention_bias: true, tie_word_embeddings: true },
    expected: { ...rms, family: 'llama', tiedEmbeddings: true, biases: true },
    file: { ...llamaFile, constants: /^(up|gate|down)\.bias$/ },
  },
  // The 128k of Phi-3, and Phi-4-mini.
  'phi3 of long contexts': {
    config: {
      ...{ ...llamaHub, model_type: 'phi3', rope_theta: 10_000, tie_word_embeddings: true },
      ...{ original_max_position_embeddings: 4, attention_bias: false },
      rope_scaling: {
        ...{ type: 'longrope', short_factor: pairFactors(2), long_factor: pairFactors(4) },
      },
    },
    expected: {
      ...{ ...rms, family: 'phi3', tiedEmbeddings: true },
      rotary: {
        base: 10_000,
        scaling: {
          ...{ type: 'longrope', originalLength: 4 },
          ...{ shortFactors: pairFactors(2), longFactors: pairFactors(4) },
          attentionFactor: Math.sqrt(1 + Math.log(9 / 4) / Math.log(4)),
        },
      },
    },
    file: {
      layers: 'model.layers.',
      names: {
        ...{ ...llamaNames, gate: 'mlp.gate_up_proj', up: 'mlp.gate_up_proj' },
        ...named('q k v', Array(3).fill('self_attn.qkv_proj').join(' ')),
      },
    },
  },
  // As newer versions of transformers write it.
  embeddinggemma: {
    config: {
      ...without(gemma3.config, 'rope_theta', 'rope_local_base_freq', 'rope_scaling'),
      ...{ model_type: 'gemma3_text', use_bidirectional_attention: true, sliding_window: 4 },
      rope_parameters: {
        full_attention: { rope_type: 'default', rope_theta: 1_000_000 },
        sliding_attention: { rope_type: 'default', rope_theta: 10_000 },
      },
    },
    expected: {
      ...{ ...gemma3.expected, family: 'gemma3_text', tiedEmbeddings: false, causal: false },
      ...{ head: false, symmetricWindow: true, rotary: [{ base: 10_000 }, { base: 1_000_000 }] },
    },
    file: gemma3.file,
  },
  // The encoder of a file that has a decoder too, with a gate.
  'flan-t5': {
    config: { ...t5.config, model_type: 't5', feed_forward_proj: 'gated-gelu', n_positions: 9 },
    expected: { ...t5.expected, family: 't5', activation: 'geglu_tanh' },
    file: { layers: 'encoder.block.', names: t5Names('wi_1') },
    more: {
      'encoder.embed_tokens.weight': [11, 64],
      'decoder.block.0.layer.1.EncDecAttention.q.weight': [64, 64],
    },
  },
  // The encoder alone.
  'encoder of t5': {
    ...t5,
    config: { ...t5.config, model_type: 't5' },
    expected: { ...t5.expected, family: 't5' },
  },
  'flan-t5 with its decoder': {
    ...flanT5,
    config: {
      ...{ ...without(flanT5.config, 'num_decoder_layers'), feed_forward_proj: 'gated-gelu' },
      tie_word_embeddings: false,
    },
    expected: { ...flanT5.expected, activation: 'geglu_tanh', tiedEmbeddings: false, numLayers: 2 },
    file: { ...flanT5.file, factors: {} },
  },
};

/** Heads for masked tokens and for classes: the class that files name, what is in the config then, and where the head is. */
const robertaMasked = {
  ...{ headTransform: 'lm_head.dense', headNorm: 'lm_head.layer_norm', head: 'lm_head.decoder' },
};
const gelu1 = { headTransform: 'gelu', headNorm: true, headBias: true };
const pooled = { headPooling: 'first', headBias: true, tiedEmbeddings: false };
const bertMasked = {
  headTransform: 'cls.predictions.transform.dense',
  headNorm: 'cls.predictions.transform.LayerNorm',
  head: 'cls.predictions.decoder',
};
const modernHead = { headTransform: 'head.dense', headNorm: 'head.norm' };
const headed = [
  ['bert', 'BertForMaskedLM', { ...gelu1, tiedEmbeddings: true }, bertMasked],
  ['bert', 'BertForSequenceClassification', { ...pooled, headTransform: 'tanh', classes: 3 }, { headTransform: 'bert.pooler.dense', head: 'classifier' }],
  ['bert', 'BertForTokenClassification', { headBias: true, tiedEmbeddings: false, classes: 5 }, { head: 'classifier' }],
  ['roberta', 'RobertaForMaskedLM', { ...gelu1, tiedEmbeddings: true }, robertaMasked],
  ['xlm-roberta', 'XLMRobertaForSequenceClassification', { ...pooled, headTransform: 'tanh', classes: 1 }, { headTransform: 'classifier.dense', head: 'classifier.out_proj' }],
  ['mpnet', 'MPNetForMaskedLM', { ...gelu1, tiedEmbeddings: false }, robertaMasked],
  ['distilbert', 'DistilBertForMaskedLM', { ...gelu1, tiedEmbeddings: true }, { headTransform: 'vocab_transform', headNorm: 'vocab_layer_norm', head: 'vocab_projector' }],
  ['distilbert', 'DistilBertForSequenceClassification', { ...pooled, headTransform: 'relu', classes: 2 }, { headTransform: 'pre_classifier', head: 'classifier' }],
  ['modernbert', 'ModernBertForMaskedLM', { ...gelu1, tiedEmbeddings: true }, { ...modernHead, head: 'decoder' }],
  ['modernbert', 'ModernBertForSequenceClassification', { ...pooled, ...gelu1, headPooling: 'mean', classes: 4 }, { ...modernHead, head: 'classifier' }, { classifier_pooling: 'mean', classifier_activation: 'gelu' }],
  ['qwen3', 'Qwen3ForSequenceClassification', { headPooling: 'last', tiedEmbeddings: false, classes: 2 }, { head: 'score' }],
  ['llama', 'LlamaForSequenceClassification', { headPooling: 'last', tiedEmbeddings: false, classes: 1 }, { head: 'score' }],
]; // prettier-ignore
const withHeads = Object.fromEntries(
  headed.map(([family, name, head, names, fields = {}]) => {
    const { config, expected, file } = table[family];
    return [
      name,
      {
        config: { ...config, model_type: family, architectures: [name], ...fields },
        expected: { ...expected, family, ...head, head: true },
        file: { ...file, names: { ...file.names, ...names } },
        more: name === 'BertForMaskedLM' ? { 'cls.seq_relationship.weight': [2, 64] } : {},
      },
    ];
  }),
);

/** { truth, tensors, config, expected } of each. */
const made = (all) =>
  Object.fromEntries(
    Object.entries(all).map(
      ([model_type, { config, expected, file, more = {}, nameOf = (name) => name }]) => [
        model_type,
        () => {
          const { truth, tensors: own } = built(expected, file);
          const [first, ...rest] = Object.entries(own).map(([name, tensor]) => [
            nameOf(name),
            tensor,
          ]);
          // Arrays of which nothing is read stand between the others.
          const unread = Object.entries(more).map(([name, shape]) => [
            name,
            { shape, values: new Float32Array(shape.reduce((n, x) => n * x, 1)) },
          ]);
          const tensors = Object.fromEntries([first, ...unread, ...rest]);
          return { truth, tensors, config: { model_type, ...config }, expected: { family: model_type, ...expected } }; // prettier-ignore
        },
      ],
    ),
  );
export const [families, otherFamilies] = [made(table), made({ ...others, ...withHeads })];
/** The names of those that have heads for masked tokens or classes. */
export const headNames = Object.keys(withHeads);
