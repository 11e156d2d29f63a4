// Jina's BERT of version 2 (jina-embeddings-v2): BERT with ALiBi to both sides and a gate. Its config.json has 'bert' as model_type.

import { bertFixed, bertNames, bertSizes, bertTraits } from './bert.js';
import type { Family } from './family.js';
import { ggufModules } from './gguf-names.js';
import type { Names } from './locate.js';

export const jinaType = 'jina-bert-v2';

const constants = /^(up|gate)\.bias$/;
const gate = 'mlp.gated_layers';
const own: Names['modules'] = { norm1: 'attn_output_norm', norm2: 'layer_output_norm' };

export const jinaBertV2: Family = {
  types: [jinaType],
  traits: { ...bertTraits, positions: 'alibi', activation: 'geglu' },
  hub: {
    classes: 'JinaBert',
    names: {
      ...{ ...bertNames, constants },
      modules: { ...bertNames.modules, gate, up: gate, down: 'mlp.wo', norm2: 'mlp.layernorm' },
    },
    ...{ sizes: bertSizes, fixed: bertFixed, obeyed: 'position_embedding_type' },
    more: (fields) => {
      fields.choice('feed_forward_type', { geglu: true });
      fields.choice('position_embedding_type', { alibi: true });
      return { config: { tokenTypes: fields.count('type_vocab_size') } };
    },
  },
  gguf: {
    ...{ architecture: jinaType, modules: own },
    // Older files have the gate apart, newer ones above what it is multiplied with.
    more: (_fields, _sizes, { tensors }) => {
      const isApart = tensors.has('blk.0.ffn_gate.weight');
      const modules = { ...ggufModules, ...own, ...(!isApart && { gate: 'ffn_up' }) };
      return { names: { constants, modules } };
    },
  },
};
