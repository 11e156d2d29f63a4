import type { LearningRateSchedule } from 'qkv/train';

/** What is trained and how: all of it is in the link. */
export const TASKS = [
  'copy',
  'reverse',
  'induction',
  'addition',
  'histogram',
  'names',
  'characters',
] as const;
export type TaskId = (typeof TASKS)[number];

export const POSITIONS = ['none', 'learned', 'sinusoidal', 'rotary'] as const;
export type Positions = (typeof POSITIONS)[number];

export const NORMS = ['pre', 'post'] as const;
export type Norm = (typeof NORMS)[number];

/** Steps a second at most. */
export const SPEEDS = ['1', '5', '25', '100', 'full'] as const;
export type Speed = (typeof SPEEDS)[number];

/** By how much the learning rate of a task is multiplied. */
export const RATES = ['0.1', '0.3', '1', '3', '10'] as const;
/** Rates at which numbers are dropped while a model trains. */
export const DROPOUTS = ['0', '0.1', '0.3', '0.5'] as const;

/** What acts from the next step on, in a run that goes on. */
export interface Tuning {
  /** By how much the learning rate of the task is multiplied. */
  readonly rate: number;
  /** Rows of a step. */
  readonly batch: number;
  readonly dropout: number;
}

/** What decides a run, with its tuning: the same settings give the same numbers, bit for bit. */
export interface Settings {
  readonly task: TaskId;
  readonly seed: number;
  readonly layers: number;
  readonly heads: number;
  readonly width: number;
  readonly positions: Positions;
  readonly causal: boolean;
  readonly norm: Norm;
  /** Of the attention, by which scores are divided besides sqrt(d_k). */
  readonly temperature: number;
  /** Rows that it is trained on, again and again; null: new ones in every step. */
  readonly samples: number | null;
  /** What the task `characters` reads. */
  readonly text: string;
}

/** What a task is trained with unless the reader says otherwise. */
export type Defaults = Pick<Settings, 'layers' | 'heads' | 'width' | 'positions' | 'causal'> & {
  /** Of the feed-forward part; 0: blocks of attention alone. */
  readonly feedForward: number;
  readonly learningRate: number | LearningRateSchedule;
  /** Of the initial weights. */
  readonly deviation: number;
  readonly batch: number;
  /** Steps within which it has learned what it can: what predictions are judged at. */
  readonly budget: number;
};

/** Runs worth watching, each a link: what is set, and by a text `learn.experiment.<name>` what to look at. */
export const EXPERIMENTS = [
  'birth',
  'oneLayer',
  'noPositions',
  'leak',
  'names',
  'overfit',
  'noise',
] as const;
export type Experiment = (typeof EXPERIMENTS)[number];
