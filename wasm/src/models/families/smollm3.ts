// SmolLM 3: Llama without a rotation in every fourth layer.

import { refuse } from '../errors.js';
import type { Family } from './family.js';
import { llamaFixed } from './fixed.js';
import { ggufBiases } from './gguf-names.js';
import { llamaBiased, llamaBiases, llamaNames, rms } from './llama.js';

const [list, interval] = ['no_rope_layers', 'no_rope_layer_interval'] as const;

export const smollm3: Family = {
  types: ['smollm3'],
  traits: rms,
  hub: {
    ...{ names: llamaNames, isTied: true, fixed: { ...llamaFixed, ...llamaBiased } },
    ...{ obeyed: `${list} ${interval}`, more: llamaBiases },
  },
  gguf: {
    ...{ architecture: 'smollm3', isInterleaved: true },
    more: (_fields, _sizes, file) => ggufBiases(file),
  },
  // The list says 1 of the layers that are rotated, whatever its name. GGUF has neither, and llama.cpp the default.
  layers: ({ numLayers }, fields) => {
    const step = fields.count(interval, 4);
    const given = fields.isEmpty(list) ? undefined : fields.list(list);
    if (given && given.length !== numLayers)
      refuse(`${fields.pathOf(list)} has ${given.length} layers`, `${numLayers}`);
    return Array.from({ length: numLayers }, (_, i) =>
      (given ? given[i] : (i + 1) % step) ? 'full' : 'none',
    );
  },
};
