import type { PageState } from '../../state/page';
import type { PositionsRequest } from './worker/frame_feature';
import { positionsSeedOf, type PositionsState } from './state';

export function positionsRequest(state: PageState & PositionsState): PositionsRequest {
  const { shift, position, layout, scheme, rotaryQ, rotaryK } = state;
  return { shift, position, layout, scheme, rotaryQ, rotaryK, seed: positionsSeedOf(state) };
}
