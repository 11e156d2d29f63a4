// Small models of every family as files of the hub have them, written from the code of transformers: which array is called
// what, which way round it lies, and what is fused.
import { moreFamilies } from './more-families.js';
import { newTruth, part, stacked, turned } from './truth.js';

const sizes = { V: 11, d: 64, f: 96, heads: 4, kv: 2, dK: 16, T: 9, layers: 2 };

/** The tensors of a module with a bias, from [in, out]. */
const linear = (name, weight, bias) => ({
  [`${name}.weight`]: turned(weight),
  ...(bias && { [`${name}.bias`]: bias }),
});
const layers = (count, of) => Object.assign({}, ...Array.from({ length: count }, (_, n) => of(n)));

/** Llama and those after it; `more` is what a family has besides. */
function llamaLike(
  config,
  {
    qkvBias = false,
    qkNorm = false,
    post = false,
    gain = (g) => g,
    tied = false,
    dK = sizes.dK,
  } = {},
) {
  const truth = newTruth();
  const { array } = truth;
  const { V, d, f, heads, kv } = sizes;
  const norm = (name, ours) => ({
    [`${name}.weight`]: gain(array(`${ours}.gamma`, [dK === undefined ? d : d])),
  });
  const tensors = {
    'model.embed_tokens.weight': array('embedding', [V, d]),
    ...layers(sizes.layers, (n) => {
      const [at, ours] = [`model.layers.${n}`, `layers.${n}`];
      const qkv = (letter, width) =>
        linear(
          `${at}.self_attn.${letter}_proj`,
          array(`${ours}.attention.w${letter}`, [d, width]),
          qkvBias ? array(`${ours}.attention.b${letter}`, [width]) : undefined,
        );
      return {
        ...norm(`${at}.input_layernorm`, `${ours}.norm1`),
        ...{ ...qkv('q', heads * dK), ...qkv('k', kv * dK), ...qkv('v', kv * dK) },
        ...(qkNorm && {
          [`${at}.self_attn.q_norm.weight`]: array(`${ours}.attention.qGamma`, [dK]),
          [`${at}.self_attn.k_norm.weight`]: array(`${ours}.attention.kGamma`, [dK]),
        }),
        ...linear(`${at}.self_attn.o_proj`, array(`${ours}.attention.wo`, [heads * dK, d])),
        ...(post && norm(`${at}.post_attention_layernorm`, `${ours}.postNorm1`)),
        ...norm(`${at}.${post ? 'pre_feedforward' : 'post_attention'}_layernorm`, `${ours}.norm2`),
        ...linear(`${at}.mlp.up_proj`, array(`${ours}.feedForward.w1`, [d, f])),
        ...linear(`${at}.mlp.gate_proj`, array(`${ours}.feedForward.wGate`, [d, f])),
        ...linear(`${at}.mlp.down_proj`, array(`${ours}.feedForward.w2`, [f, d])),
        ...(post && norm(`${at}.post_feedforward_layernorm`, `${ours}.postNorm2`)),
      };
    }),
    ...norm('model.norm', 'norm'),
    ...(!tied && linear('lm_head', array('head', [d, V]))),
  };
  const own = {
    ...{ vocab_size: V, hidden_size: d, intermediate_size: f, num_hidden_layers: sizes.layers },
    ...{ num_attention_heads: heads, num_key_value_heads: kv, max_position_embeddings: sizes.T },
    ...{ hidden_act: 'silu', rms_norm_eps: 1e-5, tie_word_embeddings: tied, ...config },
  };
  const common = {
    ...{
      family: config.model_type,
      vocabulary: V,
      numLayers: sizes.layers,
      dModel: d,
      numHeads: heads,
    },
    ...{ numKvHeads: kv, dFeedForward: f, maxLength: sizes.T, normType: 'rms', epsilon: 1e-5 },
    ...{
      activation: 'swiglu',
      positions: 'rotary',
      tiedEmbeddings: tied,
      rotary: { base: 10_000 },
    },
  };
  return { truth, tensors, config: own, common };
}

