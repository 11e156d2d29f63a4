// A GRU that hands one fixed vector to its decoder, against one whose decoder reads all states of the encoder (Bahdanau et al. 2015):
// sequences of 4 to 20 tokens to be said from their end. The longer a sequence is, the less of it a vector of 64 numbers holds.
import { randomOf } from './random.js';

export const TOKENS = 10;
export const [START, END] = [TOKENS, TOKENS + 1];
const [SHORTEST, LONGEST] = [4, 20];
/** Lengths that are asked for at the end. No sequence of 30 has been trained on: both models fail there. */
const ASKED = [5, 10, 15, 20, 30];
export const ASKED_ROWS = 100;

const pad = (list, length, value) => [...list, ...Array(length - list.length).fill(value)];
const sequence = (random, length) => Array.from({ length }, () => random.below(TOKENS));

export function row(random) {
  const source = sequence(random, SHORTEST + random.below(LONGEST - SHORTEST + 1));
  const said = source.toReversed();
  return {
    source: pad(source, LONGEST, END),
    sourceLengths: [source.length],
    ids: pad([START, ...said], LONGEST + 1, END),
    targets: pad([...said, END], LONGEST + 1, -1),
  };
}

/** The part of tokens that are right, at their places, when the model says sequences of one length. */
export async function accuracyAt(trainer, length) {
  const random = randomOf(0x7ffffffe - length);
  const sources = Array.from({ length: ASKED_ROWS }, () => sequence(random, length));
  const how = { batch: ASKED_ROWS, start: START, end: END, most: length + 1 };
  const said = await trainer.translate(sources.flat(), how);
  const right = sources.map((source, b) => {
    const expected = source.toReversed();
    return expected.filter((token, t) => said[b][t] === token).length;
  });
  return right.reduce((a, b) => a + b, 0) / (ASKED_ROWS * length);
}

async function report(trainer) {
  const accuracies = [];
  for (const length of ASKED) {
    accuracies.push(`${length}: ${(await accuracyAt(trainer, length)).toFixed(2)}`);
  }
  const norms = await trainer.reach(sequence(randomOf(1), LONGEST));
  const part = (distance) => `${distance}: ${(norms[distance] / norms[0]).toPrecision(2)}`;
  return [
    `accuracy of what it says, by length (trained on ${SHORTEST} to ${LONGEST}): ${accuracies.join(', ')}`,
    `size of d(last state)/d(token) by distance, beside that of the last token: ${[1, 5, 10, 15, 19].map(part).join(', ')}`,
  ];
}

const base = { vocabulary: TOKENS + 2, dModel: 64, maxLength: 32 };

export const fixedVector = {
  about: 'sequences said from their end, through one vector or with attention',
  batch: 32,
  row,
  report,
  options: { learningRate: { peak: 1e-2, warmup: 50, steps: 2000, final: 5e-4 }, deviation: 0.1 },
  variants: {
    'one vector': {
      config: { ...base, kind: 'gru' },
      steps: 2000,
      expect: { atMost: 0.97 },
    },
    attention: {
      config: { ...base, kind: 'gru_attention' },
      steps: 2000,
      expect: { atLeast: 0.99 },
    },
  },
};
