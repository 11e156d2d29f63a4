// Granite, the dense one: Llama with factors on embeddings, scores, what each part adds, and logits.

import type { Family, More } from './family.js';
import { llamaFixed } from './fixed.js';
import { ggufBiases } from './gguf-names.js';
import { llamaBiased, llamaBiases, llamaNames, rms } from './llama.js';

/**
 * `residual` goes into the maps whose results are added, and what divides the logits into the gains of the last norm, which are
 * float32 in every format of weights.
 */
export function withFactors(
  { config, names }: More,
  residual: number,
  divisor: number,
  scales: More['config'],
): More {
  const factors = { o: residual, down: residual, norm: 1 / divisor };
  return { config: { ...config, ...scales }, names: { ...names, factors } };
}

export const granite = {
  types: ['granite'],
  traits: rms,
  hub: {
    ...{ names: llamaNames, fixed: { ...llamaFixed, ...llamaBiased } },
    obeyed: 'embedding_multiplier attention_multiplier residual_multiplier logits_scaling',
    isByConfig: true,
    // The defaults of transformers, whose files leave defaults out.
    more: (fields) =>
      withFactors(
        llamaBiases(fields),
        fields.number('residual_multiplier', 1),
        fields.number('logits_scaling', 1),
        {
          embeddingScale: fields.number('embedding_multiplier', 1),
          attentionScale: fields.number('attention_multiplier', 1),
        },
      ),
  },
  gguf: {
    ...{ architecture: 'granite', isInterleaved: true },
    keys: 'attention.scale embedding_scale residual_scale logit_scale',
    more: (fields, _sizes, file) => {
      // With false, llama.cpp rotates nothing.
      fields.only('rope.scaling.finetuned', true);
      // 0 stands for none.
      const numberOf = (name: string): number => fields.number(name, 0) || 1;
      return withFactors(ggufBiases(file), numberOf('residual_scale'), numberOf('logit_scale'), {
        embeddingScale: numberOf('embedding_scale'),
        attentionScale: fields.number('attention.scale', 0) || null,
      });
    },
  },
} satisfies Family;
