/** The length of the rows that the models are tested on. */
export const TESTED = 256;
/** Each accuracy is the mean over so many positions. */
export const BLOCK = 16;
/** Steps of training, and after how many the models are tested again. */
export const [STEPS, TESTED_EVERY] = [240, 20];
/** Different tokens; a guess is right in one of so many cases. */
export const VOCABULARY = 16;

/** What is tested. `learned` and `clamped` are one model: its table as it is, and with the last trained row for all positions beyond. */
export const WAYS = ['learned', 'clamped', 'sinusoidal', 'rotary'] as const;
export type Way = (typeof WAYS)[number];

export interface Settings {
  readonly seed: number;
  /** The length of the rows of training. */
  readonly trained: number;
}

export interface Tested {
  readonly settings: Settings;
  readonly step: number;
  /** The share of right answers in each block of BLOCK positions, from 0 to 1. */
  readonly accuracy: Readonly<Record<Way, readonly number[]>>;
  /** Numbers that each model trains. */
  readonly parameters: Readonly<Record<Exclude<Way, 'clamped'>, number>>;
}

/** Another run ends the one before it. */
export interface ToExtrapolationLab {
  readonly type: 'run';
  readonly settings: Settings;
}
export interface FromExtrapolationLab {
  readonly type: 'tested';
  readonly tested: Tested;
}
