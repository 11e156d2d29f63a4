// Gemma: Llama with scaled embeddings, a gate of GELU, and gains kept less 1.

import type { Family } from './family.js';
import { all, caps, type Fixed, unbiased } from './fixed.js';
import { llamaNames, rms } from './llama.js';
import type { Names } from './locate.js';

export const gemmaTraits = { ...rms, activation: 'geglu_tanh' } as const;
/** GGUF has the 1 in the gains. */
export const gemmaNames: Names = { ...llamaNames, isLessOne: true };
/** Files say 'gelu' in hidden_act and mean its approximation; the other field is what counts. */
export const gemmaFixed: Fixed = { ...unbiased, ...all('hidden_act', 'gelu', 'gelu_pytorch_tanh') };
export const gemmaActivation = ['hidden_activation', 'gelu_pytorch_tanh'] as const;
export const gemmaScaled: Family['scaled'] = ({ dModel }) => ({
  embeddingScale: Math.sqrt(dModel),
});

export const gemma: Family = {
  types: ['gemma'],
  traits: gemmaTraits,
  scaled: gemmaScaled,
  hub: {
    ...{ names: gemmaNames, activation: gemmaActivation, isTied: true },
    fixed: { ...caps, ...gemmaFixed },
  },
  gguf: { architecture: 'gemma' },
};