/** A gain less 1, exactly. */
const lessOne = ({ shape, values }) => ({ shape, values: values.map((x) => x - 1) });

const llama3 = {
  ...{ rope_type: 'llama3', factor: 8, low_freq_factor: 1, high_freq_factor: 4 },
  original_max_position_embeddings: 8192,
};

const llama = () => {
  const model = llamaLike({ model_type: 'llama', rope_theta: 500_000, rope_scaling: llama3 });
  const scaling = {
    ...{ type: 'llama3', factor: 8, lowFrequencyFactor: 1, highFrequencyFactor: 4 },
    originalLength: 8192,
  };
  return { ...model, expected: { ...model.common, rotary: { base: 500_000, scaling } } };
};

const mistral = () => {
  const model = llamaLike({ model_type: 'mistral', sliding_window: 5 });
  return { ...model, expected: { ...model.common, window: 4 } };
};

const qwen2 = () => {
  const windows = { use_sliding_window: true, sliding_window: 4, max_window_layers: 1 };
  const model = llamaLike({ model_type: 'qwen2', ...windows }, { qkvBias: true, tied: true });
  return { ...model, expected: { ...model.common, qkvBiases: true, window: [null, 3] } };
};

const qwen3 = () => {
  const model = llamaLike(
    {
      model_type: 'qwen3',
      head_dim: 8,
      attention_bias: false,
      use_sliding_window: false,
      sliding_window: null,
    },
    { qkNorm: true, dK: 8 },
  );
  return { ...model, expected: { ...model.common, dK: 8, qkNorm: true } };
};

const gemmaTraits = { activation: 'geglu_tanh', embeddingScale: 8, dK: 16 };
const gemma = () => {
  const model = llamaLike(
    { model_type: 'gemma', head_dim: 16, hidden_act: 'gelu', hidden_activation: null },
    { gain: lessOne, tied: true },
  );
  return { ...model, expected: { ...model.common, ...gemmaTraits } };
};

const gemma2 = () => {
  const model = llamaLike(
    {
      ...{
        model_type: 'gemma2',
        head_dim: 16,
        hidden_act: 'gelu_pytorch_tanh',
        hidden_activation: 'gelu_pytorch_tanh',
        sliding_window: 3,
      },
      ...{ query_pre_attn_scalar: 64, attn_logit_softcapping: 50, final_logit_softcapping: null },
    },
    { gain: lessOne, tied: true, post: true },
  );
  const caps = { attentionSoftcap: 50, logitSoftcap: 0, attentionScale: 1 / 8 };
  const rest = { postNorms: true, window: [2, null] };
  return { ...model, expected: { ...model.common, ...gemmaTraits, ...caps, ...rest } };
};

/** Layer norm of ours by its name. */
const layerNorm = (array, name, ours, d) => ({
  [`${name}.weight`]: array(`${ours}.gamma`, [d]),
  [`${name}.bias`]: array(`${ours}.beta`, [d]),
});

