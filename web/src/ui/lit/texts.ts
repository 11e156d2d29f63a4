import { html, nothing, type TemplateResult } from 'lit-html';
import type { DirectiveResult } from 'lit-html/directive.js';
import { unsafeHTML } from 'lit-html/directives/unsafe-html.js';
import { partsOf, type Values } from '../../i18n/i18n';
import { parseRich, type RichPart } from '../../i18n/markup';

/** What may stand between the tags of a template. */
export type Content =
  | TemplateResult
  | string
  | number
  | typeof nothing
  | DirectiveResult
  | readonly Content[];

function marked({ kind, text }: RichPart): Content {
  if (kind === 'text') return text;
  if (kind === 'code') return html`<code>${text}</code>`;
  if (kind === 'em') return html`<em>${text}</em>`;
  if (kind === 'sub') return html`<sub>${text}</sub>`;
  return html`<span class="role role-${kind}">${text}</span>`;
}

/** The text of `key` with its marks as elements. */
export const rich = (key: string, values: Values = {}): Content => partsOf(key, values).map(marked);

/** The same of a text that is in no catalogue. */
export const richText = (source: string): Content => parseRich(source).map(marked);

const PLACE = /(<mtext data-live="(\w+)">)[^<]*/g;
const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** A formula of formulas.json, with the `live` values in the places that bear their names. */
export const formula = (mathml: string, live: Readonly<Record<string, string>> = {}): Content =>
  unsafeHTML(
    mathml.replace(PLACE, (all, tag: string, name: string) => {
      const value = live[name];
      return value === undefined ? all : tag + escaped(value);
    }),
  );

/** The formulas above a panel. */
export const formulaRow = (...all: readonly Content[]): TemplateResult =>
  html`<div class="row-formula formulas">${all.map((one) => html`<span>${one}</span>`)}</div>`;
