// Where the arrays of each family are in its files: by which name, which way round, and which part of what. plan.ts checks a
// file against it.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { type Module, type Parameter, projectionWidths } from '../config.js';

export type Range = readonly [begin: number, end: number];

/** An array of a model in a file. */
export interface Location {
  readonly tensor: string;
  /** What the tensor must have. The first extent of a table of positions may be greater. */
  readonly shape: readonly number[];
  /** Which axis of a map comes first in the file. */
  readonly layout: 'in_out' | 'out_in';
  /** Outputs of a map, rows of a table or elements of a vector that are this array's, in its order; asked for when they are read. */
  readonly ranges: () => readonly Range[];
  /** Whether 1 is added to what is there. */
  readonly addOne: boolean;
}

export type Locate = (parameter: Parameter) => Location;

/** How q, k and v lie in one map: one after another, or of each head in turn. */
type Fusion = 'thirds' | 'heads';

export interface Names {
  readonly modules: Readonly<Partial<Record<Module, string>>>;
  /** Before the modules of a layer, without its number. */
  readonly layers: string;
  /** What files may put before everything but the head. */
  readonly prefix?: string;
  readonly layout?: 'in_out';
  readonly fusion?: Fusion;
  /** Modules whose gains are kept less 1. */
  readonly lessOne?: boolean;
  /** Arrays that a file may have besides, of which nothing is needed: what is computed anew. */
  readonly ignored?: RegExp;
}

/** By one word for each module; '-' stands for one that the family has not. */
const order =
  'embedding norm head norm1 q k v o norm2 up down gate qNorm kNorm postNorm1 postNorm2 positions tokenTypes embeddingNorm'.split(
    ' ',
  ) as Module[];
const named = (text: string): Names['modules'] =>
  Object.fromEntries(
    text.split(' ').flatMap((name, i) => (name === '-' ? [] : [[order[i] ?? '', name] as const])),
  );

const llama: Names = {
  ...{ layers: 'layers.', prefix: 'model.', ignored: /\.rotary_emb\.inv_freq$/ },
  modules: named(
    'embed_tokens norm lm_head input_layernorm self_attn.q_proj self_attn.k_proj self_attn.v_proj self_attn.o_proj ' +
      'post_attention_layernorm mlp.up_proj mlp.down_proj mlp.gate_proj self_attn.q_norm self_attn.k_norm',
  ),
};
const gemma: Names = { ...llama, lessOne: true };
const gemma2Norms = {
  ...{ postNorm1: 'post_attention_layernorm', norm2: 'pre_feedforward_layernorm' },
  postNorm2: 'post_feedforward_layernorm',
};

/** By the families of the hub. */
export const hubNames: Readonly<Record<string, Names>> = {
  ...{ llama, mistral: llama, qwen2: llama, qwen3: llama, gemma },
  gemma2: { ...gemma, modules: { ...llama.modules, ...gemma2Norms } },
  gpt2: {
    ...{ layers: 'h.', prefix: 'transformer.', layout: 'in_out', fusion: 'thirds' },
    modules: named(
      'wte ln_f lm_head ln_1 attn.c_attn attn.c_attn attn.c_attn attn.c_proj ln_2 mlp.c_fc mlp.c_proj - - - - - wpe',
    ),
    ignored: /\.attn\.(masked_)?bias$/,
  },
  gpt_neox: {
    ...{ layers: 'layers.', prefix: 'gpt_neox.', fusion: 'heads' },
    modules: named(
      'embed_in final_layer_norm embed_out input_layernorm ' +
        'attention.query_key_value attention.query_key_value attention.query_key_value attention.dense ' +
        'post_attention_layernorm mlp.dense_h_to_4h mlp.dense_4h_to_h',
    ),
    ignored: /\.attention\.(masked_bias|bias|rotary_emb\.inv_freq)$/,
  },
  bert: {
    ...{ layers: 'encoder.layer.', prefix: 'bert.' },
    modules: named(
      'embeddings.word_embeddings - - attention.output.LayerNorm ' +
        'attention.self.query attention.self.key attention.self.value attention.output.dense ' +
        'output.LayerNorm intermediate.dense output.dense - - - - - ' +
        'embeddings.position_embeddings embeddings.token_type_embeddings embeddings.LayerNorm',
    ),
    ignored: /^embeddings\.position_ids$/,
  },
};

