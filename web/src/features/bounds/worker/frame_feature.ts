import type { FrameFeature, Workbench } from '../../../engine/frame_feature';
import { stage } from '../../../engine/memo';
import type { Norms } from '../shared/stability';
import type { BoundsRequest } from '../state';
import { capacity, type Capacity } from './capacity';
import { stability, type Stability } from './stability';

export interface BoundsResult {
  readonly capacity: Capacity;
  readonly stability: Stability;
}

export function boundsFrames({ qkv, log }: Workbench): FrameFeature<BoundsRequest, BoundsResult> {
  const fitted = stage('capacity', log, (heads: number, seed: number) =>
    capacity(qkv, heads, seed),
  );
  const moved = stage(
    'stability',
    log,
    (radius: number, output: number, value: number, query: number, key: number, factor: number) =>
      stability(qkv, { radius, output, value, query, key, factor }),
  );
  const of = ({ radius, output, value, query, key, factor }: Norms) =>
    moved(radius, output, value, query, key, factor);
  return {
    compute: ({ heads, seed, norms }) => ({ capacity: fitted(heads, seed), stability: of(norms) }),
  };
}
