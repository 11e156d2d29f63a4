import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature } from '../feature';
import type en from './en.json';
import { wordsFields } from './state';

export const words = {
  fields: wordsFields,
  lockable: {
    wordsText: '#words-text',
    wordsCells: '[name=words-cells]',
    wordsNear: '#words-near',
    wordsOther: '#words-other',
    wordsPlane: '#words-plane, #words-set',
    wordsAnalogy: '.words-analogy :is(input, button)',
  },
} satisfies Feature;

/** The texts of this panel and of the page. */
export const t: Translate<PageKey | keyof typeof en> = textOf;
