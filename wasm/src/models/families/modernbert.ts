// ModernBERT: an encoder with a gate and without biases, whose layers have windows to both sides, but for every third one, and a
// rotation of their own there. The first has no norm before attention.

import { bertSizes } from './bert.js';
import type { Family } from './family.js';
import { all, caps } from './fixed.js';
import { fusedQkv } from './gguf-names.js';
import { turnsByWindow } from './layered.js';
import type { Head, Heads } from './heads.js';
import { named } from './locate.js';
import { plain } from './plain-activations.js';
import type { Fields } from '../fields.js';

const [qkv, gate] = ['attn.Wqkv', 'mlp.Wi'];
const [every, width] = ['global_attn_every_n_layers', 'local_attention'] as const;
const [base, local] = [160_000, 10_000];
const gates = { gelu: 'geglu', silu: 'swiglu' } as const;

/** The same before all heads: a map, an activation and a norm. */
function heads(fields: Fields): Heads {
  fields.only('classifier_bias', false);
  const modules = { headTransform: 'head.dense', headNorm: 'head.norm' };
  const headTransform = fields.choice('classifier_activation', plain, 'gelu');
  const shared = { headTransform, headNorm: true } as const;
  const classes: Head = {
    config: { ...shared, headBias: true },
    modules: { ...modules, head: 'classifier' },
  };
  const headPooling = fields.choice('classifier_pooling', { cls: 'first', mean: 'mean' }, 'cls');
  return {
    MaskedLM: {
      config: { ...shared, headBias: fields.flag('decoder_bias', true) },
      modules: { ...modules, head: 'decoder' },
    },
    SequenceClassification: {
      ...classes,
      config: { ...classes.config, headPooling: headPooling as 'first' | 'mean' },
    },
    TokenClassification: classes,
  };
}

export const modernbert: Family = {
  types: ['modernbert'],
  traits: {
    ...{ positions: 'rotary', activation: 'geglu', embeddingNorm: true, biases: false },
    ...{ causal: false, head: false, firstNorm: false, symmetricWindow: true },
  },
  hub: {
    names: {
      ...{ layers: 'layers.', prefix: 'model.', heads: /^(head|decoder)\./ },
      modules: named(
        `embeddings.tok_embeddings final_norm - attn_norm ${qkv} ${qkv} ${qkv} attn.Wo mlp_norm ${gate} mlp.Wo ${gate} ` +
          '- - - - - - embeddings.norm',
      ),
    },
    tasks: heads,
    ...{ sizes: bertSizes, epsilon: 'norm_eps', activation: ['hidden_activation', 'gelu'] },
    fixed: {
      ...{ ...caps, ...all('hidden_act'), ...all('is_causal is_decoder', false) },
      ...all('attention_bias mlp_bias norm_bias use_parallel_residual', false),
      ...all('rope_theta'),
    },
    ...{ base, local: ['local_rope_theta', local], theta: 'global_rope_theta' },
    window: [width, 128],
    slides: (fields) => {
      const period = fields.count(every, 3);
      return (layer) => layer % period !== 0;
    },
  },
  gguf: {
    ...{ architecture: 'modern-bert', keys: 'hidden_activation', needsWindow: true, local, base },
    modules: { ...fusedQkv, gate: 'ffn_up' },
    slides: (layer, period = 3) => layer % period !== 0,
    more: (fields) => ({
      config: { activation: fields.choice('hidden_activation', gates, 'gelu') },
    }),
  },
  layers: turnsByWindow,
};
