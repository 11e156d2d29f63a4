// Helium: Llama whose rotation turns neighbours.

import type { Family } from './family.js';
import { llamaFixed } from './fixed.js';
import { llamaNames, rms } from './llama.js';

export const helium: Family = {
  types: ['helium'],
  traits: { ...rms, rotary: { interleaved: true } },
  hub: { names: llamaNames, fixed: llamaFixed },
};
