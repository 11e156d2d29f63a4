import type { PageState } from '../../state/page';
import type { PositionsRequest } from './compute';
import type { PositionsState } from './state';

export function positionsRequest(state: PageState & PositionsState): PositionsRequest {
  const { shift, position, layout, scheme, rotaryQ, rotaryK, seed } = state;
  return { shift, position, layout, scheme, rotaryQ, rotaryK, seed };
}
