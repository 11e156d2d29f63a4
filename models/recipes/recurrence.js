// The task of fixed_vector.js by three models of about the same number of parameters: a GRU that hands over one fixed vector, one
// whose decoder reads all states of the encoder, and a transformer. The panel `recurrence` of the page shows these models.
import { accuracyAt, ASKED_ROWS, END, row, START, TOKENS } from './fixed_vector.js';

/** Lengths that are measured: those that were trained on, 4 to 20, and as many more. */
const MEASURED = Array.from({ length: 19 }, (_, i) => 4 + 2 * i);

async function measure(trainer) {
  const byLength = [];
  for (const length of MEASURED) {
    byLength.push({ length, accuracy: Number((await accuracyAt(trainer, length)).toFixed(3)) });
  }
  return { figures: { sequencesOfEachLength: ASKED_ROWS, byLength } };
}

const digits = Array.from({ length: TOKENS }, (_, i) => String(i));
const base = { vocabulary: TOKENS + 2, maxLength: 48 };
const STEPS = 1500;

/** The fixed vector gets the rate that is best for it: with 5e-3, 1e-2, 2e-2 and 3e-2, 30, 39, 48 and 48 % of length 20 are right. */
const rate = (peak) => ({ learningRate: { peak, warmup: 50, steps: STEPS, final: 5e-4 } });

export const recurrence = {
  about: 'sequences said from their end, by three kinds of models',
  batch: 32,
  row,
  measure,
  tokenizer: {
    json: { type: 'characters', tokens: [...digits, '^', '$'], start: START, end: END },
  },
  options: { deviation: 0.1 },
  variants: {
    gru: {
      config: { ...base, kind: 'gru', dModel: 46 },
      options: rate(2e-2),
      steps: STEPS,
      expect: { atMost: 0.97 },
    },
    gru_attention: {
      config: { ...base, kind: 'gru_attention', dModel: 40 },
      options: rate(1e-2),
      steps: STEPS,
      expect: { atLeast: 0.99 },
    },
    transformer: {
      config: { ...base, kind: 'transformer', dModel: 40, numHeads: 2, dFeedForward: 36 },
      options: rate(5e-3),
      steps: STEPS,
      expect: { atLeast: 0.99 },
    },
  },
};
