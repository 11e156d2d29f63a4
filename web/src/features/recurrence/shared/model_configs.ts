import { LONGEST_TESTED, TOKENS } from './task';

/** How the decoder learns of the source; the order in which they were found. */
export const KINDS = ['gru', 'gru_attention', 'transformer'] as const;
export type Kind = (typeof KINDS)[number];

/** Steps after which the learning rate has fallen, and training is over. */
export const STEPS = 1500;
/** Seeds of what is trained on and of the initial weights. */
export const SEEDS = [1, 9999] as const;

const base = { vocabulary: TOKENS + 2, maxLength: LONGEST_TESTED + 8 } as const;
const rate = (peak: number) => ({ peak, warmup: 50, steps: STEPS, final: 5e-4 });

/** Models of about the same number of parameters, as in models/recipes/recurrence.js. */
export const MODELS = {
  gru: { config: { ...base, kind: 'gru', dModel: 46 }, learningRate: rate(2e-2) },
  gru_attention: {
    config: { ...base, kind: 'gru_attention', dModel: 40 },
    learningRate: rate(1e-2),
  },
  transformer: {
    config: { ...base, kind: 'transformer', dModel: 40, numHeads: 2, dFeedForward: 36 },
    learningRate: rate(5e-3),
  },
} as const;

/** Deviation of the initial weights. */
export const DEVIATION = 0.1;
/** Heads of the decoder's attention over the source. */
export const HEADS = MODELS.transformer.config.numHeads;
/** Of the files of trained weights, gzip, in kB; a test holds it to them. */
export const TRAINED_KB = 94;
