import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { masksFields, masksRequest, type MasksState } from './state';
import type { masksFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof masksFrames, MasksState> = masksRequest;

export const masks = {
  fields: masksFields,
  request,
  asks: { masksAsk: true },
  lockable: {
    maskKind: '[name=mask-kind]',
    maskSize: '#mask-size',
    maskShuffle: '.shuffle, .as-written',
  },
} satisfies Feature;

export type Key = PageKey | MapKey | keyof typeof en;
/** The texts of this panel, of the map and of the page. */
export const t: Translate<Key> = textOf;
