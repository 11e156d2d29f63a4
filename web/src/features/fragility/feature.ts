import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { fragilityFields, fragilityRequest, type FragilityState } from './state';
import type { fragilityFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof fragilityFrames, FragilityState> = fragilityRequest;

export const fragility = { fields: fragilityFields, request } satisfies Feature;

/** The texts of this panel, of the map and of the page. */
export const t: Translate<PageKey | MapKey | keyof typeof en> = textOf;