function gpt2() {
  const truth = newTruth();
  const { array } = truth;
  const { V, d, f, T } = sizes;
  /** Conv1D: [in, out], and q, k and v side by side. */
  const conv = (name, weight, bias) => ({ [`${name}.weight`]: weight, [`${name}.bias`]: bias });
  const beside = (...all) => turned(stacked(...all.map(turned)));
  const tensors = {
    'wte.weight': array('embedding', [V, d]),
    'wpe.weight': array('positions', [T, d]),
    ...layers(sizes.layers, (n) => {
      const [at, ours] = [`h.${n}`, `layers.${n}`];
      const own = ['q', 'k', 'v'].map((x) => array(`${ours}.attention.w${x}`, [d, d]));
      const biases = ['q', 'k', 'v'].map((x) => array(`${ours}.attention.b${x}`, [d]));
      const map = (name, to, from, rows, columns) =>
        conv(name, array(`${ours}.${to}`, [rows, columns]), array(`${ours}.${from}`, [columns]));
      return {
        ...layerNorm(array, `${at}.ln_1`, `${ours}.norm1`, d),
        [`${at}.attn.bias`]: { shape: [1, 1, T, T], values: new Float32Array(T * T) },
        ...conv(`${at}.attn.c_attn`, beside(...own), stacked(...biases)),
        ...map(`${at}.attn.c_proj`, 'attention.wo', 'attention.bo', d, d),
        ...layerNorm(array, `${at}.ln_2`, `${ours}.norm2`, d),
        ...map(`${at}.mlp.c_fc`, 'feedForward.w1', 'feedForward.b1', d, f),
        ...map(`${at}.mlp.c_proj`, 'feedForward.w2', 'feedForward.b2', f, d),
      };
    }),
    ...layerNorm(array, 'ln_f', 'norm', d),
  };
  const config = {
    ...{ model_type: 'gpt2', vocab_size: V, n_embd: d, n_layer: sizes.layers, n_head: sizes.heads },
    ...{ n_positions: T, n_inner: f, activation_function: 'gelu_new', layer_norm_epsilon: 1e-6 },
  };
  const expected = {
    ...{ family: 'gpt2', vocabulary: V, numLayers: sizes.layers, dModel: d, numHeads: sizes.heads },
    ...{
      dFeedForward: f,
      maxLength: T,
      epsilon: 1e-6,
      activation: 'gelu_tanh',
      tiedEmbeddings: true,
    },
  };
  return { truth, tensors, config, expected };
}

function gptNeox() {
  const truth = newTruth();
  const { array } = truth;
  const { V, d, f, T, heads } = sizes;
  const width = d / heads;
  /** Of each head in turn its rows of q, k and v. */
  const byHead = (all) =>
    stacked(
      ...Array.from({ length: heads }, (_, h) =>
        all.map((rows) => part(rows, h * width, (h + 1) * width)),
      ).flat(),
    );
  const tensors = {
    'gpt_neox.embed_in.weight': array('embedding', [V, d]),
    ...layers(sizes.layers, (n) => {
      const [at, ours] = [`gpt_neox.layers.${n}`, `layers.${n}`];
      const own = ['q', 'k', 'v'].map((x) => array(`${ours}.attention.w${x}`, [d, d]));
      const biases = ['q', 'k', 'v'].map((x) => array(`${ours}.attention.b${x}`, [d]));
      const map = (name, to, from, rows, columns) =>
        linear(name, array(`${ours}.${to}`, [rows, columns]), array(`${ours}.${from}`, [columns]));
      return {
        ...layerNorm(array, `${at}.input_layernorm`, `${ours}.norm1`, d),
        [`${at}.attention.rotary_emb.inv_freq`]: { shape: [2], values: Float32Array.of(1, 2) },
        [`${at}.attention.query_key_value.weight`]: byHead(own.map(turned)),
        [`${at}.attention.query_key_value.bias`]: byHead(biases),
        ...map(`${at}.attention.dense`, 'attention.wo', 'attention.bo', d, d),
        ...layerNorm(array, `${at}.post_attention_layernorm`, `${ours}.norm2`, d),
        ...map(`${at}.mlp.dense_h_to_4h`, 'feedForward.w1', 'feedForward.b1', d, f),
        ...map(`${at}.mlp.dense_4h_to_h`, 'feedForward.w2', 'feedForward.b2', f, d),
      };
    }),
    ...layerNorm(array, 'gpt_neox.final_layer_norm', 'norm', d),
    'embed_out.weight': turned(array('head', [d, V])),
  };
  const config = {
    ...{ model_type: 'gpt_neox', vocab_size: V, hidden_size: d, num_hidden_layers: sizes.layers },
    ...{ num_attention_heads: heads, intermediate_size: f, max_position_embeddings: T },
    ...{
      hidden_act: 'gelu',
      layer_norm_eps: 1e-5,
      rotary_pct: 0.25,
      rotary_emb_base: 10_000,
      use_parallel_residual: true,
    },
  };
  const expected = {
    ...{ family: 'gpt_neox', vocabulary: V, numLayers: sizes.layers, dModel: d, numHeads: heads },
    ...{ dFeedForward: f, maxLength: T, epsilon: 1e-5, activation: 'gelu', tiedEmbeddings: false },
    ...{ positions: 'rotary', rotary: { base: 10_000, rotaryDim: 4 }, parallelResidual: true },
  };
  return { truth, tensors, config, expected };
}

