// The sizes of a model, by the words that a file has for them.

import type { LanguageModelConfig } from '../../api/model-config.js';
import { checkLayers, mostLayers } from '../config.js';
import { agreed, type Fields } from '../fields.js';

export const words = (text: string): readonly string[] => text.split(' ');

/** Our words, of which the last two may be left out; those of a file stand in the same order. */
const sizes = words('numLayers dModel numHeads dFeedForward maxLength numKvHeads dK');
/** Those that a file may have as a list with one number for each layer. */
const layered = words('numHeads numKvHeads dFeedForward');

export type Sizes = Pick<
  LanguageModelConfig,
  'numLayers' | 'dModel' | 'numHeads' | 'dFeedForward' | 'maxLength' | 'numKvHeads' | 'dK'
>;

/** The field of `a|b` that is there; where both are they are the same. */
const fieldOf = (fields: Fields, names: string): string => {
  const [first = '', ...more] = names.split('|');
  return agreed([fields, first], ...more.map((name) => [fields, name] as const))?.[1] ?? first;
};

/**
 * The sizes in the fields that `text` names, in the order of `sizes`; `a=2` stands for 2 where a is missing. With `isFourfold` a
 * missing width of the feed-forward part is 4 dModel.
 */
export function sizesOf(fields: Fields, text: string, isFourfold = false): Sizes {
  const parts = words(text).map((word) => word.split('='));
  const names = parts.map(([name = '']) => fieldOf(fields, name));
  const layers = fields.count(names[0] ?? '');
  const fallbackOf = (i: number): number | undefined =>
    parts[i]?.[1] === undefined ? undefined : Number(parts[i][1]);
  const sizeOf = (name: string, i: number): number => {
    const isWidth = isFourfold && sizes[i] === 'dFeedForward';
    return layered.includes(sizes[i] ?? '') && fields.has(name)
      ? fields.perLayer(name, layers)
      : fields.count(name, isWidth ? 4 * fields.count(names[1] ?? '') : fallbackOf(i));
  };
  const found = names.flatMap((name, i) =>
    i < 5 || fields.has(name) ? [[sizes[i] ?? '', sizeOf(name, i)] as const] : [],
  );
  const all = Object.fromEntries(found) as unknown as Sizes;
  // Lists with an element for each layer are made before anybody has looked for its arrays.
  checkLayers(all.numLayers, mostLayers);
  return all;
}
