import type { Dice } from '../../../domain/random_ints';
import type { Defaults } from './run_settings';
import type { Row, Task } from './task_type';

const listed = (words: string) => words.split(' ');

const PEOPLE = listed(
  'Mary John Anna Tom Emma Jack Kate Paul Lucy Sam Rose Mark Jane Ben Sarah Peter Alice Henry Clara Leo',
);
const PLACES = listed('shop park school station market garden library kitchen');
const THINGS = listed('book letter ball key ring cup hat pen');
const VERBS = listed('gave handed showed sent');
/** x and y are two people, B is one of them, and the other one gets it. All have one length. */
const FORMS = [
  'When x and y went to the P , B V a O to',
  'Then x and y were at the P . B V a O to',
  'After x had met y at the P , B V a O to',
  'At the P , x met y . Then B V a O to',
].map(listed);
const SLOTS = ['x', 'y', 'B', 'P', 'O', 'V'];

const WORDS = [
  ...[...PEOPLE, ...PLACES, ...THINGS, ...VERBS],
  ...new Set(FORMS.flat().filter((word) => !SLOTS.includes(word))),
];
const LENGTH = FORMS[0]!.length;
const NUMBERS = new Map(WORDS.map((word, id) => [word, id]));

/** One pair of people in five, spread by a hash, never meets in training. */
const isHeldOut = (one: number, other: number) => {
  const [low, high] = [Math.min(one, other), Math.max(one, other)];
  return (Math.imul(PEOPLE.length * low + high + 1, 0x9e3779b1) >>> 0) / 2 ** 32 < 0.2;
};

function sentence(random: Dice, heldOut: boolean): Row {
  const draw = (list: readonly string[]) => list[random.below(list.length)]!;
  let one: number;
  let other: number;
  do [one, other] = random.different(2, PEOPLE.length) as [number, number];
  while (isHeldOut(one, other) !== heldOut);
  const [x, y] = [PEOPLE[one]!, PEOPLE[other]!];
  const [gives, gets] = random.below(2) === 0 ? [x, y] : [y, x];
  const filled = new Map<string, string>([
    ...([['x', x], ['y', y], ['B', gives], ['P', draw(PLACES)]] as const), // oxfmt-ignore
    ...([['O', draw(THINGS)], ['V', draw(VERBS)]] as const), // oxfmt-ignore
  ]);
  const form = FORMS[random.below(FORMS.length)]!;
  const ids = form.map((word) => NUMBERS.get(filled.get(word) ?? word)!);
  return { ids, targets: [...ids.slice(1).map(() => -1), NUMBERS.get(gets)!] };
}

/**
 * Who gets it: two people are named, one of them again, and the other one is the answer. The sentences that Wang et al. (2022) looked
 * for a circuit in.
 */
export const names = (base: Defaults): Task => ({
  id: 'names',
  vocabulary: WORDS.length,
  length: LENGTH,
  words: WORDS,
  answers: WORDS,
  texts: WORDS.map((word) => (/^[.,]$/.test(word) ? word : ` ${word}`)),
  // Only the last word has a target.
  prompt: null,
  train: (random) => sentence(random, false),
  heldOut: (random) => sentence(random, true),
  shown: (random) => sentence(random, true),
  defaults: { ...base, batch: 64 },
});
