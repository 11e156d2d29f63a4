import { dice, type Dice } from '../../../domain/random_ints';
import type { Defaults, TaskId } from './run_settings';
import { names } from './names_task';
import type { Row, Task } from './task_type';
import { characters } from './text_task';

const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');

const base: Defaults = {
  ...{ layers: 2, heads: 4, width: 64, positions: 'learned', causal: true },
  ...{ feedForward: 0, learningRate: 3e-3, deviation: 0.08, batch: 32, budget: 400 },
};

const draws = (random: Dice, count: number, n: number) =>
  Array.from({ length: count }, () => random.below(n));

/** The target of every place is the token that follows, where `hasTarget` says so. */
function following(all: readonly number[], hasTarget: (place: number) => boolean): Row {
  const targets = all.slice(1).map((token, place) => (hasTarget(place) ? token : -1));
  return { ids: all.slice(0, -1), targets };
}

/** Tasks whose rows can all be drawn anew: that one is drawn twice is as good as impossible. */
function endless(
  task: Omit<Task, 'train' | 'heldOut' | 'shown'>,
  row: (random: Dice) => Row,
): Task {
  return { ...task, train: row, heldOut: row, shown: row };
}

// ---- letters ----

const COPIED = 12;
const LETTERS_COPIED = 16;

/** abc…|abc…: after the bar, the letters before it. */
const copy = endless(
  {
    id: 'copy',
    vocabulary: LETTERS_COPIED + 1,
    length: 2 * COPIED,
    words: [...LETTERS.slice(0, LETTERS_COPIED), '|'],
    answers: LETTERS.slice(0, LETTERS_COPIED),
    prompt: COPIED + 1,
    defaults: base,
  },
  (random) => {
    const letters = draws(random, COPIED, LETTERS_COPIED);
    return following([...letters, LETTERS_COPIED, ...letters], (place) => place >= COPIED);
  },
);

const REVERSED = 16;

/** At each place, the letter of the mirrored place. */
const reverse = endless(
  {
    id: 'reverse',
    vocabulary: LETTERS.length,
    length: REVERSED,
    words: LETTERS,
    answers: LETTERS,
    prompt: null,
    defaults: { ...base, layers: 1, causal: false },
  },
  (random) => {
    const ids = draws(random, REVERSED, LETTERS.length);
    return { ids, targets: [...ids].reverse() };
  },
);

const REPEATED = 32;
const PERIODS = [6, 16] as const;

/** 6 to 16 different letters in a random order, again and again (Olsson et al. 2022). */
const induction = endless(
  {
    id: 'induction',
    vocabulary: LETTERS.length,
    length: REPEATED,
    words: LETTERS,
    answers: LETTERS,
    prompt: PERIODS[1] + 2,
    defaults: { ...base, positions: 'rotary' },
  },
  (random) => {
    const period = PERIODS[0] + random.below(PERIODS[1] - PERIODS[0] + 1);
    const order = random.different(period, LETTERS.length);
    const all = Array.from({ length: REPEATED + 1 }, (_, i) => order[i % period] ?? 0);
    return following(all, (place) => place + 1 > period);
  },
);

// ---- numbers ----

const DIGITS = Array.from('0123456789');
const [PLUS, EQUALS] = [10, 11];
const TERM = 100;

const digitsOf = (value: number, count: number) =>
  Array.from({ length: count }, (_, i) => Math.floor(value / 10 ** i) % 10);

/** One in ten sums, spread by a hash over all digits, is never trained on. */
const isHeldOut = (a: number, b: number) =>
  (Math.imul(TERM * a + b + 1, 0x9e3779b1) >>> 0) / 2 ** 32 < 0.1;

function sum(random: Dice, heldOut: boolean): Row {
  let a: number;
  let b: number;
  do [a, b] = [random.below(TERM), random.below(TERM)];
  while (isHeldOut(a, b) !== heldOut);
  const all = [
    ...[...digitsOf(a, 2).reverse(), PLUS],
    ...[...digitsOf(b, 2).reverse(), EQUALS, ...digitsOf(a + b, 3)],
  ];
  return following(all, (place) => place >= 5);
}

