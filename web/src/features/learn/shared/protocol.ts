import type { LabFailed } from '../../../domain/failure';
import type { ScoreId } from './head_scores';
import type { Settings, Tuning } from './run_settings';

/** What the probe's heads read after so many steps, and what the model answers. */
export interface Snapshot {
  readonly step: number;
  /** [layers, heads, T, T] */
  readonly weights: Float32Array<ArrayBuffer>;
  /** [scores of the task, layers, heads] */
  readonly scores: Float32Array<ArrayBuffer>;
  /** The likeliest answer at each place, and its probability. */
  readonly answers: Int32Array<ArrayBuffer>;
  readonly certainty: Float32Array<ArrayBuffer>;
}

/** A head that has learned to read in a way. */
export interface Birth {
  readonly score: ScoreId;
  readonly layer: number;
  readonly head: number;
  readonly step: number;
}

/** How well it does on rows that it is judged by, and what its heads attend to then. */
export interface Judged {
  readonly step: number;
  readonly loss: number;
  readonly accuracy: number;
  /** Of each score of the task the largest that a head has. */
  readonly best: readonly number[];
}

/** What the model writes after the beginning of rows that it is judged by, when it reads its own answers. */
export interface Writing {
  readonly step: number;
  /** The first of the rows: what was given, what it wrote, and what would have been right. */
  readonly given: readonly number[];
  readonly written: readonly number[];
  readonly right: readonly number[];
  /** Part of all tokens it wrote that are right, and how many rows these are of. */
  readonly accuracy: number;
  readonly rows: number;
}

/** A tuning, and the steps that had been made when it began to act. */
export interface Tuned extends Tuning {
  readonly step: number;
}

/** What has happened since the last news. */
export interface News {
  /** Steps made in all. */
  readonly step: number;
  /** Of each new step, before it: the last is that of `step`. */
  readonly loss: Float32Array<ArrayBuffer>;
  readonly accuracy: Float32Array<ArrayBuffer>;
  readonly judged: readonly Judged[];
  readonly births: readonly Birth[];
  /** The first is that which the run began with. */
  readonly tuned: readonly Tuned[];
  /** Of the last step; 0 before there is one. */
  readonly learningRate: number;
  readonly snapshot: Snapshot | null;
  readonly writing: Writing | null;
  /** Steps in a second of training alone, over the last of them. */
  readonly rate: number;
  readonly parameters: number;
}

/** A run is known by a number; what it has kept can be requested as long as it is not forgotten. */
export type ToWorker =
  | {
      readonly type: 'run';
      readonly run: number;
      readonly settings: Settings;
      readonly tuning: Tuning;
    }
  /** Acts on the run that trains, from its next step on. */
  | { readonly type: 'tune'; readonly tuning: Tuning }
  /** Steps a second at most; null: as many as there is time for. Ends by itself after `until` steps. */
  | { readonly type: 'play'; readonly perSecond: number | null; readonly until: number | null }
  | { readonly type: 'pause' }
  | { readonly type: 'step' }
  /** The news were drawn; there may be others. */
  | { readonly type: 'drawn' }
  | { readonly type: 'at'; readonly run: number; readonly step: number }
  | { readonly type: 'forget'; readonly run: number }
  /** The run that trains, as a file. */
  | { readonly type: 'save' }
  | { readonly type: 'noise'; readonly seed: number };

export type FromWorker =
  | { readonly type: 'news'; readonly run: number; readonly news: News }
  | { readonly type: 'moment'; readonly run: number; readonly snapshot: Snapshot }
  | { readonly type: 'saved'; readonly run: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: 'noise'; readonly news: NoiseNews }
  | LabFailed;
/** Weights of one observation of each level, and how far estimates are off. */
export interface NoiseNews {
  readonly step: number;
  readonly done: boolean;
  /** Those of the attention that is trained, and 1 / sigma^2 over their sum. */
  readonly learned: readonly number[];
  readonly optimal: readonly number[];
  /** Mean squared errors over sets that were not trained on: by these weights, by the best, and by the plain mean. */
  readonly errors: { readonly learned: number; readonly optimal: number; readonly mean: number };
}
