import { addTexts, textOf, type PageKey, type Translate } from '../../i18n/i18n';
import en from './en.json';
import zh from './zh.json';

// The map is in the first view: its texts are there with those of the page.
addTexts('en', en);
addTexts('zh', zh);

export type MapKey = keyof typeof en;
export type Key = PageKey | MapKey;
/** The texts of the map and of the page. */
export const t: Translate<Key> = textOf;
