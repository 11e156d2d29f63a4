// GPT-Neo: GPT-2 with maps the other way round, scores that are not scaled, and windows of some layers.

import { describe, isArray } from '../../arguments/values.js';
import { refuse, refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import type { Family } from './family.js';
import { all, unrotated } from './fixed.js';
import { gpt2Fields } from './gpt2.js';
import { named } from './locate.js';
import { windowOf } from './windows.js';

/** Whether each layer has a window: `attention_types` has [[kind, ...], how often] in turn. */
function slidesOf(fields: Fields, layers: number): boolean[] {
  const path = fields.pathOf('attention_types');
  const found: unknown[] = [];
  // The default of transformers is that of a model of 24 layers.
  for (const each of fields.list('attention_types') ?? [[['global', 'local'], 12]]) {
    const [kinds, times] = isArray(each) ? each : [];
    if (!isArray(kinds) || !Number.isInteger(times))
      refuse(`${path} has ${describe(each)}`, '[[kind, ...], how often]');
    // Hardly more than there are layers, however often a file says.
    const most = Math.min(Number(times), layers + 1);
    for (let i = 0; i < most && found.length <= layers; i += 1) found.push(...kinds);
  }
  if (found.length !== layers)
    refuse(`${path} has ${found.length > layers ? 'more' : found.length} layers`, `${layers}`);
  const other = found.find((kind) => kind !== 'global' && kind !== 'local');
  if (other !== undefined) refuseUnsupported(`${path} has ${describe(other)}`, 'global, local');
  const list = fields.list('attention_layers');
  if (list && String(list) !== String(found))
    refuse(`${fields.pathOf('attention_layers')} and ${path} differ`, 'the same in both');
  return found.map((kind) => kind === 'local');
}

export const gptNeo: Family = {
  types: ['gpt_neo'],
  traits: { attentionScale: 1, qkvBiases: false },
  hub: {
    ...gpt2Fields,
    names: {
      ...{ layers: 'h.', prefix: 'transformer.', ignored: /\.attn\.attention\.(masked_)?bias$/ },
      modules: named(
        'wte ln_f lm_head ln_1 attn.attention.q_proj attn.attention.k_proj attn.attention.v_proj attn.attention.out_proj ' +
          'ln_2 mlp.c_fc mlp.c_proj - - - - - wpe',
      ),
    },
    sizes: 'num_layers hidden_size num_heads intermediate_size max_position_embeddings',
    activation: ['activation_function', 'gelu_new'],
    fixed: { ...unrotated, ...all('hidden_act') },
    more: (fields, { numLayers }) => ({
      config: windowOf(fields.count('window_size', 256), slidesOf(fields, numLayers)),
    }),
  },
};