/** Heads for other tasks than the next token, of which none is computed: by the names of transformers, and `cls` of GGUF. */
export const otherHeads =
  /^(pooler|cls|classifier|score|qa_outputs|linear|multiple_choice_head|v_head)\./;

const ggufModules = named(
  'token_embd output_norm output attn_norm attn_q attn_k attn_v attn_output ffn_norm ffn_up ffn_down ffn_gate ' +
    'attn_q_norm attn_k_norm post_attention_norm post_ffw_norm position_embd token_types token_embd_norm',
);
const bertNorms = { norm1: 'attn_output_norm', norm2: 'layer_output_norm' };
const fusedQkv = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };

/** The converter writes maps of all families alike. */
export function ggufNames(family: string): Names {
  const isFused = family.startsWith('gpt');
  const own = family === 'bert' ? bertNorms : isFused ? fusedQkv : {};
  return {
    ...{ layers: 'blk.', ignored: /^rope_freqs\.weight$/, modules: { ...ggufModules, ...own } },
    ...(isFused && { fusion: 'thirds' }),
  };
}

/** What q, k or v has of the outputs of one map. */
function fusedRanges(
  config: LanguageModelConfig,
  module: 'q' | 'k' | 'v',
  fusion: Fusion,
): Range[] {
  const { q, k, v } = projectionWidths(config);
  const begin = { q: 0, k: q, v: q + k }[module];
  const end = { q, k: q + k, v: q + k + v }[module];
  if (fusion === 'thirds') return [[begin, end]];
  const width = q / config.numHeads;
  const of = { q: 0, k: 1, v: 2 }[module];
  return Array.from({ length: config.numHeads }, (_, head) => {
    const from = (3 * head + of) * width;
    return [from, from + width];
  });
}

const isProjection = (module: Module): module is 'q' | 'k' | 'v' => /^[qkv]$/.test(module);

/** By names of a file. */
export function locateBy(names: Names, config: LanguageModelConfig): Locate {
  const { modules, layers, layout = 'out_in', fusion, lessOne = false } = names;
  return ({ name, module, layer, kind, isBias, shape }) => {
    const prefix = layer === undefined ? '' : `${layers}${layer}.`;
    const tensor = `${prefix}${modules[module] ?? name}.${isBias ? 'bias' : 'weight'}`;
    const outputs = (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0;
    const isFused = fusion !== undefined && isProjection(module);
    const { q, k, v } = projectionWidths(config);
    const all = isFused ? q + k + v : outputs;
    const [inputs = 0, columns = 0] = shape;
    // A head is a Linear also where the other maps are not.
    const own = module === 'head' ? 'out_in' : layout;
    const shapes = {
      ...{ vector: [all], table: [outputs, columns] },
      map: own === 'in_out' ? [inputs, all] : [all, inputs],
    };
    return {
      ...{ tensor, shape: shapes[kind], layout: kind === 'map' ? own : 'out_in' },
      ranges: () => (isFused ? fusedRanges(config, module, fusion) : [[0, outputs]]),
      addOne: lessOne && kind === 'vector',
    };
  };
}

const llama2cNames = named(
  'token_embedding_table rms_final_weight wcls rms_att_weight wq wk wv wo rms_ffn_weight w3 w2 w1',
);
export const llama2cIgnored = /^freq_cis_/;

/** In checkpoints of llama2.c, where one array has those of all layers. */
export const locateStacked =
  ({ numLayers }: LanguageModelConfig): Locate =>
  ({ name, module, layer, kind, shape }) => {
    const outputs = (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0;
    const [inputs = 0, columns = 0] = shape;
    const from = (layer ?? 0) * outputs;
    const rows = layer === undefined ? outputs : numLayers * outputs;
    return {
      tensor: llama2cNames[module] ?? name,
      shape: kind === 'vector' ? [rows] : [rows, kind === 'table' ? columns : inputs],
      layout: 'out_in',
      ranges: () => [[from, from + outputs]],
      addOne: false,
    };
  };

/** In files of our own, where arrays have their own names and shapes. */
export const locateOwn: Locate = ({ name, kind, shape }) => ({
  ...{ tensor: name, shape, layout: kind === 'map' ? 'in_out' : 'out_in', addOne: false },
  ranges: () => [[0, (kind === 'table' ? shape[0] : shape[shape.length - 1]) ?? 0]],
});
