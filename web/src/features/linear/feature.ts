import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { linearFields, linearRequest, type LinearState } from './state';
import type { linearFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof linearFrames, LinearState> = linearRequest;

export const linear = { fields: linearFields, request } satisfies Feature;

/** The texts of this panel, of the map and of the page. */
export const t: Translate<PageKey | MapKey | keyof typeof en> = textOf;
