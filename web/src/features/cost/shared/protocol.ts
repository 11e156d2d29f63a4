import type { BenchResult } from './bench_result';

export interface ToBenchLab {
  readonly type: 'run';
  readonly cores: number;
}

export type FromBenchLab =
  | { readonly type: 'news'; readonly news: BenchNews }
  | { readonly type: 'done' };
/** What the benchmark says after each measurement. */
export interface BenchNews {
  readonly result: BenchResult;
  /** Largest |difference| between the outputs of the two ways, so far; NaN before any were compared. */
  readonly difference: number;
  /** Measurements done, of all. */
  readonly done: number;
  readonly all: number;
}
