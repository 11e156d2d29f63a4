// Gemma 2: Gemma with a norm after each part too, caps on scores and logits, and windows in every other layer.

import type { Fields } from '../fields.js';
import type { Family, Hub } from './family.js';
import { slides } from './fixed.js';
import { gemmaActivation, gemmaFixed, gemmaNames, gemmaScaled, gemmaTraits } from './gemma.js';

const norms = {
  ...{ postNorm1: 'post_attention_layernorm', norm2: 'pre_feedforward_layernorm' },
  postNorm2: 'post_feedforward_layernorm',
};
const isEven = (layer: number): boolean => layer % 2 === 0;
const scores = 'attn_logit_softcapping';
const logits = 'final_logit_softcapping';
const cap = (fields: Fields, name: string): number =>
  fields.isNull(name) ? 0 : fields.number(name);

export const gemma2Hub: Hub = {
  names: { ...gemmaNames, modules: { ...gemmaNames.modules, ...norms } },
  ...{ activation: gemmaActivation, isTied: true, fixed: { ...gemmaFixed, ...slides } },
  slides: () => isEven,
  more: (fields) => ({
    config: {
      attentionScale: fields.number('query_pre_attn_scalar') ** -0.5,
      attentionSoftcap: cap(fields, scores),
      logitSoftcap: cap(fields, logits),
    },
  }),
};

export const gemma2: Family = {
  types: ['gemma2'],
  traits: { ...gemmaTraits, postNorms: true },
  scaled: gemmaScaled,
  hub: gemma2Hub,
  gguf: {
    ...{ architecture: 'gemma2', keys: `${scores} ${logits}`, slides: isEven, needsWindow: true },
    // The metadata has no word for the scale, which is not that of the width of a head in the largest alone.
    more: (fields, { numLayers, dModel, numHeads }) => ({
      config: {
        attentionSoftcap: fields.number(scores),
        logitSoftcap: fields.number(logits),
        ...(numLayers === 46 && { attentionScale: (dModel / numHeads) ** -0.5 }),
      },
    }),
  },
};
