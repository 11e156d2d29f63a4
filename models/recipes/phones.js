// English words to phones, by three models of about the same number of parameters: a GRU that hands over one fixed vector, one whose
// decoder reads all states of the encoder, and a transformer.
import { archive, END, LONGEST, phonesWords, START } from '../data/phones.js';
import { randomOf } from './random.js';

const BATCH = 128;
/** Words that are judged while a model learns. */
const HELD_OUT_WORDS = 1024;

const pad = (list, length, value) => [...list, ...Array(length - list.length).fill(value)];

/** Pairs of a word and one way to say it as a batch, padded to the longest of each. */
function batchOf(pairs) {
  const sources = Math.max(...pairs.map(({ source }) => source.length));
  const tokens = Math.max(...pairs.map(({ said }) => said.length)) + 1;
  const join = (row) => Int32Array.from(pairs.flatMap(row));
  return {
    source: join(({ source }) => pad(source, sources, END)),
    sourceLengths: join(({ source }) => [source.length]),
    ids: join(({ said }) => pad([START, ...said], tokens, END)),
    targets: join(({ said }) => pad([...said, END], tokens, -1)),
    batch: pairs.length,
  };
}

async function data() {
  const { training, heldOut, tokenizer } = await phonesWords();
  const pairsOf = ({ word, said }) =>
    said.map((phones) => ({ source: tokenizer.encode(word), said: tokenizer.encode(phones) }));
  const pairs = training.flatMap(pairsOf);
  // The words of a batch have one length, so that few of its numbers are padding.
  const byLength = new Map();
  for (const pair of pairs) {
    const { length } = pair.source;
    if (!byLength.has(length)) byLength.set(length, []);
    byLength.get(length).push(pair);
  }
  const judged = heldOut.slice(0, HELD_OUT_WORDS).map((word) => pairsOf(word)[0]);
  return {
    tokenizer,
    heldOutWords: heldOut,
    batches(seed, { batch = BATCH } = {}) {
      const random = randomOf(seed);
      const draw = (list) => list[random.below(list.length)];
      return () => {
        const alike = byLength.get(draw(pairs).source.length);
        return batchOf(Array.from({ length: batch }, () => draw(alike)));
      };
    },
    heldOut: Array.from({ length: HELD_OUT_WORDS / BATCH }, (_, i) =>
      batchOf(judged.slice(i * BATCH, (i + 1) * BATCH)),
    ),
  };
}

const base = { vocabulary: 68, maxLength: LONGEST + 1 };

export const phones = {
  about: 'English words to phones, by three kinds of models',
  archives: [archive],
  data,
  options: {
    learningRate: { peak: 2e-3, warmup: 200, steps: 6000, final: 1e-4 },
    ...{ betas: [0.9, 0.98], weightDecay: 0.05, deviation: 0.06 },
  },
  variants: {
    gru: { config: { ...base, kind: 'gru', dModel: 224 }, steps: 6000, expect: { atLeast: 0.85 } },
    gru_attention: { config: { ...base, kind: 'gru_attention', dModel: 192 }, steps: 6000, expect: { atLeast: 0.85 } },
    transformer: {
      config: {
        ...{ ...base, kind: 'transformer', numLayers: 3, dModel: 96, numHeads: 3 },
        dFeedForward: 256,
      },
      steps: 6000,
      expect: { atLeast: 0.85 },
    },
  },
};
