// Experts, as files say them.

import type { LanguageModelConfig } from '../../api/model-config.js';
import type { Fields } from '../fields.js';
import type { More } from './family.js';
import { ggufExperts, ggufModules } from './gguf-names.js';

type Experts = Pick<LanguageModelConfig, 'numExperts' | 'expertsPerToken' | 'normalizedExperts'>;

/** The names of maps of which each expert has its own. */
export const expertNames = {
  ...{ router: 'mlp.gate', up: 'mlp.experts.{}.up_proj', gate: 'mlp.experts.{}.gate_proj' },
  down: 'mlp.experts.{}.down_proj',
};

/** Of config.json, by the field of how many there are; `normalizes` is the default of norm_topk_prob. */
export const hubExperts = (fields: Fields, count: string, normalizedExperts: boolean): Experts => ({
  numExperts: fields.count(count),
  expertsPerToken: fields.count('num_experts_per_tok'),
  normalizedExperts,
});

export const ggufExpertKeys = 'expert_count expert_used_count expert_feed_forward_length';
/** Of GGUF. The width of an expert may stand beside that of the layer. */
export function ggufExpertsOf(fields: Fields, normalizedExperts: boolean): More {
  const width = 'expert_feed_forward_length';
  return {
    config: {
      numExperts: fields.count('expert_count'),
      expertsPerToken: fields.count('expert_used_count'),
      normalizedExperts,
      ...(fields.has(width) && { dFeedForward: fields.count(width) }),
    },
    names: { isStacked: true, modules: { ...ggufModules, ...ggufExperts } },
  };
}
