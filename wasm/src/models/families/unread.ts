// Families that are known and not computed, and why.

import { describe } from '../../arguments/values.js';
import { refuseUnsupported } from '../errors.js';
import type { Fields } from '../fields.js';
import { words } from './sizes.js';

/** By the names of transformers and of llama.cpp. */
const reasons: Readonly<Record<string, string>> = {
  'mamba mamba2 falcon_mamba jamba zamba zamba2 bamba': 'state spaces',
  'falcon_h1 falcon-h1 granitemoehybrid granitehybrid nemotron_h plamo2': 'state spaces beside attention',
  'rwkv rwkv6 rwkv6qwen2 rwkv7 arwkv7': 'a recurrence in place of attention',
  'lfm2 lfm2_moe lfm2moe recurrent_gemma': 'convolutions or recurrences beside attention',
  'qwen3_next qwen3next qwen3_5 qwen3_5_text qwen35 kimi_linear': 'gated delta nets beside attention',
  'deepseek_v2 deepseek_v3 deepseek2 minicpm3': 'latent attention',
  'deberta deberta-v2': 'scores of content and position apart (disentangled attention)',
  'gemma3n gemma3n_text': 'alternating updates of several streams',
  'bart mbart pegasus marian whisper blenderbot': 'a decoder that reads an encoder',
  'mixtral phimoe qwen2_moe qwen2moe gpt_oss gpt-oss llama4': 'experts of other kinds',
}; // oxfmt-ignore

/** A family of which nothing here computes what is its own is refused with that. */
export function checkComputed(fields: Fields, name: string): void {
  const type = fields.get(name);
  const known =
    typeof type === 'string'
      ? Object.entries(reasons).find(([types]) => words(types).includes(type))
      : undefined;
  if (!known) return;
  refuseUnsupported(
    `${fields.pathOf(name)} is ${describe(type)}, whose layers have ${known[1]}`,
    'a model of attention and feed-forward layers alone',
  );
}
