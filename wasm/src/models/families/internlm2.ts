// InternLM 2 and 2.5: Llama with q, k and v of each head of keys in turn in one map.

import type { Family } from './family.js';
import { llamaFixed } from './fixed.js';
import { ggufBiases } from './gguf-names.js';
import { biasesOf, rms } from './llama.js';
import { named } from './locate.js';

const qkv = 'attention.wqkv';

export const internlm2: Family = {
  types: ['internlm2'],
  traits: rms,
  hub: {
    classes: 'InternLM2',
    names: {
      ...{
        layers: 'layers.',
        prefix: 'model.',
        isByHead: true,
        ignored: /\.rotary_emb\.inv_freq$/,
      },
      modules: named(
        `tok_embeddings norm output attention_norm ${qkv} ${qkv} ${qkv} attention.wo ffn_norm ` +
          'feed_forward.w3 feed_forward.w2 feed_forward.w1',
      ),
    },
    ...{ fixed: llamaFixed, obeyed: 'bias' },
    more: (fields) => biasesOf(fields.flag('bias', true), false),
  },
  gguf: {
    ...{ architecture: 'internlm2', isInterleaved: true },
    more: (_fields, _sizes, file) => ggufBiases(file),
  },
};
