// Induction (Olsson et al. 2022): different tokens in a random order, again and again. To tell the next one a model has to look for the
// last place of the present token, and read what came after it: one head that looks one token back, and one in a later layer
// that looks for what that head has found. A single layer cannot.
const LENGTH = 32;
const VOCABULARY = 32;

function row(random) {
  const period = 6 + random.below(11);
  const order = random.different(period, VOCABULARY);
  const all = Array.from({ length: LENGTH + 1 }, (_, i) => order[i % period]);
  return {
    ids: all.slice(0, LENGTH),
    targets: all.slice(1).map((token, i) => (i + 1 > period ? token : -1)),
  };
}

const base = {
  vocabulary: VOCABULARY,
  dModel: 64,
  numHeads: 4,
  dFeedForward: 0,
  maxLength: LENGTH,
};

export const induction = {
  about: 'next token of a random order that repeats',
  batch: 32,
  row,
  options: { learningRate: 3e-3, deviation: 0.08 },
  variants: {
    'two layers': { config: { ...base, numLayers: 2 }, steps: 400, expect: { atLeast: 0.95 } },
    'one layer': { config: { ...base, numLayers: 1 }, steps: 3000, expect: { atMost: 0.5 } },
  },
};
