import type { Dice } from '../../../domain/random_ints';
import { graphemes } from '../../../domain/tokenizer';
import type { Defaults } from './run_settings';
import type { Row, Task } from './task_type';

/** Shorter texts leave nothing to learn from. */
const LEAST = 12;
const LONGEST_ROW = 32;
/** Of the text, from its end: what the model is judged by and never trained on. */
const HELD_BACK = 1 / 5;

/** Characters as a reader sees them; a line break is a character, too. */
const split = (text: string) => graphemes(text).map((part) => part.replace(/\s+/g, ' '));

const written = (character: string) => (character === ' ' ? '␣' : character);

function window(ids: readonly number[], length: number): (random: Dice) => Row {
  return (random) => {
    const from = random.below(ids.length - length);
    const all = ids.slice(from, from + length + 1);
    return { ids: all.slice(0, -1), targets: all.slice(1) };
  };
}

/** The next character of a text, anywhere in it. The last fifth is held back: only what is like the rest can be known there. */
export function characters(text: string, base: Defaults): Task {
  const given = split(text.trim());
  const all = given.length >= LEAST ? given : split(`${text.trim()} `.repeat(LEAST));
  const words = [...new Set(all)].sort();
  const ids = all.map((character) => words.indexOf(character));
  const cut = Math.ceil(ids.length * (1 - HELD_BACK));
  const length = Math.min(LONGEST_ROW, ids.length - cut - 1);
  return {
    id: 'characters',
    vocabulary: words.length,
    length,
    words: words.map(written),
    texts: words,
    answers: words.map(written),
    prompt: Math.max(1, length >> 2),
    train: window(ids.slice(0, cut), length),
    shown: window(ids.slice(0, cut), length),
    heldOut: window(ids.slice(cut), length),
    defaults: { ...base, budget: 600 },
  };
}
