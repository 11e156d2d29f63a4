import type { PageState } from '../../state/page';
import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { positionsFields, positionsRequest, type PositionsState } from './state';
import type { positionsFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof positionsFrames, PageState & PositionsState> = positionsRequest;

export const positions = {
  fields: positionsFields,
  request,
  asks: { positionsAsk: true },
  lockable: {
    position: '#position, #position-number',
    shift: '#shift',
    scheme: '[name=scheme]',
    positionsSeed: '.drawn button',
  },
} satisfies Feature;

export type Key = PageKey | MapKey | keyof typeof en;
/** The texts of this panel, of the map and of the page. */
export const t: Translate<Key> = textOf;
