import { textOf, type PageKey, type Translate } from '../../i18n/i18n';
import type { Feature } from '../feature';
import type en from './en.json';
import { learnFields } from './state';

export const learn = {
  fields: learnFields,
  lockable: {
    learnTask: '.learn-setup [name=task]',
    learnSeed: '.learn-setup [name=seed]',
    learnLayers: '.learn-setup [name=layers]',
    learnPositions: '.learn-setup [name=positions]',
    learnCausal: '.learn-setup [name=causal]',
  },
} satisfies Feature;

export type Key = PageKey | keyof typeof en;
/** The texts of this panel and of the page. */
export const t: Translate<Key> = textOf;
