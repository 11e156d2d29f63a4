// Gemma 3: Gemma 2 without caps, with norms of q and k, and a rotation of their own in layers with a window. EmbeddingGemma is the
// same as an encoder with windows to both sides.

import type { Fields } from '../fields.js';
import type { Family } from './family.js';
import { caps, slides } from './fixed.js';
import { gemmaActivation, gemmaFixed, gemmaScaled, gemmaTraits } from './gemma.js';
import { gemma2Hub } from './gemma2.js';
import { turnsByWindow } from './layered.js';

const pattern = 'sliding_window_pattern';
const scale = 'query_pre_attn_scalar';
const both = 'use_bidirectional_attention';
const traits = { ...gemmaTraits, postNorms: true, qkNorm: true } as const;
/** Of an encoder. */
const encoder = { causal: false, head: false, symmetricWindow: true } as const;

/** Every sixth layer has no window. */
const slidesBy =
  (period: number) =>
  (layer: number): boolean =>
    layer % period !== period - 1;

export const gemma3: Family = {
  types: ['gemma3_text'],
  traits,
  scaled: gemmaScaled,
  hub: {
    ...{ names: gemma2Hub.names, activation: gemmaActivation, isTied: true },
    fixed: { ...caps, ...gemmaFixed, ...slides },
    obeyed: `${scale} ${pattern} ${both} rope_local_base_freq`,
    ...{ base: 1_000_000, local: ['rope_local_base_freq', 10_000] },
    slides: (fields: Fields) => slidesBy(fields.count(pattern, 6)),
    more: (fields) => ({
      config: {
        attentionScale: fields.number(scale, 256) ** -0.5,
        ...(fields.flag(both, false) && { ...encoder, tiedEmbeddings: false }),
      },
    }),
  },
  gguf: {
    ...{ architecture: 'gemma3', slides: (layer, period = 6) => slidesBy(period)(layer) },
    ...{ needsWindow: true, local: 10_000 },
    // The metadata has no word for the scale, which is not that of the width of a head in the largest alone.
    more: (_fields, { numLayers, dModel, numHeads }) => ({
      config: numLayers === 62 ? { attentionScale: (dModel / numHeads) ** -0.5 } : {},
    }),
  },
  layers: turnsByWindow,
};

/** By its name in GGUF alone: on the hub it is Gemma 3 with a flag. */
export const embeddingGemma: Family = {
  types: ['gemma3_text'],
  traits: { ...traits, ...encoder },
  scaled: gemmaScaled,
  gguf: {
    ...{ architecture: 'gemma-embedding', slides: (layer, period = 6) => slidesBy(period)(layer) },
    ...{ needsWindow: true, local: 10_000 },
  },
  layers: turnsByWindow,
};
