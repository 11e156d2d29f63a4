import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { scaleFields, scaleRequest, type ScaleState } from './state';
import type { scaleFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof scaleFrames, ScaleState> = scaleRequest;

export const scale = {
  fields: scaleFields,
  request,
  asks: { scaleAsk: true },
  lockable: {
    width: '#width',
    divided: '#divided',
    sample: 'qkv-panel-scale .draw',
  },
} satisfies Feature;

/** The texts of this panel, of the map and of the page. */
export const t: Translate<PageKey | MapKey | keyof typeof en> = textOf;
