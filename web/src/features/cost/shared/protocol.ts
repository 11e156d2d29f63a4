import type { BenchNews } from '../worker/benchmark';

export interface ToBenchLab {
  readonly type: 'run';
  readonly cores: number;
}

export type FromBenchLab =
  { readonly type: 'news'; readonly news: BenchNews } | { readonly type: 'done' };
