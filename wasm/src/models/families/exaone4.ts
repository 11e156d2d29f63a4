// EXAONE 4: Llama with norms after its parts alone and of each head of q and k; in models with windows the layers without one are not
// rotated.

import { describe } from '../../arguments/values.js';
import { refuse } from '../errors.js';
import type { Fields } from '../fields.js';
import type { Family } from './family.js';
import { llamaFixed, slides } from './fixed.js';
import { rms } from './llama.js';
import { afterNames } from './olmo2.js';

const pattern = 'sliding_window_pattern';

/** How often a layer has no window: a number, or a text as 'LLLG' with a letter for each layer. */
function slidesOf(fields: Fields): (layer: number) => boolean {
  const given = fields.get(pattern) ?? 4;
  if (typeof given === 'number') {
    const period = fields.count(pattern, 4);
    return (layer) => layer % period !== period - 1;
  }
  const text = fields.text(pattern);
  if (!/^[LG]+$/.test(text))
    refuse(`${fields.pathOf(pattern)} is ${describe(text)}`, 'a number, or L and G');
  return (layer) => text[layer % text.length] === 'L';
}

export const exaone4: Family = {
  types: ['exaone4'],
  traits: { ...rms, norm: 'after', qkNorm: true },
  hub: {
    ...{ names: afterNames, fixed: { ...llamaFixed, ...slides }, obeyed: pattern },
    slides: (fields) => (fields.has('sliding_window') ? slidesOf(fields) : undefined),
  },
  gguf: { architecture: 'exaone4', slides: (layer) => layer % 4 !== 3 },
  layers: ({ window }) =>
    Array.isArray(window) ? window.map((keys) => (keys === null ? 'none' : 'full')) : undefined,
};
