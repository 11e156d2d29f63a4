// Where the arrays of each family are in its files: by which name, which way round, and which part of what. plan.ts checks a
// file against it.

import { type ModelConfig, type Module, type Parameter, projectionWidths } from '../config.js';

export type Range = readonly [begin: number, end: number];

/** An array of a model in a file. */
export interface Location {
  readonly tensor: string;
  /** What the tensor must have. The first extent of a table of positions may be greater. */
  readonly shape: readonly number[];
  /** Which axis of a map comes first in the file. */
  readonly layout: 'in_out' | 'out_in';
  /** Outputs of a map, rows of a table or elements of a vector that are this array's, in its order; asked for once the shape is right. */
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
  /** Arrays that a file may have besides, of which nothing is needed. */
  readonly ignored?: RegExp;
}

const llama: Names = {
  layers: 'layers.',
  prefix: 'model.',
  modules: {
    ...{ embedding: 'embed_tokens', norm: 'norm', head: 'lm_head', norm1: 'input_layernorm' },
    ...{
      q: 'self_attn.q_proj',
      k: 'self_attn.k_proj',
      v: 'self_attn.v_proj',
      o: 'self_attn.o_proj',
    },
    ...{ qNorm: 'self_attn.q_norm', kNorm: 'self_attn.k_norm', norm2: 'post_attention_layernorm' },
    ...{ up: 'mlp.up_proj', gate: 'mlp.gate_proj', down: 'mlp.down_proj' },
  },
  ignored: /\.rotary_emb\.inv_freq$/,
};
const gemma: Names = { ...llama, lessOne: true };

/** By the families of the hub. */
export const hubNames: Readonly<Record<string, Names>> = {
  ...{ llama, mistral: llama, qwen2: llama, qwen3: llama, gemma },
  gemma2: {
    ...gemma,
    modules: {
      ...{ ...gemma.modules, postNorm1: 'post_attention_layernorm' },
      ...{ norm2: 'pre_feedforward_layernorm', postNorm2: 'post_feedforward_layernorm' },
    },
  },
  gpt2: {
    ...{ layers: 'h.', prefix: 'transformer.', layout: 'in_out', fusion: 'thirds' },
    modules: {
      ...{
        embedding: 'wte',
        positions: 'wpe',
        norm: 'ln_f',
        head: 'lm_head',
        norm1: 'ln_1',
        norm2: 'ln_2',
      },
      ...{ q: 'attn.c_attn', k: 'attn.c_attn', v: 'attn.c_attn', o: 'attn.c_proj' },
      ...{ up: 'mlp.c_fc', down: 'mlp.c_proj' },
    },
    ignored: /\.attn\.(masked_)?bias$/,
  },
  gpt_neox: {
    ...{ layers: 'layers.', prefix: 'gpt_neox.', fusion: 'heads' },
    modules: {
      ...{
        embedding: 'embed_in',
        norm: 'final_layer_norm',
        head: 'embed_out',
        norm1: 'input_layernorm',
      },
      ...{
        q: 'attention.query_key_value',
        k: 'attention.query_key_value',
        v: 'attention.query_key_value',
      },
      ...{ o: 'attention.dense', norm2: 'post_attention_layernorm' },
      ...{ up: 'mlp.dense_h_to_4h', down: 'mlp.dense_4h_to_h' },
    },
    ignored: /\.attention\.(masked_bias|bias|rotary_emb\.inv_freq)$/,
  },
  bert: {
    ...{ layers: 'encoder.layer.', prefix: 'bert.' },
    modules: {
      ...{ embedding: 'embeddings.word_embeddings', positions: 'embeddings.position_embeddings' },
      ...{ tokenTypes: 'embeddings.token_type_embeddings', embeddingNorm: 'embeddings.LayerNorm' },
      ...{ q: 'attention.self.query', k: 'attention.self.key', v: 'attention.self.value' },
      ...{ o: 'attention.output.dense', norm1: 'attention.output.LayerNorm' },
      ...{ up: 'intermediate.dense', down: 'output.dense', norm2: 'output.LayerNorm' },
    },
    ignored: /^(embeddings\.position_ids$|pooler\.|cls\.|classifier\.)/,
  },
};

const ggufModules: Readonly<Partial<Record<Module, string>>> = {
  ...{ embedding: 'token_embd', positions: 'position_embd', tokenTypes: 'token_types' },
  ...{ embeddingNorm: 'token_embd_norm', norm: 'output_norm', head: 'output', norm1: 'attn_norm' },
  ...{
    q: 'attn_q',
    k: 'attn_k',
    v: 'attn_v',
    o: 'attn_output',
    qNorm: 'attn_q_norm',
    kNorm: 'attn_k_norm',
  },
  ...{ postNorm1: 'post_attention_norm', norm2: 'ffn_norm', postNorm2: 'post_ffw_norm' },
  ...{ up: 'ffn_up', gate: 'ffn_gate', down: 'ffn_down' },
};
const fusedQkv = { q: 'attn_qkv', k: 'attn_qkv', v: 'attn_qkv' };

/** The converter writes maps of all families alike. */
export function ggufNames(family: string): Names {
  const shared: Names = { layers: 'blk.', modules: ggufModules, ignored: /^rope_freqs\.weight$/ };
  if (family === 'bert') {
    const norms = { norm1: 'attn_output_norm', norm2: 'layer_output_norm' };
    return { ...shared, modules: { ...ggufModules, ...norms } };
  }
  if (family !== 'gpt2' && family !== 'gpt_neox') return shared;
  return { ...shared, fusion: 'thirds', modules: { ...ggufModules, ...fusedQkv } };
}

/** What q, k or v has of the outputs of one map. */
function fusedRanges(config: ModelConfig, module: 'q' | 'k' | 'v', fusion: Fusion): Range[] {
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
export function locateBy(names: Names, config: ModelConfig): Locate {
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

const llama2cNames: Readonly<Partial<Record<Module, string>>> = {
  ...{
    embedding: 'token_embedding_table',
    norm: 'rms_final_weight',
    head: 'wcls',
    norm1: 'rms_att_weight',
  },
  ...{
    q: 'wq',
    k: 'wk',
    v: 'wv',
    o: 'wo',
    norm2: 'rms_ffn_weight',
    gate: 'w1',
    down: 'w2',
    up: 'w3',
  },
};
export const llama2cIgnored = /^freq_cis_/;

/** In checkpoints of llama2.c, where one array has those of all layers. */
export const locateStacked =
  ({ numLayers }: ModelConfig): Locate =>
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
