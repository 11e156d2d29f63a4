import type { Dice } from '../../../domain/random_ints';
import type { Defaults, TaskId } from './run_settings';

/** One sequence: what the model reads, and what it should answer at each place; -1 where there is no target. */
export interface Row {
  readonly ids: readonly number[];
  readonly targets: readonly number[];
}

export interface Task {
  readonly id: TaskId;
  /** Tokens that are read or answered. */
  readonly vocabulary: number;
  /** Tokens of a row. */
  readonly length: number;
  /** How a token is written where it is read, and where it is an answer. */
  readonly words: readonly string[];
  readonly answers: readonly string[];
  /** How a token is written in a text, where that is another way than `words`. */
  readonly texts?: readonly string[];
  /**
   * Tokens of a row that are given when the model writes on by itself: each answer is the next token. Null: the answers
   * are not the next tokens, and all of them are given at once.
   */
  readonly prompt: number | null;
  /** A row to train on. */
  train(dice: Dice): Row;
  /** A row that it is judged by. No row of addition or of the text can be drawn by both. */
  heldOut(dice: Dice): Row;
  /** A row to look at: of the text, one that is trained on. */
  shown(dice: Dice): Row;
  readonly defaults: Defaults;
}
