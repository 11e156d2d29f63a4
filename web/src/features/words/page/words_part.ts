import { html, type TemplateResult } from 'lit-html';
import type { Content } from '../../../ui/lit/texts';
import { LitPanel } from '../../lit_panel';
import type { WordTable } from '../shared/word_table';

/** A part of the panel; `table` is null while the vectors are on their way. */
export abstract class WordsPart extends LitPanel {
  table: WordTable | null = null;
}

/** A bar of a share of one, to be read as the number beside it. */
export function barOf(share: number): TemplateResult {
  const width = `width: ${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`;
  return html`<span class="bar" aria-hidden="true"><i .style=${width}></i></span>`;
}

/** An entry of a list with a cosine. */
export const entryOf = (words: Content, cosine: number): TemplateResult =>
  html`<li>${words}${barOf(cosine)}<span class="value">${three(cosine)}</span></li>`;

/** A word of the table, which is English in both languages of the page. */
export const englishWord = (word: string): TemplateResult =>
  html`<span class="words-word" lang="en">${word}</span>`;

/** Three decimals, with the sign of mathematics. */
export const three = (value: number): string => {
  const written = value.toFixed(3);
  return (written === '-0.000' ? '0.000' : written).replace('-', '−');
};
