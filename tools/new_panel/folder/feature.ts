import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { panelnameFields, panelnameRequest, type PanelnameState } from './state';
import type { panelnameFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof panelnameFrames, PanelnameState> = panelnameRequest;

export const panelname = { fields: panelnameFields, request } satisfies Feature;

/** The texts of this panel and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
