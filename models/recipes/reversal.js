// Reversal: at each place, the token of the mirrored place. An encoder of one layer needs to know places for it.
const LENGTH = 16;
const VOCABULARY = 32;

function row(random) {
  const ids = Array.from({ length: LENGTH }, () => random.below(VOCABULARY));
  return { ids, targets: ids.toReversed() };
}

const base = {
  ...{ vocabulary: VOCABULARY, numLayers: 1, dModel: 64, numHeads: 4, dFeedForward: 0 },
  ...{ maxLength: LENGTH, causal: false },
};

export const reversal = {
  about: 'the token of the mirrored place, by an encoder of one layer',
  batch: 32,
  row,
  options: { learningRate: 3e-3, deviation: 0.08 },
  variants: {
    'learned positions': {
      config: { ...base, positions: 'learned' },
      steps: 100,
      expect: { atLeast: 0.99 },
    },
    'no positions': {
      config: { ...base, positions: 'none' },
      steps: 3000,
      expect: { atMost: 0.3 },
    },
  },
};
