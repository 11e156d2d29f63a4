import type { Seq2Seq, Seq2SeqBatch, TrainQkv, Trainer } from 'qkv/train';
import { dice, type Dice } from '../../../domain/random_ints';
import {
  charactersOf,
  drawDay,
  isoOf,
  longestOf,
  tokensOf,
  written,
  type Language,
} from '../shared/dates';
import { DATE_HEADS, DATE_STEPS, DATES_TESTED, type DateReading } from '../shared/protocol';

const [BATCH, WIDTH, FEED_FORWARD] = [16, 32, 64];
/** 1987-03-03 and what ends it. */
const WRITTEN = 11;
const SEEDS = { rows: 1, test: 20_017 };

/** Of the vocabulary: what the decoder reads first, and what it writes last. */
const marksOf = (language: Language) => {
  const { length } = charactersOf(language);
  return { start: length, end: length + 1 };
};

/** Dates as they are read, padded to the longest, and what is to be written of each. */
function datesOf(random: Dice, count: number, heldOut: boolean, language: Language) {
  const days = Array.from({ length: count }, () => drawDay(random, heldOut));
  const longest = longestOf(language);
  const sources = days.map((day) => tokensOf(written(day, language), language) ?? []);
  const source = sources.flatMap((one) => [...one, ...Array<number>(longest - one.length).fill(0)]);
  const sourceLengths = sources.map(({ length }) => length);
  return {
    source,
    sourceLengths,
    batch: count,
    targets: days.map((day) => tokensOf(isoOf(day), language) ?? []),
  };
}

function batchOf(random: Dice, language: Language): Seq2SeqBatch {
  const { start, end } = marksOf(language);
  const { targets, ...source } = datesOf(random, BATCH, false, language);
  return {
    ...source,
    ids: targets.flatMap((target) => [start, ...target]),
    targets: targets.flatMap((target) => [...target, end]),
  };
}

/** How many of the held-out dates are written without a mistake. */
function rightOf({ model }: Trainer<Seq2Seq>, language: Language): number {
  const dates = datesOf(dice(SEEDS.test), DATES_TESTED, true, language);
  const { source, sourceLengths, batch, targets } = dates;
  const options = { ...marksOf(language), batch, sourceLengths, maxLength: WRITTEN };
  const { ids } = model.translate(source, options);
  return targets.filter((target, i) => target.join() === ids[i]?.join()).length;
}

/** An encoder and a decoder of one layer each that write dates. */
export interface DateModel {
  readonly right: number;
  read(tokens: readonly number[]): DateReading;
  dispose(): void;
}

/** Trains one; yields the steps that are done. */
export function* trainDates(
  qkv: TrainQkv,
  language: Language,
  seed = 1,
): Generator<number, DateModel> {
  const marks = marksOf(language);
  const trainer = qkv.seq2seq(
    {
      ...{ kind: 'transformer', vocabulary: marks.end + 1, dModel: WIDTH, numHeads: DATE_HEADS },
      ...{ numLayers: 1, dFeedForward: FEED_FORWARD, maxLength: longestOf('en') },
    },
    {
      ...{ seed, deviation: 0.2 },
      learningRate: { peak: 0.01, warmup: 100, steps: DATE_STEPS, final: 5e-4 },
    },
  );
  let isTrained = false;
  try {
    const random = dice(SEEDS.rows + seed);
    for (let step = 1; step <= DATE_STEPS; step++) {
      trainer.step(batchOf(random, language));
      yield step;
    }
    const right = rightOf(trainer, language);
    isTrained = true;
    return {
      right,
      read: (tokens) => reading(trainer, tokens, marks),
      dispose: () => trainer.dispose(),
    };
  } finally {
    if (!isTrained) trainer.dispose();
  }
}

function reading(
  { model }: Trainer<Seq2Seq>,
  tokens: readonly number[],
  marks: ReturnType<typeof marksOf>,
): DateReading {
  const { ids, weights } = model.translate(tokens, { ...marks, maxLength: WRITTEN });
  const [layer] = weights;
  const rows = layer?.shape[2] ?? 0;
  return {
    tokens,
    ids: Array.from(ids[0] ?? []),
    rows,
    weights: layer?.data ?? new Float32Array(),
  };
}
