import type { PageState } from '../../state/page';
import type { RowRequest } from './worker/frame_feature';
import type { RowState } from './state';

export function rowRequest(state: PageState & RowState): RowRequest {
  const { numbers, rowQuery, rowMasked, rowScale, rowMax } = state;
  return { numbers, query: rowQuery, masked: rowMasked, scale: rowScale, subtractMax: rowMax };
}
