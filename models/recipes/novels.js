// Novels, piece by piece of their words. So little text hardly forms heads of induction; so one row in eight is random pieces that
// repeat, whose next one only a model knows that looks for what came after the same piece before.
import { archives, novelTexts } from '../data/novels.js';
import { randomOf } from './random.js';

const VOCABULARY = 1024;
const LENGTH = 128;
const BATCH = 8;
/** The first rows are all of pieces that repeat: few different ones, twice as many after every so many steps, until they are all. */
const [FEW, FIRST, DOUBLED_EVERY] = [32, 400, 40];
/** Later one row in so many is. */
const REPEATS = 4;
/** After how many pieces they repeat, at least and at most. */
const PERIODS = [6, 60];
const HELD_OUT_BATCHES = 8;

/** Different pieces in a random order, again and again. Nobody can know those of the first time: they do not count. */
function repeated(random, length, count) {
  const most = Math.min(PERIODS[1], count / 2);
  const period = PERIODS[0] + random.below(most - PERIODS[0] + 1);
  // Few are spread evenly over all, whose order is that of their letters.
  const once = random.different(period, count).map((i) => (i * VOCABULARY) / count);
  const all = Array.from({ length: length + 1 }, (_, i) => once[i % period]);
  return [all.slice(0, -1), all.slice(1).map((id, i) => (i < period ? -1 : id))];
}

const batchOf = (rows) => ({
  ids: Int32Array.from(rows.flatMap(([ids]) => [...ids])),
  targets: Int32Array.from(rows.flatMap(([, targets]) => [...targets])),
  batch: rows.length,
});

async function data() {
  const { training, heldOut, tokenizer } = await novelTexts(VOCABULARY);
  const [ids, held] = [tokenizer.encode(training), tokenizer.encode(heldOut)];
  const rowAt = (from, at, length) => [
    from.subarray(at, at + length),
    from.subarray(at + 1, at + length + 1),
  ];
  const even = (held.length - LENGTH - 1) / (HELD_OUT_BATCHES * BATCH - 1);
  return {
    tokenizer,
    batches(seed, { batch = BATCH, length = LENGTH } = {}) {
      const random = randomOf(seed);
      let step = 0;
      const row = () => {
        const doubled = Math.max(0, 1 + Math.floor((step - FIRST) / DOUBLED_EVERY));
        const count = Math.min(VOCABULARY, FEW * 2 ** doubled);
        return count < VOCABULARY || random.below(REPEATS) === 0
          ? repeated(random, length, count)
          : rowAt(ids, random.below(ids.length - length), length);
      };
      return () => {
        const rows = Array.from({ length: batch }, row);
        step += 1;
        return batchOf(rows);
      };
    },
    heldOut: Array.from({ length: HELD_OUT_BATCHES }, (_, i) =>
      batchOf(
        Array.from({ length: BATCH }, (_row, j) =>
          rowAt(held, Math.floor((i * BATCH + j) * even), LENGTH),
        ),
      ),
    ),
  };
}

export const novels = {
  about: 'the next piece of a word in English novels, and of random pieces that repeat',
  archives,
  data,
  options: {
    learningRate: { peak: 4e-3, warmup: 100, steps: 1600, final: 1e-4 },
    ...{ betas: [0.9, 0.99], weightDecay: 0.1, deviation: 0.04 },
  },
  variants: {
    novels: {
      config: {
        ...{ vocabulary: VOCABULARY, numLayers: 3, dModel: 128, numHeads: 4, dFeedForward: 512 },
        ...{ maxLength: 256, positions: 'rotary' },
        tiedEmbeddings: true,
      },
      steps: 1600,
      expect: { lossAtMost: 4.2 },
    },
  },
};
