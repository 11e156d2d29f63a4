import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { blockFields, blockRequest, type BlockReader } from './state';
import type { blockFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof blockFrames, BlockReader> = blockRequest;

export const block = {
  fields: blockFields,
  request,
  lockable: {
    blockNorm: '[name=block-place]',
    blockTap: '[name=block-tap]',
    blockDepth: '#block-depth',
  },
} satisfies Feature;

/** The texts of this panel, of the map and of the page. */
export const t: Translate<PageKey | MapKey | keyof typeof en> = textOf;
