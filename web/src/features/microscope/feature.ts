import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature } from '../feature';
import type en from './en.json';
import { microscopeFields } from './state';

export const microscope = { fields: microscopeFields } satisfies Feature;

/** The texts of this panel and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
