import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature } from '../feature';
import type en from './en.json';
import { lookupFields } from './state';

export const lookup = {
  fields: lookupFields,
  lockable: {
    lookupQuestion: '#lookup-question',
    lookupTemperature: '#lookup-temperature',
  },
} satisfies Feature;

/** The texts of this panel and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
