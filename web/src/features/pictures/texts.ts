import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type en from './en.json';

/** The texts of the pictures and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
