/** The length of the rows that the models are tested on. */
export const TESTED = 256;
/** Accuracy is told for so many positions together. */
export const BLOCK = 16;
/** Steps of training, and after how many the models are tested again. */
export const [STEPS, TESTED_EVERY] = [240, 20];
/** Different tokens: chance level is one of them. */
export const VOCABULARY = 16;

/** What is tested: of learned positions, the table as it is, and with its last trained row for all positions beyond. */
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
  /** The share of right answers in each block of positions. */
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
