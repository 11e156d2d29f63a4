import { html, nothing, type TemplateResult } from 'lit-html';
import type { Content } from './texts';

/** Numbers beside a drawing, each with what it is called. */
export function numberList<Name extends string>(
  numbers: Readonly<Record<Name, string>>,
  labelOf: (name: Name) => Content,
): TemplateResult {
  const entry = (name: Name) =>
    html`<div><dt>${labelOf(name)}</dt><dd data-number=${name}>${numbers[name]}</dd></div>`;
  return html`<dl class="numbers">${(Object.keys(numbers) as Name[]).map(entry)}</dl>`;
}

/** The heads of columns; null: an empty corner above the heads of rows. */
export const tableHead = (names: readonly (Content | null)[]): TemplateResult => {
  const head = (name: Content | null) =>
    name === null ? html`<td></td>` : html`<th scope="col">${name}</th>`;
  return html`<thead><tr>${names.map(head)}</tr></thead>`;
};

/** A row of a table: its head and its cells. */
export const tableRow = (
  head: Content,
  cells: readonly Content[],
  className = '',
): TemplateResult => html`
  <tr class=${className || nothing}><th scope="row">${head}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`;
