import { html, nothing, type TemplateResult } from 'lit-html';
import type { Content } from './texts';

/** Numbers with their names, beside a drawing. */
export const numberList = (
  all: readonly (readonly [name: string, label: Content, value: string])[],
): TemplateResult => {
  const entry = ([name, label, value]: (typeof all)[number]) =>
    html`<div><dt>${label}</dt><dd data-number=${name}>${value}</dd></div>`;
  return html`<dl class="numbers">${all.map(entry)}</dl>`;
};

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
