// Novels, piece by piece of their words. Text of this length does not form induction heads by itself, and the feed-forward parts learn
// pieces by heart before heads find anything. So the attention of the model learns first, alone, to copy from random pieces, of few kinds
// and then of all; then the feed-forward parts are added, and the whole model learns from the text and, in one row of four, from such pieces.
import { archives, novelTexts } from '../data/novels.js';
import { headNames, headScores, withoutHeads } from '../trainer/heads.js';
import { languageModel } from '../trainer/native.js';
import { judge } from '../trainer/run.js';
import { sample } from '../trainer/sample.js';
import { randomOf } from './random.js';

/** All characters of the novels, and the pieces of words that are commonest. */
const VOCABULARY = 1024;
const LENGTH = 128;
const BATCH = 8;
/** The first stage: rows of a few pieces each, at the beginning from so many kinds, at the end from all. */
const FIRST = { steps: 1000, batch: 32, length: 64, periods: [6, 30], kinds: 32 };
/** Later one row in so many is of random pieces, so many of them. */
const REPEATS = { oneIn: 4, periods: [16, 60] };
/** After so many copied pieces, in the mean, a row goes on at another place: a model that counts the distance cannot copy. */
const COPIED = 6;
const HELD_OUT_BATCHES = 8;
const HELD_OUT_SEED = 0x7fffffff;

/**
 * Different pieces in a random order, then runs of them that begin at random places. What comes the first time, and after a jump,
 * nobody can know: those targets do not count.
 */
function copies(random, length, [least, most], kinds = VOCABULARY) {
  const period = least + random.below(most - least + 1);
  const order = random.different(period, kinds);
  const [ids, targets] = [[], []];
  let at = 0;
  for (let i = 0; i <= length; ++i) {
    const jumps = i >= period && random.below(COPIED) === 0;
    if (jumps) at = random.below(period);
    ids.push(order[at]);
    targets.push(i < period || jumps ? -1 : order[at]);
    at = (at + 1) % period;
  }
  return [ids.slice(0, -1), targets.slice(1)];
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
    batches(seed, { batch = BATCH, length = LENGTH } = {}) {
      const random = randomOf(seed);
      const row = () =>
        random.below(REPEATS.oneIn) === 0
          ? copies(random, length, REPEATS.periods)
          : rowAt(ids, random.below(ids.length - length), length);
      return () => batchOf(Array.from({ length: batch }, row));
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

/** Kinds of pieces at a step: few in the first two fifths of the stage, all in the last fifth. */
function kindsAt(step, { steps, kinds }) {
  const grown = Math.min(1, Math.max(0, (step / steps - 0.4) / 0.4));
  return Math.round(kinds + (VOCABULARY - kinds) * grown);
}

/** The first stage: its arrays go into `trainer`, whose feed-forward parts begin without an output. */
async function begin(trainer, seed, first = FIRST) {
  const { steps, batch, length, periods } = first;
  const random = randomOf(seed + 1);
  const attention = await languageModel(
    { ...trainer.config, dFeedForward: 0 },
    { ...options, learningRate: { peak: 3e-3, warmup: 20, steps, final: 1e-3 }, seed },
  );
  for (let step = 1; step <= steps; ++step) {
    const row = () => copies(random, length, periods, kindsAt(step, first));
    await attention.step(batchOf(Array.from({ length: batch }, row)));
  }
  const learned = new Map(attention.arrays.map(({ name }, i) => [name, i]));
  for (const [i, { name }] of trainer.arrays.entries()) {
    if (learned.has(name)) await trainer.write(i, 'value', await attention.read(learned.get(name)));
    else if (name.endsWith('.w2')) await trainer.write(i, 'value', (await trainer.read(i)).fill(0));
  }
  attention.dispose();
}

const PROMPTS = ['It is a truth', 'Elinor', 'The whale'];
/** Random pieces that are read twice, and how many such rows. */
const [TWICE, ROWS] = [50, 16];
/** From which score on a head counts as one of induction. */
const INDUCTION = 0.4;

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
/** Scores of every head over random pieces that are read twice, means over rows. */
async function scoresOf(trainer) {
  const random = randomOf(HELD_OUT_SEED);
  const sums = headNames(trainer.config).map((head) => ({ head, previous: 0, induction: 0 }));
  for (let row = 0; row < ROWS; ++row) {
    const once = Array.from({ length: TWICE }, () => random.below(VOCABULARY));
    const scores = await headScores(trainer, [...once, ...once]);
    for (const [i, { previous, induction }] of scores.entries()) {
      sums[i].previous += previous / ROWS;
      sums[i].induction += induction / ROWS;
    }
  }
  return sums;
}

/** What every head attends to, and the losses of the whole model and without some heads. */
async function headsOf(trainer, { heldOut }) {
  const scores = await scoresOf(trainer);
  const random = randomOf(HELD_OUT_SEED);
  const held = [batchOf(Array.from({ length: ROWS }, () => copies(random, LENGTH, [50, 50])))];
  const losses = async () => ({
    copies: rounded((await judge(trainer, held)).loss),
    text: rounded((await judge(trainer, heldOut)).loss),
  });
  const without = (heads) => withoutHeads(trainer, heads, losses);
  const before = scores.reduce((most, each) => (each.previous > most.previous ? each : most));
  const of = scores.filter(({ induction }) => induction >= INDUCTION).map(({ head }) => head);
  return {
    scores: Object.fromEntries(
      scores.map(({ head, previous, induction }) => [
        head.join('.'),
        { previous: rounded(previous), induction: rounded(induction) },
      ]),
    ),
    losses: {
      whole: await losses(),
      withoutPrevious: await without([before.head]),
      withoutInduction: await without(of),
    },
  };
}

/** What its card says of a trained model. */
async function measure(trainer, all) {
  const heads = await headsOf(trainer, all);
  const { charactersOfAPiece } = all;
  return {
    figures: { charactersOfAPiece: rounded(charactersOfAPiece), heads },
    samples: await samplesOf(trainer, all),
  };
}

const options = {
  learningRate: { peak: 3e-3, warmup: 100, steps: 5000, final: 1e-4 },
  ...{ weightDecay: 0.01, deviation: 0.06 },
};

export const novels = {
  about: 'the next piece of a word in English novels, and of random pieces that are copied',
  archives,
  data,
  begin,
  measure,
  short: {
    ...{ batch: 2, length: 64, first: { ...FIRST, steps: 5, batch: 2 } },
    sha256: { novels: '93c74716092ec039d89feff109bf1d737e5807964020f47a33cb17231406b710' },
  },
  options,
  variants: {
    novels: {
      config: {
        ...{ vocabulary: VOCABULARY, numLayers: 2, dModel: 192, numHeads: 4, dFeedForward: 768 },
        ...{ maxLength: 256, positions: 'rotary' },
      },
      steps: 5000,
      expect: { lossAtMost: 4 },
    },
  },
};
