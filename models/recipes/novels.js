// Novels, piece by piece of their words. So little text does not form heads of induction by itself, so the model first learns from
// random pieces that repeat, whose next one only it knows that looks for what came after the same piece before; later from text, and
// in one row of four from such pieces again.
import { archives, novelTexts } from '../data/novels.js';
import { headScores, withoutHead } from '../trainer/heads.js';
import { judge } from '../trainer/run.js';
import { sample } from '../trainer/sample.js';
import { randomOf } from './random.js';

/** All characters of the novels, and the pieces of words that are commonest. */
const VOCABULARY = 128;
const LENGTH = 128;
const BATCH = 8;
/** Steps in which all rows are of pieces that repeat: so many and so long rows, and after how many pieces they repeat. */
const FIRST = { steps: 300, batch: 32, length: 32, periods: [6, 16] };
/** Later one row in so many is, and after so many pieces they repeat. */
const REPEATS = { oneIn: 4, periods: [16, 60] };
const HELD_OUT_BATCHES = 8;
const HELD_OUT_SEED = 0x7fffffff;

/** Different pieces in a random order, again and again. Nobody can know those of the first time: they do not count. */
function repeated(random, length, [least, most]) {
  const period = least + random.below(most - least + 1);
  const once = random.different(period, VOCABULARY);
  const all = Array.from({ length: length + 1 }, (_, i) => once[i % period]);
  return [all.slice(0, -1), all.slice(1).map((id, i) => (i < period ? -1 : id))];
}

const batchOf = (rows) => ({
  ids: Int32Array.from(rows.flatMap(([ids]) => [...ids])),
  targets: Int32Array.from(rows.flatMap(([, targets]) => [...targets])),
  batch: rows.length,
});

const rowAt = (ids, at, length) => [
  ids.subarray(at, at + length),
  ids.subarray(at + 1, at + length + 1),
];

async function data() {
  const { training, heldOut, tokenizer } = await novelTexts(VOCABULARY);
  const [ids, held] = [tokenizer.encode(training), tokenizer.encode(heldOut)];
  const even = (held.length - LENGTH - 1) / (HELD_OUT_BATCHES * BATCH - 1);
  return {
    tokenizer,
    batches(seed, { first = FIRST, batch = BATCH, length = LENGTH } = {}) {
      const random = randomOf(seed);
      let step = 0;
      const later = () =>
        random.below(REPEATS.oneIn) === 0
          ? repeated(random, length, REPEATS.periods)
          : rowAt(ids, random.below(ids.length - length), length);
      return () => {
        step += 1;
        const isFirst = step <= first.steps;
        const row = isFirst ? () => repeated(random, first.length, first.periods) : later;
        return batchOf(Array.from({ length: isFirst ? first.batch : batch }, row));
      };
    },
    heldOut: Array.from({ length: HELD_OUT_BATCHES }, (_, i) =>
      batchOf(
        Array.from({ length: BATCH }, (_row, j) =>
          rowAt(held, Math.floor((i * BATCH + j) * even), LENGTH),
        ),
      ),
    ),
    charactersOfAPiece: heldOut.length / held.length,
  };
}

const PROMPTS = ['It is a truth', 'Elinor', 'The whale'];

async function samplesOf(trainer, { tokenizer }) {
  const samples = [];
  for (const [seed, text] of PROMPTS.entries()) {
    const prompt = tokenizer.encode(`\n${text}`);
    const how = { count: 2, most: LENGTH, end: -1, temperature: 0.8, seed };
    const said = await sample(trainer, { ...how, prompt });
    samples.push(...said.map((each) => `${text}|${tokenizer.decode(each)}`));
  }
  const head = 'Up to | is the prompt; temperature 0.8, seeds 0 to 2, int8 weights.';
  return `${head}\n\n${samples.join('\n\n')}\n`;
}

const rounded = (x) => Number(x.toPrecision(4));
/** Random pieces that are read twice, and how many such rows. */
const [TWICE, ROWS] = [50, 16];

/** The heads that attend most to the previous token and to what came after the same one before, and the loss without the second. */
async function headsOf(trainer, { heldOut }) {
  const random = randomOf(HELD_OUT_SEED);
  const sums = new Map();
  for (let row = 0; row < ROWS; ++row) {
    const once = Array.from({ length: TWICE }, () => random.below(VOCABULARY));
    for (const { name, previous, induction } of await headScores(trainer, [...once, ...once])) {
      const sum = sums.get(name) ?? { name, previous: 0, induction: 0 };
      sum.previous += previous / ROWS;
      sum.induction += induction / ROWS;
      sums.set(name, sum);
    }
  }
  const all = [...sums.values()];
  const best = (score) => {
    const head = all.reduce((most, each) => (each[score] > most[score] ? each : most));
    return { name: head.name, score: rounded(head[score]) };
  };
  const induction = best('induction');
  const held = [batchOf(Array.from({ length: ROWS }, () => repeated(random, LENGTH, [50, 50])))];
  const losses = async () => ({
    repeats: rounded((await judge(trainer, held)).loss),
    text: rounded((await judge(trainer, heldOut)).loss),
  });
  const cut = induction.name.split('.').map(Number);
  return {
    previous: best('previous'),
    induction,
    loss: await losses(),
    withoutInduction: await withoutHead(trainer, cut, losses),
  };
}

/** What its card says of a trained model. */
export async function measure(trainer, all) {
  const heads = await headsOf(trainer, all);
  const { charactersOfAPiece } = all;
  return {
    figures: { charactersOfAPiece: rounded(charactersOfAPiece), heads },
    samples: await samplesOf(trainer, all),
  };
}

export const novels = {
  about: 'the next piece of a word in English novels, and of random pieces that repeat',
  archives,
  data,
  options: {
    learningRate: { peak: 3e-3, warmup: 20, steps: 1200, final: 1e-4 },
    ...{ weightDecay: 0.01, deviation: 0.06 },
  },
  variants: {
    novels: {
      config: {
        ...{ vocabulary: VOCABULARY, numLayers: 2, dModel: 128, numHeads: 2, dFeedForward: 512 },
        ...{ maxLength: 256, positions: 'rotary' },
      },
      steps: 1200,
      expect: { lossAtMost: 3 },
    },
  },
};
