import {
  choice,
  flag,
  freeText,
  integer,
  optional,
  optionalNumber,
  powerOfTwo,
  rounded,
  type Limits,
  type StateOf,
} from '../../state/field';
import {
  DROPOUTS,
  EXPERIMENTS,
  NORMS,
  POSITIONS,
  RATES,
  SPEEDS,
  TASKS,
} from './shared/run_settings';

/** A link stays short enough to send. */
const LONGEST_TEXT = 1000;

const size = (key: string, limits: Limits) => optionalNumber(powerOfTwo(key, limits[0], limits));

const TEMPERATURES: Limits = [0.1, 10];

/** Null: what the task has of itself, so that a link that names a task alone is enough. */
export const learnFields = {
  learnTask: choice('lt', 'induction', TASKS),
  learnSeed: integer('ls', 1, [0, 999999]),
  learnSpeed: choice('lv', '25', SPEEDS),
  learnLayers: optionalNumber(integer('ll', 1, [1, 4])),
  learnHeads: size('lh', [1, 8]),
  learnWidth: size('ld', [16, 128]),
  learnPositions: optional(choice('lp', 'learned', POSITIONS)),
  learnCausal: optional(flag('lc', true)),
  learnNorm: choice('ln', 'pre', NORMS),
  learnTemperature: rounded('lta', 1, TEMPERATURES, 3),
  /** Rows it is trained on, again and again; null: new ones in every step. */
  learnSamples: size('lf', [4, 512]),
  /** What acts from the next step on: by how much the learning rate is multiplied, rows of a step, and dropout. */
  learnRate: optional(choice('lr', '1', RATES)),
  learnBatch: size('lb', [1, 256]),
  learnDropout: optional(choice('lo', '0', DROPOUTS)),
  /** What the task of characters reads; null: what the page has in the reader's language. */
  learnText: optional(freeText('lx', LONGEST_TEXT)),
  /** Whether the run before stays on the curves when another begins. */
  learnCompare: flag('lk', false),
  /** The experiment whose sentence is shown. */
  learnExperiment: optional(choice('le', 'birth', EXPERIMENTS)),
  /** The map that is enlarged: 8 times its layer, plus its head. */
  learnMap: optionalNumber(integer('lm', 0, [0, 31])),
};
export type LearnState = StateOf<typeof learnFields>;
