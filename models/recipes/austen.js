// Novels by Jane Austen, character by character. It is held to the loss of a 5-gram of characters with modified Kneser-Ney smoothing
// on the same held-out pages: 1.213 nats (models/data/kneser_ney.js).
import { archive, austenTexts } from '../data/austen.js';
import { kneserNey } from '../data/kneser_ney.js';
import { sample } from '../trainer/sample.js';
import { randomOf } from './random.js';

const LENGTH = 256;
const BATCH = 8;
/** Rows that are judged while a model learns, spread evenly over the pages held out. */
const HELD_OUT_BATCHES = 8;

/** Rows of a text from these places on, each with what follows every character. */
function rowsAt(ids, places, length) {
  const join = (shift) =>
    Int32Array.from(places.flatMap((at) => [...ids.subarray(at + shift, at + shift + length)]));
  return { ids: join(0), targets: join(1), batch: places.length };
}

async function data() {
  const { training, heldOut, tokenizer } = await austenTexts();
  const [ids, held] = [tokenizer.encode(training), tokenizer.encode(heldOut)];
  const even = (held.length - LENGTH - 1) / (HELD_OUT_BATCHES * BATCH - 1);
  const places = Array.from({ length: HELD_OUT_BATCHES * BATCH }, (_, i) => Math.floor(i * even));
  return {
    ...{ tokenizer, training, heldOutText: heldOut },
    batches(seed, { batch = BATCH, length = LENGTH } = {}) {
      const random = randomOf(seed);
      const place = () => random.below(ids.length - length);
      return () => rowsAt(ids, Array.from({ length: batch }, place), length);
    },
    heldOut: Array.from({ length: HELD_OUT_BATCHES }, (_, i) =>
      rowsAt(held, places.slice(i * BATCH, (i + 1) * BATCH), LENGTH),
    ),
    /** Every character held out but the first, each once: rows one after another, the last one shorter. */
    *whole() {
      const last = held.length - 1;
      const rows = Math.floor(last / LENGTH);
      for (let row = 0; row < rows; row += BATCH) {
        const count = Math.min(BATCH, rows - row);
        const at = Array.from({ length: count }, (_, i) => (row + i) * LENGTH);
        yield rowsAt(held, at, LENGTH);
      }
      if (last % LENGTH > 0) yield rowsAt(held, [rows * LENGTH], last % LENGTH);
    },
  };
}

const PROMPTS = ['It is a truth universally acknowledged, that ', 'Elinor ', 'Captain Wentworth '];

/** Beginnings, and how the model goes on. */
async function measure(trainer, { tokenizer }) {
  const samples = [];
  for (const [seed, text] of PROMPTS.entries()) {
    const prompt = tokenizer.encode(`\n${text}`);
    const how = { count: 2, most: LENGTH, end: -1, temperature: 0.8, seed };
    const said = await sample(trainer, { ...how, prompt });
    samples.push(...said.map((ids) => `${text}|${tokenizer.decode(ids)}`));
  }
  const head = 'Up to | is the prompt; temperature 0.8, seeds 0 to 2, int8 weights.';
  return { samples: `${head}\n\n${samples.join('\n\n')}\n` };
}

/** The loss of n-grams of characters with Kneser-Ney smoothing on the same pages. */
function baseline({ training, heldOutText, tokenizer }) {
  const losses = [5, 8].map((order) => {
    const model = kneserNey(training, { order, vocabulary: tokenizer.tokens.length });
    return [`${order}-gram`, Number(model.loss(heldOutText).toPrecision(5))];
  });
  return Object.fromEntries(losses);
}

export const austen = {
  about: 'the next character in novels by Jane Austen',
  archives: [archive],
  data,
  short: {
    batch: 2,
    length: 128,
    sha256: { austen: '564ba97175dd62fae1d76fbab92a050ed66c057be3401b4b0f17dd6a8c9c0b73' },
  },
  judged: (all) => all.whole(),
  measure,
  baseline,
  options: {
    learningRate: { peak: 4e-3, warmup: 200, steps: 4000, final: 1e-4 },
    ...{ betas: [0.9, 0.99], weightDecay: 0.1, deviation: 0.04 },
  },
  variants: {
    austen: {
      config: {
        ...{ vocabulary: 78, numLayers: 4, dModel: 128, numHeads: 4, dFeedForward: 352 },
        ...{ maxLength: LENGTH, normType: 'rms', activation: 'swiglu', positions: 'rotary' },
        tiedEmbeddings: true,
      },
      steps: 4000,
      expect: { lossAtMost: 1.13 },
    },
  },
};
