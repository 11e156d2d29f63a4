// @build any
// Every field of config.json and of the metadata of GGUF that wasm/docs/model-files.md names, for every family of its row: one that is
// obeyed changes the config, one that is refused is refused by name, one without an effect has none. And the fields that
// transformers and llama.cpp have for these families are all in the tables.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { expectRejects } from '../../support/js/check.js';
import { root } from '../../support/js/files.js';
import { full } from '../../support/js/full.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { families } from './support/families.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';

const { openModel, hubFixed } = models;
const guide = readFileSync(join(root, 'wasm/docs/model-files.md'), 'utf8');

/** Words of the tables that stand for several families. */
const groups = new Map(
  [...guide.matchAll(/^\| (\w+s) \| ([\w -]+) \|$/gm)].map(([, word, of]) => [word, of.split(' ')]),
);
const expanded = (text) => text.split(' ').flatMap((word) => groups.get(word) ?? [word]);

/** The families of a row: 'llamas bert', 'all', 'all but llama'. */
function familiesIn(text, all) {
  const [, others] = /^all(?: but (.*))?$/.exec(text) ?? [text];
  if (!text.startsWith('all')) return expanded(text);
  const left = others === undefined ? [] : expanded(others);
  for (const name of left) assert.ok(all.includes(name), `${name} of "${text}"`);
  return all.filter((name) => !left.includes(name));
}

