import { Panel } from '../../panel';
import type { WordTable } from '../shared/word_table';

/** A part of the panel; `table` is null while the vectors are on their way. */
export abstract class WordsPart extends Panel {
  table: WordTable | null = null;
}

/** An element with a class and what is in it. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A word of the table, which is English in both languages of the page. */
export function englishWord(word: string): HTMLElement {
  const made = element('span', 'words-word', word);
  made.lang = 'en';
  return made;
}

/** A bar of a share of one, to be read as the number beside it. */
export function barOf(share: number): HTMLElement {
  const fill = document.createElement('i');
  fill.style.width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
  const bar = element('span', 'bar', fill);
  bar.setAttribute('aria-hidden', 'true');
  return bar;
}

/** Three decimals, with the sign of mathematics. */
export const three = (value: number): string => {
  const written = value.toFixed(3);
  return (written === '-0.000' ? '0.000' : written).replace('-', '−');
};
