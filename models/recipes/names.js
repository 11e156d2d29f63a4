// Who gives what to whom: two people are named, one of them gives something, and the model has to say to whom.
import {
  BEGIN,
  givingSentence,
  HELD_OUT,
  LANGUAGES,
  namesTokenizer,
  otherSentence,
} from '../data/names.js';
import { circuitOf } from '../trainer/circuit.js';
import { headNames, headScores, withoutHeads } from '../trainer/heads.js';
import { randomOf } from './random.js';

const BATCH = 64;
const LENGTH = 24;
const HELD_OUT_SEED = 0x7fffffff;
/** In one sentence of so many nobody gives anything. */
const OTHERS = 5;

const tokenizer = namesTokenizer();
const { tokens } = tokenizer;
const ids = new Map(tokens.map((token, id) => [token, id]));
const numbersOf = (list) => list.map((token) => ids.get(token));
const languages = Object.keys(LANGUAGES);

/** A sentence between line breaks; each token but those of the padding is asked for. */
function row(random) {
  const language = languages[random.below(languages.length)];
  const make = random.below(OTHERS) === 0 ? otherSentence : givingSentence;
  const all = numbersOf([BEGIN, ...make(random, language).tokens, BEGIN]);
  const padded = (list, value) => [...list, ...Array(LENGTH - list.length).fill(value)];
  return { ids: padded(all.slice(0, -1), 0), targets: padded(all.slice(1), -1) };
}

/** What is held out where: of `known` nothing but the sentence itself, which may be new or not. */
const GROUPS = {
  known: {},
  templates: { templates: 'heldOut' },
  places: { places: 'heldOutPlaces' },
  names: { names: 'heldOutNames' },
};
const SENTENCES = 200;

/** Sentences up to the one who gets it, with the places of the names, in groups of one length. */
function questions(language, which) {
  const random = randomOf(HELD_OUT_SEED - 1);
  const byLength = new Map();
  for (let i = 0; i < SENTENCES; ++i) {
    const sentence = givingSentence(random, language, which);
    const before = [BEGIN, ...sentence.tokens.slice(0, sentence.asked)];
    const [gets, gives] = numbersOf([sentence.gets, sentence.gives]);
    if (!byLength.has(before.length)) byLength.set(before.length, []);
    byLength.get(before.length).push({ ids: numbersOf(before), gets, gives });
  }
  return [...byLength.values()];
}

/** The part of sentences in which the one who gets it is the likeliest token, and the mean of that logit less the giver's. */
async function judged(trainer, groups) {
  const { vocabulary } = trainer.config;
  let [right, difference, count] = [0, 0, 0];
  for (const group of groups) {
    const { logits } = await trainer.forward(
      group.flatMap((each) => each.ids),
      { batch: group.length },
    );
    for (const [i, { ids: read, gets, gives }] of group.entries()) {
      const from = ((i + 1) * read.length - 1) * vocabulary;
      const last = logits.subarray(from, from + vocabulary);
      right += last.indexOf(Math.max(...last)) === gets ? 1 : 0;
      difference += last[gets] - last[gives];
      count += 1;
    }
  }
  return { accuracy: rounded(right / count), difference: rounded(difference / count) };
}

const rounded = (x) => Number(x.toFixed(3));

/** Mean weights of the last token of every head: on the one who gets it, on the giver's first and second mention. */
async function attended(trainer, groups) {
  const { numLayers, numHeads } = trainer.config;
  const layers = Array.from({ length: numLayers }, (_, layer) => layer);
  const sums = headNames(trainer.config).map(() => [0, 0, 0]);
  let count = 0;
  for (const group of groups) {
    const length = group[0].ids.length;
    const { weights } = await trainer.forward(
      group.flatMap((each) => each.ids),
      { batch: group.length, layers },
    );
    group.forEach(({ ids: read, gets, gives }, i) => {
      const keys = [read.indexOf(gets), read.indexOf(gives), read.lastIndexOf(gives)];
      headNames(trainer.config).forEach(([layer, head], at) => {
        const rows = ((i * numHeads + head) * length + length - 1) * length;
        keys.forEach((key, j) => (sums[at][j] += weights[layer][rows + key]));
      });
      count += 1;
    });
  }
  return sums.map((all) => all.map((sum) => rounded(sum / count)));
}

/** Of every head: what it attends to, and what becomes of the answers without it. */
async function headsOf(trainer, language) {
  const groups = questions(language, GROUPS.known);
  const weights = await attended(trainer, groups);
  const heads = {};
  for (const [i, head] of headNames(trainer.config).entries()) {
    const [gets, givesFirst, givesAgain] = weights[i];
    const without = await withoutHeads(trainer, [head], () => judged(trainer, groups));
    heads[head.join('.')] = { attendsTo: { gets, givesFirst, givesAgain }, without };
  }
  return heads;
}

/** What its card says of a trained model. */
export async function measure(trainer) {
  const figures = {};
  for (const language of languages) {
    const groups = {};
    for (const [name, which] of Object.entries(GROUPS)) {
      groups[name] = await judged(trainer, questions(language, which));
    }
    figures[language] = { ...groups, heads: await headsOf(trainer, language) };
  }
  const [example] = questions('english', GROUPS.known)[0];
  const scores = await headScores(trainer, example.ids);
  const previous = Object.fromEntries(scores.map((each) => [each.name, rounded(each.previous)]));
  return { figures: { sentences: SENTENCES, heldOutWords: HELD_OUT, previous, ...figures } };
}

export const names = {
  about: 'who gets it, in sentences of who gives what to whom',
  batch: BATCH,
  row,
  tokenizer,
  measure,
  circuit: circuitOf,
  options: {
    learningRate: { peak: 3e-3, warmup: 50, steps: 1500, final: 1e-4 },
    ...{ weightDecay: 0.01, deviation: 0.08 },
  },
  variants: {
    names: {
      config: {
        ...{ vocabulary: tokens.length, numLayers: 2, dModel: 64, numHeads: 4, dFeedForward: 0 },
        ...{ maxLength: 64, positions: 'rotary' },
      },
      steps: 1500,
      expect: { lossAtMost: 1.1 },
    },
  },
};
