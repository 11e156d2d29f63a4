import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { boundsFields, boundsRequest, type BoundsState } from './state';
import type { boundsFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof boundsFrames, BoundsState> = boundsRequest;

export const bounds = { fields: boundsFields, request } satisfies Feature;

/** The texts of this panel, of the map and of the page. */
export const t: Translate<PageKey | MapKey | keyof typeof en> = textOf;
