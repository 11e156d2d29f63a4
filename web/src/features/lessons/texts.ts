import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type en from './en.json';

export type Key = PageKey | keyof typeof en;
/** The texts around lessons, and those of the page. */
export const t: Translate<Key> = textOf;
