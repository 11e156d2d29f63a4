// Histogram (Weiss et al. 2021): at each place, how often its token occurs in the row. It needs no positions.
const LENGTH = 10;
const VOCABULARY = 8;

function row(random) {
  const ids = Array.from({ length: LENGTH }, () => random.below(VOCABULARY));
  const counts = Array.from(
    { length: VOCABULARY },
    (_, token) => ids.filter((id) => id === token).length,
  );
  return { ids, targets: ids.map((id) => counts[id]) };
}

export const histogram = {
  about: 'how often the token of each place occurs in its row, without positions',
  batch: 32,
  row,
  options: { learningRate: { peak: 4e-3, warmup: 20, steps: 300 }, deviation: 0.1 },
  variants: {
    'no positions': {
      config: {
        // Counts run to LENGTH, so there are more targets than tokens.
        ...{ vocabulary: LENGTH + 1, numLayers: 1, dModel: 64, numHeads: 4, dFeedForward: 128 },
        ...{ maxLength: LENGTH, causal: false, positions: 'none' },
      },
      steps: 300,
      expect: { atLeast: 0.97 },
    },
  },
};
