import { html, nothing, type TemplateResult } from 'lit-html';
import type { Content } from '../../../ui/lit/texts';
import { marks } from '../shared/accuracy';
import { KINDS, type Kind } from '../shared/model_configs';
import type { Spoken } from '../shared/protocol';
import { expected } from '../shared/task';
import { t } from '../feature';
import { markOf } from './model_table';
import { nameOf, saidWords } from './sentences';

/** A digit of a row; a wrong one is underlined. */
const digit = (text: string | number, fine: boolean): TemplateResult =>
  html`<span class=${fine ? 'said-digit' : 'said-digit said-wrong'}>${text}</span>`;

/** `words`: its digits, for who cannot see them. */
const row = (
  name: Content,
  digits: readonly Content[],
  note = '',
  words = '',
): TemplateResult => html`
  <div class="said-row"><span class="said-name">${name}</span>
    <span class="said-digits" role=${words ? 'img' : nothing} aria-label=${words || nothing}>${digits}</span>
    <span class="said-note">${note}</span></div>`;

/** The digits that a model said beside those it should have; what it did not say is a dot. */
function saidRow(kind: Kind, { source, said }: Spoken): TemplateResult {
  const { ids } = said[kind];
  const right = marks(source, ids);
  const length = Math.max(source.length, ids.length);
  const digits = Array.from({ length }, (_, i) => digit(ids[i] ?? '·', right[i] ?? false));
  const note = t('recurrence.right', { right: right.filter(Boolean).length, all: source.length });
  const name = html`${markOf(kind)} ${nameOf(kind)}`;
  return row(name, digits, note, saidWords(nameOf(kind), source, said[kind]));
}

/** What should be said, and what each model says, one under the other. */
export function saidRows(source: readonly number[], spoken: Spoken | null): TemplateResult[] {
  const wanted = expected(source).map((token) => digit(token, true));
  const models = spoken ? KINDS.map((kind) => saidRow(kind, spoken)) : [];
  return [row(t('recurrence.expected'), wanted), ...models];
}
