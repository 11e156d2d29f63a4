import type { Language } from '../../../i18n/i18n';
import type { Analogy } from './similarity';

/** Documents that stand in the box at first, one in a line. */
export const DOCUMENTS: Readonly<Record<Language, string>> = {
  en: 'The cat sat on the mat.\nThe dog sat on the mat.\nThe kitten slept on the rug.\nThe bank lent the money.',
  zh: '猫坐在垫子上。\n狗坐在垫子上。\n小猫睡在地毯上。\n银行把钱借出去。',
};

/** Words of the plane, each set under its name; a sign > between two words joins them by a line. */
export const PLANES = {
  groups:
    'cat dog horse cow lion tiger paris london berlin tokyo rome moscow bread cheese milk rice soup apple doctor nurse lawyer engineer teacher',
  capitals:
    'france>paris germany>berlin italy>rome spain>madrid russia>moscow japan>tokyo china>beijing greece>athens',
  family:
    'man>woman king>queen brother>sister uncle>aunt nephew>niece actor>actress father>mother son>daughter',
  degrees:
    'strong>stronger fast>faster slow>slower short>shorter long>longer small>smaller large>larger cold>colder',
} as const;
export type PlaneSet = keyof typeof PLANES;
export const PLANE_SETS = Object.keys(PLANES) as readonly PlaneSet[];

/** An analogy with the answer that a person gives, and why it fails, if it does: a text `words.why.<why>`. */
export interface Example {
  readonly words: Analogy;
  readonly expected: string;
  readonly why?: 'opposites' | 'senses' | 'stereotype';
}

export const ANALOGIES: readonly Example[] = [
  { words: ['king', 'man', 'woman'], expected: 'queen' },
  { words: ['paris', 'france', 'japan'], expected: 'tokyo' },
  { words: ['actor', 'man', 'woman'], expected: 'actress' },
  { words: ['sister', 'brother', 'nephew'], expected: 'niece' },
  { words: ['stronger', 'strong', 'weak'], expected: 'weaker' },
  { words: ['walking', 'walk', 'swim'], expected: 'swimming' },
  { words: ['saw', 'see', 'eat'], expected: 'ate' },
  { words: ['einstein', 'physics', 'painting'], expected: 'picasso' },
  { words: ['cold', 'hot', 'big'], expected: 'small', why: 'opposites' },
  { words: ['windows', 'microsoft', 'apple'], expected: 'mac', why: 'senses' },
  { words: ['doctor', 'man', 'woman'], expected: 'doctor', why: 'stereotype' },
];

/** A word with two meanings, in a text for each; the Chinese ones are lines of Li Bai. */
export const CONTEXTS: Readonly<
  Record<Language, { readonly word: string; readonly texts: readonly [string, string] }>
> = {
  en: {
    word: 'well',
    texts: ['I hope that you are well', 'There is no water in the well'],
  },
  zh: { word: '月', texts: ['举头望明月', '故人西辞黄鹤楼，烟花三月'] },
};
