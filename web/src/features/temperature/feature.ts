import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { MapKey } from '../map/texts';
import type { Feature, FrameAsk } from '../feature';
import type en from './en.json';
import { temperatureFields, temperatureRequest, type TemperatureState } from './state';
import type { temperatureFrames } from './worker/frame_feature';

/** What the frame worker answers. */
const request: FrameAsk<typeof temperatureFrames, TemperatureState> = temperatureRequest;

export const temperature = {
  fields: temperatureFields,
  request,
  asks: { curves: false },
  lockable: {
    scores: '[name=lab-scores]',
  },
} satisfies Feature;

export type Key = PageKey | MapKey | keyof typeof en;
/** The texts of this panel, of the map and of the page. */
export const t: Translate<Key> = textOf;