/** The rows of the tables of a chapter: [fields, families, what is said]. `all` are its families. */
function rowsOf(title, all) {
  const chapter = guide.split(/^#{2,3} /m).find((text) => text.startsWith(`${title}\n`));
  const rows = [...chapter.matchAll(/^\| (`.*) \| ([\w -]+) \| (.*?) ?\|$/gm)];
  assert.ok(rows.length > 0, title);
  return rows.map(([, fields, of, says]) => ({
    fields: [...fields.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
    families: familiesIn(of, all),
    says,
  }));
}
/** The values of "`false`, `1`: ..." that a field may have; none for "absent". */
const valuesIn = (says) =>
  [...says.replace(/:.*/, '').matchAll(/`([^`]+)`/g)].map(([, text]) => JSON.parse(text));
/** Values that are none of these. */
const othersOf = (values) =>
  values.length === 0
    ? [true, 2, 'x', ['x'], { a: 1 }]
    : values.map((value) => (typeof value === 'boolean' ? !value : typeof value === 'number' ? value + 2 : 'other')); // prettier-ignore

const hub = Object.keys(families);
const files = Object.fromEntries(
  hub.map((family) => {
    const { tensors, config, truth } = families[family]();
    return [family, { config, weights: safetensors(tensors), truth }];
  }),
);
const without = (config) => Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)); // prettier-ignore

/** How many times greater than those of `truth` the arrays of a model are that have a factor in them. */
async function factorsOf(model, { arrays }) {
  const found = await collect(model);
  const of = (name) => found[name].data[0] / arrays[name].data[0];
  const down = Object.keys(arrays).find((name) => /^layers\.0\.feedForward.*w2$/.test(name));
  return {
    ...{ o: of('layers.0.attention.wo'), down: of(down) },
    norm: of('norm.gamma'),
  };
}
const hasFactors = (family) => /^(granite|granitemoe|minicpm)$/.test(family);

/** What is known of a family's model with other fields. */
async function opened(family, changes) {
  const { config, weights, truth } = files[family];
  const model = await openModel({ config: without({ ...config, ...changes }), weights });
  const factors = hasFactors(family) && (await factorsOf(model, truth));
  model.close();
  return { ...model.config, endTokens: model.endTokens, ...(factors && { factors }) };
}
const refused = (family, changes, code, ...says) =>
  expectRejects(opened(family, changes), 'load', code, ...says);

const tables = {
  obeyed: rowsOf('Obeyed', hub),
  fixed: rowsOf('Refused, unless', hub),
  free: rowsOf('No effect on what is computed', hub),
};

const noRope = { rope_theta: undefined, rope_scaling: undefined, rotary_emb_base: undefined, global_rope_theta: undefined }; // prettier-ignore
const noShare = { rotary_pct: undefined, partial_rotary_factor: undefined };
/** Every layer with a window of four keys and its own. */
const slides = { use_sliding_window: undefined, sliding_window: 5, layer_types: undefined };
const qwenSlides = { ...slides, use_sliding_window: true, max_window_layers: 0 };
const slidesOf = (family) => (family.startsWith('qwen') ? qwenSlides : slides);
const noWindow = (family) =>
  family.startsWith('qwen') ? { use_sliding_window: false } : /^(mistral|gemma2|gemma3_text|exaone4|vaultgemma|starcoder2|phi3)$/.test(family) ? { sliding_window: null, layer_types: null } : family === 'gpt_neo' ? { attention_types: [[['global'], 2]], attention_layers: null } : {}; // prettier-ignore
/** Whether its file has the head of a language model. */
const hasHead = (family) => Object.keys(families[family]().tensors).some((name) => /^(lm_head|embed_out|output(_projection)?)\.weight$/.test(name)); // prettier-ignore
/** Families without a field for the heads of keys: another number of heads fits the same arrays. */
const isOneKind = (family) => !('num_key_value_heads' in files[family].config);
const isGated = (family) => files[family].config.rms_norm_eps !== undefined || /^(stablelm|olmo)$/.test(family); // prettier-ignore
const at = (name) => (config) => config[name];
/** The rotation of layers without a window, or the only one. */
const rotationOf = ({ rotary: all, window }) =>
  Array.isArray(all) ? (all[window?.indexOf(null)] ?? all.find(Boolean)) : all;
const rotary = (name) => (config) => rotationOf(config)[name];
const shaped = /is \[|have no|have "|expected/;

/** Of each field that is obeyed: the other fields with it, and what then is where in the config; or what the refusal names. */
const samples = {
  model_type: () => [{ model_type: 'mamba' }, /model_type is "mamba"/],
  vocab_size: () => [{ vocab_size: 12 }, shaped],
  num_hidden_layers: () => [{ num_hidden_layers: 3 }, shaped],
  hidden_size: () => [{ hidden_size: 32 }, shaped],
  num_attention_heads: (family) =>
    isOneKind(family) && !/^(bloom|mpnet)$/.test(family)
      ? [{ num_attention_heads: 8 }, at('numHeads'), 8]
      : [{ num_attention_heads: 8 }, /is \[|numHeads|head/],
  intermediate_size: () => [{ intermediate_size: 48 }, shaped],
  max_position_embeddings: (family) => [
    { max_position_embeddings: 5 },
    at('maxLength'),
    /roberta|camembert|data2vec|mpnet/.test(family) ? 3 : 5,
  ],
  pad_token_id: () => [{ pad_token_id: 0 }, at('maxLength'), 10],
  n_layers: () => [{ n_layers: 3 }, shaped],
  dim: () => [{ dim: 32 }, shaped],
  n_heads: () => [{ n_heads: 8 }, at('numHeads'), 8],
  hidden_dim: () => [{ hidden_dim: 48 }, shaped],
  n_embed: () => [{ n_embed: 32 }, shaped],
  seq_length: () => [{ seq_length: 5 }, at('maxLength'), 5],
  num_layers: (family) => [
    { num_layers: 3 },
    family === 'gpt_neo' ? /attention_types has 2 layers, expected 3/ : shaped,
  ],
  num_heads: (family) =>
    family === 't5' ? [{ num_heads: 8 }, shaped] : [{ num_heads: 8 }, at('numHeads'), 8],
  ...Object.fromEntries(
    Object.entries({ d_model: 32, d_ff: 48, d_kv: 8, relative_attention_num_buckets: 16 }).map(
      ([field, value]) => [field, () => [{ [field]: value }, shaped]],
    ),
  ),
  relative_attention_max_distance: () => [{ relative_attention_max_distance: 77 }, at('relativeMaxDistance'), 77], // prettier-ignore
  feed_forward_proj: () => [{ feed_forward_proj: 'gated-gelu' }, /have no ".*wi_1/],
  num_experts: () => [{ num_experts: 4 }, shaped],
  num_local_experts: () => [{ num_local_experts: 4 }, shaped],
  num_experts_per_tok: () => [{ num_experts_per_tok: 3 }, at('expertsPerToken'), 3],
  norm_topk_prob: (family) => [
    { norm_topk_prob: family === 'olmoe' },
    at('normalizedExperts'),
    family === 'olmoe',
  ],
  moe_intermediate_size: () => [{ moe_intermediate_size: 48 }, shaped],
  norm_eps: () => [{ norm_eps: 0.5 }, at('epsilon'), 0.5],
  rotary_dim: () => [{ rotary_dim: 4 }, rotary('rotaryDim'), 4],
  global_rope_theta: () => [{ global_rope_theta: 7 }, rotary('base'), 7],
  local_rope_theta: () => [{ local_rope_theta: 7 }, (config) => config.rotary[1].base, 7],
  rope_local_base_freq: () => [{ rope_local_base_freq: 7 }, (config) => config.rotary[0].base, 7],
  local_attention: () => [{ local_attention: 6 }, at('window'), [null, 3]],
  global_attn_every_n_layers: () => [{ global_attn_every_n_layers: 1 }, at('window'), undefined],
  no_rope_layers: () => [{ no_rope_layers: [0, 1] }, (config) => config.rotary[0], null],
  no_rope_layer_interval: () => [
    { no_rope_layers: null, no_rope_layer_interval: 1 },
    at('rotary'),
    [null, null],
  ],
  sliding_window_pattern: () => [
    { layer_types: undefined, sliding_window_pattern: 1 },
    at('window'),
    undefined,
  ],
  use_bidirectional_attention: () => [{ use_bidirectional_attention: true }, at('symmetricWindow'), true], // prettier-ignore
  ffn_dim: () => [{ ffn_dim: 48 }, shaped],
  attention_types: () => [
    { attention_types: [[['local'], 2]], attention_layers: undefined },
    at('window'),
    3,
  ],
  attention_layers: () => [{ attention_layers: ['local', 'local'] }, /attention_layers and config.attention_types differ/], // prettier-ignore
  window_size: () => [{ window_size: 3 }, at('window'), [null, 2]],
  multi_query: () => [{ multi_query: false }, shaped],
  use_bias: (family) =>
    family === 'starcoder2'
      ? [{ use_bias: false }, /have ".*bias"/] // the biases in the file are surplus
      : [{ use_bias: true }, /have no ".*bias"/],
  num_key_value_heads: () => [{ num_key_value_heads: 4 }, shaped],
  head_dim: () => [{ head_dim: 32 }, shaped],
  n_layer: () => [{ n_layer: 3 }, shaped],
  n_embd: () => [{ n_embd: 32 }, shaped],
  // With one head of keys its width is that of a head.
  n_head: (family) =>
    family === 'gpt_bigcode' ? [{ n_head: 8 }, shaped] : [{ n_head: 8 }, at('numHeads'), 8],
  n_positions: () => [{ n_positions: 5 }, at('maxLength'), 5],
  n_inner: () => [{ n_inner: 48 }, shaped],
  rms_norm_eps: () => [{ rms_norm_eps: 0.5 }, at('epsilon'), 0.5],
  layer_norm_eps: () => [{ layer_norm_eps: 0.5 }, at('epsilon'), 0.5],
  norm_epsilon: () => [{ norm_epsilon: 0.5 }, at('epsilon'), 0.5],
  layer_norm_epsilon: () => [{ layer_norm_epsilon: 0.5 }, at('epsilon'), 0.5],
  hidden_act: (family) =>
    isGated(family)
      ? [{ hidden_act: 'gelu' }, at('activation'), 'geglu']
      : [{ hidden_act: 'relu' }, at('activation'), 'relu'],
  activation_function: (family) =>
    family === 'exaone'
      ? [{ activation_function: 'gelu' }, at('activation'), 'geglu']
      : [{ activation_function: 'silu' }, at('activation'), 'silu'],
  activation: () => [{ activation: 'relu' }, at('activation'), 'relu'],
  hidden_activation: () => [{ hidden_activation: 'gelu' }, at('activation'), 'geglu'],
  rope_theta: () => [{ ...noRope, rope_theta: 7 }, rotary('base'), 7],
  rotary_emb_base: () => [{ ...noRope, rotary_emb_base: 7 }, rotary('base'), 7],
  rope_parameters: (family) => [
    { ...noRope, ...noShare, rope_parameters: { rope_theta: 7, partial_rotary_factor: 0.5 } },
    (config) => [rotationOf(config).base, rotationOf(config).rotaryDim],
    [7, family === 'qwen3' ? 4 : 8],
  ],
  rope_scaling: () => [
    { rope_scaling: { type: 'linear', factor: 3 } },
    rotary('scaling'),
    { type: 'linear', factor: 3 },
  ],
  partial_rotary_factor: (family) => [
    { ...noShare, partial_rotary_factor: 0.5 },
    rotary('rotaryDim'),
    family === 'qwen3' ? 4 : 8,
  ],
  rotary_pct: (family) => [
    { ...noShare, rotary_pct: 0.5 },
    rotary('rotaryDim'),
    family === 'qwen3' ? 4 : 8,
  ],
  is_causal: (family) => [{ ...noWindow(family), is_causal: false }, at('causal'), false],
  use_sliding_window: () => [{ ...qwenSlides, use_sliding_window: false }, at('window'), undefined],
  max_window_layers: () => [{ ...qwenSlides, max_window_layers: 1 }, at('window'), [null, 4]],
  sliding_window: (family) => [
    { ...slidesOf(family), sliding_window: 4 },
    at('window'),
    /gemma|exaone4/.test(family) ? [3, null] : 3,
  ],
  layer_types: (family) =>
    family === 'modernbert'
      ? [{ layer_types: ['sliding_attention', 'full_attention'] }, at('window'), [2, null]]
      : [
          { ...slidesOf(family), layer_types: ['full_attention', 'sliding_attention'] },
          at('window'),
          [null, 4],
        ],
  query_pre_attn_scalar: () => [{ query_pre_attn_scalar: 16 }, at('attentionScale'), 0.25],
  attn_logit_softcapping: () => [{ attn_logit_softcapping: 7 }, at('attentionSoftcap'), 7],
  final_logit_softcapping: () => [{ final_logit_softcapping: 7 }, at('logitSoftcap'), 7],
  use_parallel_residual: () => [{ use_parallel_residual: false }, at('parallelResidual'), false],
  attention_bias: (family) =>
    family === 'glm'
      ? [{ attention_bias: false }, /have ".*_proj.bias"/]
      : [{ attention_bias: true }, /have no ".*self_attn.*bias"/],
  max_trained_positions: () => [{ max_trained_positions: 5 }, at('maxLength'), 5],
  rotary_scaling_factor: () => [{ rotary_scaling_factor: null }, at('maxLength'), 12],
  bias: () => [{ bias: true }, /have no ".*attention.wqkv.bias"/],
  use_qkv_bias: () => [{ use_qkv_bias: true }, /have no ".*q_proj.bias"/],
  embedding_multiplier: () => [{ embedding_multiplier: 7 }, at('embeddingScale'), 7],
  scale_emb: () => [{ scale_emb: 7 }, at('embeddingScale'), 7],
  attention_multiplier: () => [{ attention_multiplier: 0.5 }, at('attentionScale'), 0.5],
  residual_multiplier: () => [{ residual_multiplier: 0.5 }, at('factors'), { o: 2, down: 2, norm: 1 }], // prettier-ignore
  scale_depth: () => [{ scale_depth: Math.SQRT2 / 2 }, at('factors'), { o: 2, down: 2, norm: 1 }],
  logits_scaling: () => [{ logits_scaling: 4 }, at('factors'), { o: 1, down: 1, norm: 2 }],
  dim_model_base: () => [{ dim_model_base: 32 }, at('factors'), { o: 1, down: 1, norm: 2 }],
  scale_embedding: () => [{ scale_embedding: false }, at('embeddingScale'), undefined],
  position_embedding_type: (family) => [
    { position_embedding_type: 'absolute' },
    family === 'esm' ? /position_embedding_type is "absolute", expected rotary/ : shaped,
  ],
  feed_forward_type: () => [{ feed_forward_type: 'reglu' }, /feed_forward_type is "reglu"/], // prettier-ignore
  token_dropout: () => [{ token_dropout: false }, at('embeddingScale'), 1],
  afn: () => [{ afn: 'relu' }, at('activation'), 'relu'],
  mlp_bias: () => [{ mlp_bias: true }, /have no ".*mlp.*bias"/],
  tie_word_embeddings: (family) =>
    hasHead(family)
      ? [{ tie_word_embeddings: true }, at('tiedEmbeddings'), false] // a head is in the file
      : [{ tie_word_embeddings: false }, /have no "lm_head.weight"/],
  type_vocab_size: () => [{ type_vocab_size: 3 }, shaped],
  architectures: (family) =>
    family === 't5'
      ? [{ architectures: ['T5ForTokenClassification'] }, /architectures is "T5ForTok.*T5EncoderM/]
      : hasHead(family)
        ? [{ architectures: ['SomeModel'] }, at('head'), undefined] // a head is in the file
        : [
            {
              ...noWindow(family),
              is_causal: false,
              tie_word_embeddings: false,
              architectures: ['SomeModel'],
            },
            at('head'),
            false,
          ],
  is_encoder_decoder: () => [
    { architectures: null, is_encoder_decoder: false },
    at('encoderLayers'),
    undefined,
  ],
  num_decoder_layers: () => [{ num_decoder_layers: 2 }, shaped],
  decoder_start_token_id: () => [{ decoder_start_token_id: 5 }, at('startToken'), 5],
  eos_token_id: () => [{ eos_token_id: [7, 2] }, at('endTokens'), [7, 2]],
  original_max_position_embeddings: () => [
    { rope_scaling: { rope_type: 'yarn', factor: 2 }, original_max_position_embeddings: 77 },
    (config) => rotationOf(config).scaling.originalLength,
    77,
  ],
};

/** What a sample says: what is where in the config then, or what the refusal names. */
async function expectSample([changes, where, expected], open) {
  if (where instanceof RegExp) {
    await assert.rejects(open(changes), ({ name, message }) => {
      assert.equal(name, 'QkvError');
      assert.match(message, where);
      return true;
    });
  } else assert.deepEqual(where(await open(changes)), expected);
}

/**
 * The families with which a field is tried: all in the full run. One reader reads a field of all its families, and the tables of
 * the reader and of the guide are compared for each family below; so the everyday run tries one, another one for each field.
 */
function someOf(families, field) {
  const first = [...field].reduce((sum, letter) => sum + letter.charCodeAt(0), 0);
  return full ? families : families.filter((_, i) => (i + first) % families.length === 0);
}

describe('load: config.json', () => {
  for (const { fields, families: of } of tables.obeyed) {
    for (const field of fields) {
      for (const family of someOf(of, field)) {
        test(`${field} of ${family} is obeyed`, async () => {
          await expectSample(samples[field](family), (changes) => opened(family, changes));
        });
      }
    }
  }

  for (const { fields, families: of, says } of tables.fixed) {
    for (const field of fields) {
      for (const family of someOf(of, field)) {
        test(`${field} of ${family} is refused unless it is ${says}`, async () => {
          const values = /^(word_embed_proj_dim|embedding_size)$/.test(field)
            ? [64]
            : valuesIn(says);
          const as = await opened(family, { [field]: undefined }).catch(() => opened(family, {}));
          for (const value of [...values, null, [], {}])
            assert.deepEqual(await opened(family, { [field]: value }), as, JSON.stringify(value));
          for (const value of field === 'auto_map' ? [{ AutoModel: 'a.B' }] : othersOf(values))
            await refused(family, { [field]: value }, 'unsupported', `config.${field} is `);
        });
      }
    }
  }

  for (const { fields, families: of } of tables.free) {
    for (const field of fields) {
      for (const family of someOf(of, field)) {
        test(`${field} of ${family} has no effect`, async () => {
          const as = await opened(family, {});
          const own = field === 'use_sliding_window' ? [true, false] : [0, 1, 7, true, false, 'x', ['x'], { a: 1 }, null]; // prettier-ignore
          const values = field === 'tie_word_embeddings' || /_bias$/.test(field) ? [true, false] : own; // prettier-ignore
          for (const value of values)
            assert.deepEqual(await opened(family, { [field]: value }), as, JSON.stringify(value));
        });
      }
    }
  }

  test('each field stands for each family in one table alone', () => {
    const seen = new Set();
    for (const { fields, families: of } of Object.values(tables).flat()) {
      for (const name of fields.flatMap((field) => of.map((family) => `${field} of ${family}`))) {
        assert.ok(!seen.has(name), name);
        seen.add(name);
      }
    }
  });

  for (const [family, classes] of Object.entries({
    ...{ phi3: 'Phi3', minicpm: 'MiniCPM', nomic_bert: 'NomicBert', 'jina-bert-v2': 'JinaBert' },
    ...{ internlm2: 'InternLM2', exaone: 'Exaone' },
  })) {
    test(`the code that files of ${family} bring along is that of the family, and other code is refused`, async () => {
      const code = (name) => ({ auto_map: { AutoConfig: 'a.B', AutoModelForCausalLM: name } });
      const as = await opened(family, {});
      for (const name of [`modeling.${classes}ForCausalLM`, `org/repo--modeling.${classes}Model`])
        assert.deepEqual(await opened(family, code(name)), as, name);
      for (const name of [`modeling.My${classes}Model`, `${classes}.Model`])
        await refused(family, code(name), 'unsupported', 'config.auto_map is ');
    });
  }

  test('the table of what is refused is that of the reader', () => {
    // Those that ask more than for a value.
    const apart = [
      'quantization_config',
      'word_embed_proj_dim',
      'embedding_size',
      'quantization',
      'compression_config',
      'auto_map',
      'sliding_window',
    ];
    const isEither = (values) => values.includes(true) && values.includes(false);
    for (const family of hub) {
      const told = tables.fixed
        .filter(({ families: of }) => of.includes(family))
        .flatMap(({ fields, says }) => fields.map((field) => [field, valuesIn(says)]))
        .filter(([field]) => !apart.includes(field));
      const own = Object.entries(hubFixed(family)).filter(([, values]) => !isEither(values));
      assert.deepEqual(Object.fromEntries(told.sort()), Object.fromEntries(own.sort()), family);
    }
  });

  // The fields of the classes of configs in transformers, those of their base class included.
  const shared =
    'vocab_size eos_token_id bos_token_id pad_token_id initializer_range use_cache tie_word_embeddings torch_dtype dtype ' +
    'architectures is_encoder_decoder is_decoder add_cross_attention tie_encoder_decoder cross_attention_hidden_size pruned_heads ' +
    'chunk_size_feed_forward per_layer_config id2label label2id problem_type output_hidden_states return_dict';
  const rope = 'rope_theta rope_scaling rope_parameters is_causal';
  const sizes = 'hidden_size intermediate_size num_hidden_layers num_attention_heads max_position_embeddings hidden_act'; // prettier-ignore
  const llama = `${sizes} ${rope} num_key_value_heads head_dim rms_norm_eps attention_bias attention_dropout`;
  const qwen = `${llama} use_sliding_window sliding_window max_window_layers layer_types`;
  const gemma = `${llama} hidden_activation use_bidirectional_attention`;
  const bert = `${sizes} hidden_dropout_prob attention_probs_dropout_prob type_vocab_size layer_norm_eps position_embedding_type classifier_dropout`;
  const inTransformers = {
    llama: `${llama} mlp_bias pretraining_tp`,
    mistral: `${llama} sliding_window`,
    ...{ qwen2: qwen, qwen3: qwen, gemma },
    gemma2: `${gemma} sliding_window layer_types query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping`,
    gpt2:
      'n_positions n_embd n_layer n_head n_inner n_ctx activation_function resid_pdrop embd_pdrop attn_pdrop layer_norm_epsilon ' +
      'summary_type summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout scale_attn_weights ' +
      'scale_attn_by_inverse_layer_idx reorder_and_upcast_attn is_causal',
    gpt_neox: `${sizes} ${rope} rotary_pct rotary_emb_base attention_dropout hidden_dropout classifier_dropout layer_norm_eps use_parallel_residual attention_bias`,
    bert,
    distilbert:
      'max_position_embeddings sinusoidal_pos_embds n_layers n_heads dim hidden_dim dropout attention_dropout activation ' +
      'qa_dropout seq_classif_dropout',
    ...{ roberta: bert, 'xlm-roberta': bert, camembert: bert },
    'data2vec-text': bert,
    electra: `${bert} embedding_size summary_type summary_use_proj summary_activation`,
    ernie: `${bert} task_type_vocab_size use_task_id`,
    esm: `${sizes} hidden_dropout_prob attention_probs_dropout_prob layer_norm_eps position_embedding_type emb_layer_norm_before token_dropout is_folding_model esmfold_config vocab_list mask_token_id`,
    biogpt: `${sizes} hidden_dropout_prob attention_probs_dropout_prob layer_norm_eps scale_embedding layerdrop activation_dropout`,
    'openai-gpt':
      'n_positions n_embd n_layer n_head afn resid_pdrop embd_pdrop attn_pdrop layer_norm_epsilon summary_type ' +
      'summary_use_proj summary_activation summary_proj_to_labels summary_first_dropout',
    helium: `${llama} mlp_bias`,
    glm: `${llama} partial_rotary_factor`,
    vaultgemma: `${gemma} sliding_window layer_types query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping`,
    opt:
      'hidden_size num_hidden_layers ffn_dim max_position_embeddings do_layer_norm_before _remove_final_layer_norm ' +
      'word_embed_proj_dim dropout attention_dropout num_attention_heads activation_function layerdrop init_std enable_bias ' +
      'layer_norm_elementwise_affine',
    bloom:
      'hidden_size n_embed n_layer num_hidden_layers n_head num_attention_heads layer_norm_epsilon ' +
      'apply_residual_connection_post_layernorm hidden_dropout attention_dropout pretraining_tp slow_but_exact',
    gpt_neo:
      'max_position_embeddings hidden_size num_layers attention_types num_heads intermediate_size window_size ' +
      'activation_function resid_pdrop embed_dropout attention_dropout classifier_dropout layer_norm_epsilon',
    gpt_bigcode:
      'n_positions n_embd n_layer n_head n_inner activation_function resid_pdrop embd_pdrop attn_pdrop layer_norm_epsilon ' +
      'scale_attn_weights attention_softmax_in_fp32 scale_attention_softmax_in_fp32 multi_query',
    starcoder2: `${sizes} ${rope} num_key_value_heads norm_epsilon sliding_window attention_dropout residual_dropout embedding_dropout use_bias`,
    ernie4_5: `${sizes} ${rope} num_key_value_heads head_dim rms_norm_eps use_bias`,
    // Of the code that comes with them.
    'jina-bert-v2': `${bert} feed_forward_type emb_pooler attn_implementation`,
    nomic_bert:
      'n_embd n_layer n_head n_inner n_positions activation_function layer_norm_epsilon type_vocab_size prenorm parallel_block ' +
      'parallel_block_tied_norm rotary_emb_fraction rotary_emb_base rotary_emb_scale_base rotary_emb_interleaved fused_dropout_add_ln ' +
      'fused_bias_fc use_flash_attn use_xentropy qkv_proj_bias mlp_fc1_bias mlp_fc2_bias causal use_rms_norm max_trained_positions ' +
      'rotary_scaling_factor scale_attn_weights scale_attn_by_inverse_layer_idx',
    internlm2: `${sizes} ${rope} num_key_value_heads rms_norm_eps bias attn_implementation`,
    exaone: `${rope} hidden_size intermediate_size num_layers num_attention_heads max_position_embeddings num_key_value_heads layer_norm_epsilon activation_function embed_dropout attention_dropout`,
    olmoe: `${llama} num_experts num_experts_per_tok norm_topk_prob output_router_logits router_aux_loss_coef clip_qkv`,
    qwen3_moe: `${qwen} num_experts num_experts_per_tok norm_topk_prob output_router_logits router_aux_loss_coef moe_intermediate_size mlp_only_layers decoder_sparse_step`,
    granitemoe: `${llama} embedding_multiplier logits_scaling residual_multiplier attention_multiplier num_local_experts num_experts_per_tok output_router_logits router_aux_loss_coef`,
    phi: `${sizes} ${rope} num_key_value_heads layer_norm_eps partial_rotary_factor qk_layernorm resid_pdrop embd_pdrop attention_dropout`,
    gptj:
      'n_positions n_embd n_layer n_head n_inner rotary_dim activation_function resid_pdrop embd_pdrop attn_pdrop ' +
      'layer_norm_epsilon is_causal',
    nemotron: `${sizes} ${rope} num_key_value_heads head_dim norm_eps partial_rotary_factor attention_bias attention_dropout mlp_bias`,
    arcee: `${llama} mlp_bias`,
    ...{ hunyuan_v1_dense: llama, olmo2: llama },
    exaone4: `${llama} sliding_window sliding_window_pattern layer_types`,
    smollm3: `${llama} mlp_bias use_sliding_window no_rope_layers no_rope_layer_interval`,
    gemma3_text: `${gemma} sliding_window layer_types query_pre_attn_scalar attn_logit_softcapping final_logit_softcapping rope_local_base_freq sliding_window_pattern`,
    mpnet: `${bert.replace('type_vocab_size ', '')} relative_attention_num_buckets`,
    modernbert:
      'hidden_size intermediate_size num_hidden_layers num_attention_heads max_position_embeddings hidden_activation ' +
      'norm_eps norm_bias global_rope_theta attention_bias attention_dropout global_attn_every_n_layers local_attention ' +
      'local_rope_theta embedding_dropout mlp_bias mlp_dropout decoder_bias classifier_pooling classifier_dropout ' +
      'classifier_bias classifier_activation deterministic_flash_attn sparse_prediction sparse_pred_ignore_index ' +
      'reference_compile repad_logits_with_grad initializer_cutoff_factor cls_token_id sep_token_id layer_types rope_parameters',
    t5:
      'd_model d_kv d_ff num_layers num_decoder_layers num_heads relative_attention_num_buckets relative_attention_max_distance ' +
      'dropout_rate layer_norm_epsilon initializer_factor feed_forward_proj classifier_dropout',
    granite: `${llama} mlp_bias embedding_multiplier logits_scaling residual_multiplier attention_multiplier`,
    minicpm: `${llama} pretraining_tp scale_emb dim_model_base scale_depth`,
    olmo: `${sizes} ${rope} num_key_value_heads attention_bias attention_dropout clip_qkv`,
    phi3: `${sizes} ${rope} num_key_value_heads resid_pdrop embd_pdrop attention_dropout original_max_position_embeddings rms_norm_eps sliding_window`,
    stablelm: `${sizes} ${rope} num_key_value_heads layer_norm_eps use_qkv_bias qk_layernorm use_parallel_residual hidden_dropout attention_dropout partial_rotary_factor`,
  };
  for (const family of hub) {
    test(`the fields that transformers has for ${family} are in the tables`, () => {
      const told = new Set(
        Object.values(tables)
          .flat()
          .filter(({ families: of }) => of.includes(family))
          .flatMap(({ fields }) => fields),
      );
      const all = `${shared} ${inTransformers[family]}`.split(' ');
      assert.deepEqual(
        all.filter((field) => !told.has(field)),
        [],
      );
    });
  }
});

// ---------------------------------------------------------------------------------------------- GGUF

const { u32, f32, bool, text, list } = gguf;
const archs = Object.keys(ggufModels);
const made = Object.fromEntries(archs.map((arch) => [arch, ggufModels[arch]()]));

/** What is known of a model with other metadata below its architecture. */
async function ggufOpened(arch, changes) {
  const { metadata, tensors, truth } = made[arch];
  const own = Object.entries(changes).map(([key, value]) => [`${arch}.${key}`, value]);
  const kept = metadata.filter(([key]) => !own.some(([name]) => name === key));
  const model = await openModel({
    weights: ggufFile([...kept, ...own.filter(([, value]) => value !== null)], tensors),
  });
  const factors = hasFactors(arch) && (await factorsOf(model, truth));
  model.close();
  return { ...model.config, pooling: model.pooling, ...(factors && { factors }) };
}

const keys = rowsOf('GGUF', archs).filter(({ fields }) => fields.length > 0);
const scaled = (type, more) => ({
  ...{ 'rope.scaling.type': text(type), 'rope.scaling.factor': f32(2), ...more },
});
const scaling = (name) => (config) => rotationOf(config).scaling[name];
/** Encoders whose windows reach to both sides. */
const isBothSides = (arch) => /^(gemma-embedding|modern-bert)$/.test(arch);
const yarn = (key, value, name, expected) => () => [scaled('yarn', { [key]: value }), scaling(name), expected]; // prettier-ignore
const perLayer = (number) => list([u32(number), u32(number)]);

/** As `samples`. */
const ggufSamples = {
  block_count: () => [{ block_count: u32(3) }, shaped],
  embedding_length: () => [{ embedding_length: u32(32) }, shaped],
  'attention.head_count': (arch) => [
    { 'attention.head_count': perLayer(2), 'attention.head_count_kv': perLayer(2) },
    ...(/^(gpt2|gptneox|bloom|bert|nomic-bert|jina-bert-v2|phi2|modern-bert|olmoe)$/.test(arch)
      ? [at('numHeads'), 2]
      : [shaped]),
  ],
  feed_forward_length: (arch) =>
    arch === 'qwen3moe'
      ? [{ feed_forward_length: u32(48) }, at('dFeedForward'), 96]
      : [{ feed_forward_length: perLayer(48) }, shaped],
  expert_count: () => [{ expert_count: u32(4) }, shaped],
  expert_used_count: () => [{ expert_used_count: u32(3) }, at('expertsPerToken'), 3],
  expert_feed_forward_length: () => [{ expert_feed_forward_length: u32(48) }, shaped],
  context_length: () => [{ context_length: u32(5) }, at('maxLength'), 5],
  'attention.head_count_kv': (arch) => [
    { 'attention.head_count_kv': perLayer(arch === 'starcoder' ? 2 : 1) },
    shaped,
  ],
  'attention.key_length': () => [{ 'attention.key_length': u32(8) }, shaped],
  'attention.layer_norm_rms_epsilon': () => [{ 'attention.layer_norm_rms_epsilon': f32(0.5) }, at('epsilon'), 0.5], // prettier-ignore
  'attention.layer_norm_epsilon': () => [{ 'attention.layer_norm_epsilon': f32(0.5) }, at('epsilon'), 0.5], // prettier-ignore
  'attention.causal': (arch) =>
    /^(gemma2|gemma3|exaone4|phi3)$/.test(arch)
      ? [{ 'attention.causal': bool(false) }, /attention.causal is false and there are windows/]
      : [{ 'attention.causal': bool(false) }, at('causal'), false],
  pooling_type: () => [{ pooling_type: u32(3) }, at('pooling'), 'last'],
  use_parallel_residual: () => [
    { use_parallel_residual: bool(false) },
    at('parallelResidual'),
    false,
  ],
  attn_logit_softcapping: () => [{ attn_logit_softcapping: f32(7) }, at('attentionSoftcap'), 7],
  final_logit_softcapping: () => [{ final_logit_softcapping: f32(7) }, at('logitSoftcap'), 7],
  'attention.sliding_window': (arch) => [
    { 'attention.sliding_window': u32(5) },
    at('window'),
    {
      ...{ gemma2: [4, null], gemma3: [4, null], exaone4: [4, null] },
      ...{ 'gemma-embedding': [2, null], 'modern-bert': [null, 2] },
    }[arch] ?? 4,
  ],
  'rope.freq_base_swa': () => [
    { 'rope.freq_base_swa': f32(7) },
    (config) => config.rotary.some(({ base }) => base === 7),
    true,
  ],
  'attention.relative_buckets_count': () => [
    { 'attention.relative_buckets_count': u32(16) },
    shaped,
  ],
  decoder_block_count: () => [{ decoder_block_count: u32(2) }, shaped],
  decoder_start_token_id: () => [{ decoder_start_token_id: u32(5) }, at('startToken'), 5],
  hidden_activation: () => [{ hidden_activation: text('silu') }, at('activation'), 'swiglu'],
  'attention.sliding_window_pattern': (arch) => [
    {
      'attention.sliding_window': u32(5),
      'attention.sliding_window_pattern': list([bool(false), bool(true)]),
    },
    at('window'),
    [null, isBothSides(arch) ? 2 : 4],
  ],
  'attention.scale': () => [{ 'attention.scale': f32(0.5) }, at('attentionScale'), 0.5],
  embedding_scale: () => [{ embedding_scale: f32(7) }, at('embeddingScale'), 7],
  residual_scale: () => [{ residual_scale: f32(0.5) }, at('factors'), { o: 2, down: 2, norm: 1 }],
  logit_scale: (arch) => [
    { logit_scale: f32(arch.startsWith('granite') ? 4 : 2) },
    at('factors'),
    { o: 1, down: 1, norm: 2 },
  ],
  'rope.freq_base': () => [{ 'rope.freq_base': f32(7) }, rotary('base'), 7],
  'rope.dimension_count': () => [{ 'rope.dimension_count': u32(8) }, rotary('rotaryDim'), 8],
  'rope.scaling.type': () => [scaled('yarn'), scaling('type'), 'yarn'],
  'rope.scaling.factor': () => [{ 'rope.scaling.factor': f32(8) }, scaling('factor'), 8],
  'rope.scale_linear': () => [
    { 'rope.scaling.factor': null, 'rope.scale_linear': f32(8) },
    scaling('factor'),
    8,
  ],
  'rope.scaling.attn_factor': yarn('rope.scaling.attn_factor', f32(0.5), 'attentionFactor', 0.5 * (1 + 0.1 * Math.log(2))), // prettier-ignore
  'rope.scaling.original_context_length': yarn('rope.scaling.original_context_length', u32(77), 'originalLength', 77), // prettier-ignore
  'rope.scaling.yarn_beta_fast': yarn('rope.scaling.yarn_beta_fast', f32(16), 'betaFast', 16),
  'rope.scaling.yarn_beta_slow': yarn('rope.scaling.yarn_beta_slow', f32(2), 'betaSlow', 2),
};

/** A value of a key with which a file can be read, one with which it cannot, and how messages write that. */
function edgesOf(key, says) {
  if (key === 'vocab_size') return [u32(11), u32(3), 3];
  if (key === 'attention.value_length') return [u32(16), u32(3), 3];
  const [value] = valuesIn(says.replace(/,.*/, ''));
  return typeof value === 'number' ? [f32(value), f32(3), 3] : [bool(value), bool(!value), !value];
}

describe('load: metadata of GGUF', () => {
  for (const { fields, families: of, says } of keys) {
    for (const key of fields) {
      for (const arch of says.startsWith('obeyed') ? of : someOf(of, key)) {
        if (says.startsWith('obeyed')) {
          test(`${key} of ${arch} is obeyed`, async () => {
            await expectSample(ggufSamples[key](arch), (changes) => ggufOpened(arch, changes));
          });
        } else if (says.startsWith('no effect')) {
          test(`${key} of ${arch} has no effect`, async () => {
            const as = await ggufOpened(arch, {});
            for (const value of [u32(3), f32(0.5), bool(true), text('x'), list([u32(1)])])
              assert.deepEqual(await ggufOpened(arch, { [key]: value }), as);
          });
        } else {
          test(`${key} of ${arch} is ${says}`, async () => {
            const [right, wrong, name] = edgesOf(key, says);
            const more = key.includes('yarn') ? scaled('yarn') : {};
            const set = (value) => ggufOpened(arch, { ...more, [key]: value });
            assert.deepEqual(await set(right), await ggufOpened(arch, more));
            await expectRejects(set(wrong), 'load', 'unsupported', `${arch}.${key} is ${name}`);
          });
        }
      }
    }
  }
  for (const arch of archs) {
    test(`a key of ${arch} that nobody knows is refused by name`, async () => {
      for (const value of [u32(0), bool(false), text('x'), list([u32(1)])]) {
        await expectRejects(
          ggufOpened(arch, { 'attention.new_kind': value }),
          'load',
          'unsupported',
          `metadata.${arch}.attention.new_kind is `,
          'a file without it',
        );
      }
    });
  }
});
