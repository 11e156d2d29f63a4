import type { Counted, Finding, Progress, Reached, Spoken, Timed } from '../shared/protocol';
import type { Timing } from '../shared/timing_settings';

/** All that the worker has reported, the latest of each. */
export interface LatestNews {
  readonly progress: Progress | null;
  readonly counted: Counted | null;
  readonly spoken: Spoken | null;
  readonly reached: Reached | null;
  readonly timed: Timed | null;
  readonly timings: readonly Timing[];
}

export const NOTHING: LatestNews = {
  ...{ progress: null, counted: null, spoken: null, reached: null },
  ...{ timed: null, timings: [] },
};

/** Whether times are being measured. */
export const isMeasuring = ({ timed }: LatestNews): boolean => timed !== null && timed.part < 1;

export function recall(known: LatestNews, news: Finding): LatestNews {
  switch (news.type) {
    case 'progress':
      return { ...known, progress: news };
    case 'counted':
      return { ...known, counted: news };
    case 'spoken':
      return { ...known, spoken: news };
    case 'reached':
      return { ...known, reached: news };
    case 'timed':
      return {
        ...known,
        timed: news,
        timings: news.timings ?? known.timings,
      };
  }
}