function bert() {
  const truth = newTruth();
  const { array } = truth;
  const { V, d, f, T } = sizes;
  // As the file of bert-base-uncased calls them.
  const norm = (name, ours) => ({
    [`${name}.gamma`]: array(`${ours}.gamma`, [d]),
    [`${name}.beta`]: array(`${ours}.beta`, [d]),
  });
  const tensors = {
    'bert.embeddings.word_embeddings.weight': array('embedding', [V, d]),
    'bert.embeddings.position_embeddings.weight': array('positions', [T, d]),
    'bert.embeddings.token_type_embeddings.weight': array('tokenTypes', [2, d]),
    ...norm('bert.embeddings.LayerNorm', 'embeddingNorm'),
    ...layers(sizes.layers, (n) => {
      const [at, ours] = [`bert.encoder.layer.${n}`, `layers.${n}`];
      const map = (name, to, from, rows, columns) =>
        linear(name, array(`${ours}.${to}`, [rows, columns]), array(`${ours}.${from}`, [columns]));
      return {
        ...map(`${at}.attention.self.query`, 'attention.wq', 'attention.bq', d, d),
        ...map(`${at}.attention.self.key`, 'attention.wk', 'attention.bk', d, d),
        ...map(`${at}.attention.self.value`, 'attention.wv', 'attention.bv', d, d),
        ...map(`${at}.attention.output.dense`, 'attention.wo', 'attention.bo', d, d),
        ...norm(`${at}.attention.output.LayerNorm`, `${ours}.norm1`),
        ...map(`${at}.intermediate.dense`, 'feedForward.w1', 'feedForward.b1', d, f),
        ...map(`${at}.output.dense`, 'feedForward.w2', 'feedForward.b2', f, d),
        ...norm(`${at}.output.LayerNorm`, `${ours}.norm2`),
      };
    }),
    'bert.pooler.dense.weight': { shape: [d, d], values: new Float32Array(d * d) },
    'cls.predictions.bias': { shape: [V], values: new Float32Array(V) },
  };
  const config = {
    ...{ model_type: 'bert', vocab_size: V, hidden_size: d, num_hidden_layers: sizes.layers },
    ...{ num_attention_heads: sizes.heads, intermediate_size: f, max_position_embeddings: T },
    ...{ hidden_act: 'gelu', layer_norm_eps: 1e-12, type_vocab_size: 2 },
  };
  const expected = {
    ...{ family: 'bert', vocabulary: V, numLayers: sizes.layers, dModel: d, numHeads: sizes.heads },
    ...{ dFeedForward: f, maxLength: T, epsilon: 1e-12, activation: 'gelu', tokenTypes: 2 },
    ...{ causal: false, norm: 'post', embeddingNorm: true, head: false },
  };
  return { truth, tensors, config, expected };
}

/** { truth, tensors, config, expected } of each. */
export const families = {
  gpt2,
  gpt_neox: gptNeox,
  llama,
  mistral,
  qwen2,
  qwen3,
  gemma,
  gemma2,
  bert,
  ...moreFamilies,
};
