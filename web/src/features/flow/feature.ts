import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { flowFields, flowRequest, type FlowState } from './state';
import type { flowFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof flowFrames, FlowState> = flowRequest;

export const flow = {
  fields: flowFields,
  request,
  lockable: {
    flowPart: '#flow-part',
    flowShift: '#flow-shift',
  },
} satisfies Feature;

/** The texts of this panel and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
