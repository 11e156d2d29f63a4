// Granite with experts in every layer.

import { ggufExpertKeys, ggufExpertsOf, hubExperts } from './experts.js';
import type { Family } from './family.js';
import { all } from './fixed.js';
import { granite } from './granite.js';
import { llamaNames, rms } from './llama.js';

const inner = 'block_sparse_moe.input_linear';
const { hub, gguf } = granite;

export const graniteMoe: Family = {
  types: ['granitemoe'],
  traits: rms,
  hub: {
    ...hub,
    names: {
      ...{ ...llamaNames, isStacked: true },
      modules: {
        ...{ ...llamaNames.modules, gate: inner, up: inner },
        ...{ down: 'block_sparse_moe.output_linear', router: 'block_sparse_moe.router.layer' },
      },
    },
    fixed: { ...hub.fixed, ...all('mlp_bias', false) },
    obeyed: `${hub.obeyed} num_local_experts num_experts_per_tok`,
    more: (fields) => {
      const more = hub.more(fields);
      return {
        ...more,
        config: { ...more.config, ...hubExperts(fields, 'num_local_experts', true) },
      };
    },
  },
  gguf: {
    ...{ ...gguf, architecture: 'granitemoe', keys: `${gguf.keys} ${ggufExpertKeys}` },
    more: (fields, sizes, file) => {
      const [more, experts] = [gguf.more(fields, sizes, file), ggufExpertsOf(fields, true)];
      return {
        config: { ...more.config, ...experts.config },
        names: { ...more.names, ...experts.names },
      };
    },
  },
};
