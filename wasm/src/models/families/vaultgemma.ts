// VaultGemma: Gemma 2 without the norms after the parts.

import type { Family } from './family.js';
import { gemmaScaled, gemmaTraits } from './gemma.js';
import { gemma2Hub } from './gemma2.js';
import { llamaNames } from './llama.js';

export const vaultgemma: Family = {
  types: ['vaultgemma'],
  traits: gemmaTraits,
  scaled: gemmaScaled,
  hub: {
    ...gemma2Hub,
    names: {
      ...gemma2Hub.names,
      modules: { ...llamaNames.modules, norm2: 'pre_feedforward_layernorm' },
    },
  },
};