/** 37+85=221: the sum is written from its ones on, as one adds on paper. */
const addition: Task = {
  id: 'addition',
  vocabulary: 12,
  length: 8,
  words: [...DIGITS, '+', '='],
  answers: DIGITS,
  prompt: 6,
  train: (random) => sum(random, false),
  heldOut: (random) => sum(random, true),
  shown: (random) => sum(random, true),
  defaults: { ...base, feedForward: 128, batch: 64, budget: 600 },
};

const COUNTED = 10;
const KINDS = 8;

/** At each place, how often its letter occurs in the row (Weiss et al. 2021). */
const histogram = endless(
  {
    id: 'histogram',
    vocabulary: COUNTED + 1, // a count may be larger than every letter's number
    length: COUNTED,
    words: LETTERS.slice(0, KINDS),
    answers: Array.from({ length: COUNTED + 1 }, (_, count) => String(count)),
    prompt: null,
    defaults: {
      ...{ ...base, layers: 1, causal: false, positions: 'none', feedForward: 128 },
      ...{ learningRate: { peak: 4e-3, warmup: 20, steps: 400, final: 2e-4 }, deviation: 0.1 },
    },
  },
  (random) => {
    const ids = draws(random, COUNTED, KINDS);
    return { ids, targets: ids.map((id) => ids.filter((other) => other === id).length) };
  },
);

const givers = names(base);

// ---- all of them ----

export function taskOf(id: TaskId, text: string): Task {
  switch (id) {
    case 'copy':
      return copy;
    case 'reverse':
      return reverse;
    case 'induction':
      return induction;
    case 'addition':
      return addition;
    case 'histogram':
      return histogram;
    case 'names':
      return givers;
    case 'characters':
      return characters(text, base);
  }
}

export interface Batch {
  readonly ids: Int32Array;
  readonly targets: Int32Array;
  readonly batch: number;
}

function join(rows: readonly Row[]): Batch {
  return {
    ids: Int32Array.from(rows.flatMap(({ ids }) => ids)),
    targets: Int32Array.from(rows.flatMap(({ targets }) => targets)),
    batch: rows.length,
  };
}

/**
 * What is trained on, step by step: which rows come in which order depends on the task, the seed and the samples alone, so that two
 * models read the same. With `samples` there are only so many rows, and batches go through all of them before one comes again.
 * `size` says of each batch how many rows it has.
 */
export function* batches(
  task: Task,
  seed: number,
  samples: number | null,
  size: () => number = () => task.defaults.batch,
): Generator<Batch> {
  const random = dice(seed);
  if (samples === null) {
    for (;;) yield join(Array.from({ length: size() }, () => task.train(random)));
  }
  const rows = Array.from({ length: samples }, () => task.train(random));
  const turn: Row[] = [];
  for (;;) {
    const count = Math.min(size(), samples);
    while (turn.length < count) {
      turn.push(...random.different(samples, samples).flatMap((i) => rows[i] ?? []));
    }
    yield join(turn.splice(0, count));
  }
}

/** The rows that every model of a task is judged by, whatever its seed. */
const HELD_OUT = 64;
const HELD_OUT_SEED = 20_017;

export function heldOut(task: Task): Batch {
  const random = dice(HELD_OUT_SEED);
  return join(Array.from({ length: HELD_OUT }, () => task.heldOut(random)));
}

const PROBE_SEED = 5;

/** The one row whose maps are shown: the same for all seeds. */
export const probe = (task: Task): Row => task.shown(dice(PROBE_SEED));

/** Rows that the model continues by itself; the first is the probe. */
export function prompts(task: Task, count: number): Row[] {
  const random = dice(PROBE_SEED);
  return Array.from({ length: count }, () => task.shown(random));
}
