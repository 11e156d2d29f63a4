import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { live } from 'lit-html/directives/live.js';
import { percent } from '../../../ui/numbers';
import type { View } from '../../panel';
import type { LensGrid, Reading } from '../shared/protocol';
import { t } from '../feature';
import { ModelPart, scrolled } from './model_part';

type Guess = LensGrid['layers'][number][number];

/** The guess after each layer at every token: a row of the grid is a layer, a column a token of the text. */
export class LensGridPart extends ModelPart {
  protected inputs({ model, state, look }: View): readonly unknown[] {
    return [model.answers.grid, model.answers.reading, state.modelAt, look];
  }

  protected render({ model, state, look }: View): TemplateResult {
    const { grid, reading } = model.answers;
    const shown = grid && reading && isOf(grid, reading) ? { grid, reading } : null;
    const at = Math.min(state.modelAt ?? Infinity, (reading?.ids.length ?? 0) - 1);
    return html`
      <h3>${t('model.grid.title')}</h3>
      <p class="hint">${t('model.grid.intro')}</p>
      ${scrolled(
        t('model.grid.title'),
        html`<table class="model-grid" @click=${this.#clicked}>
          <thead>${shown && this.#heads(shown.reading, at)}</thead>
          <tbody>${shown && guard([shown.grid, at, look], () => rowsOf(shown.grid, at))}</tbody></table>`,
      )}
      <p class="model-settled">${shown && settled(shown.grid, shown.reading)}</p>`;
  }

  /** One of the tokens is chosen, as in the text above: the arrow keys go from one to the next. */
  #heads({ labels }: Reading, chosen: number): TemplateResult {
    const choose = ({ target }: Event) =>
      this.change({ modelAt: Number((target as HTMLInputElement).value) });
    const head = (label: string, at: number) => html`<th scope="col" data-at=${at}><label>
      <input type="radio" name="model-grid-at" value=${at} class="visually-hidden" .checked=${live(at === chosen)}
        aria-label=${t('model.grid.token', { at, token: label })}><bdi>${label}</bdi></label></th>`;
    return html`<tr @change=${choose}><th scope="col">${t('model.lens.layer')}</th>${labels.map(head)}</tr>`;
  }

  readonly #clicked = ({ target }: Event): void => {
    const { at } = (target as Element).closest<HTMLElement>('td[data-at]')?.dataset ?? {};
    if (at !== undefined) this.change({ modelAt: Number(at) });
  };
}

/** A text comes before the grid of it: until then the grid is of another. */
const isOf = ({ layers: [first] }: LensGrid, { ids }: Reading) => first?.length === ids.length;

function rowsOf({ layers }: LensGrid, chosen: number): TemplateResult[] {
  const final = layers.at(-1) ?? [];
  const cell = ({ id, label, p }: Guess, at: number) => html`
    <td data-at=${at} class=${at === chosen ? 'chosen' : nothing} data-final=${id === final[at]?.id ? '' : nothing}
      .style=${`--share: ${Math.round(100 * p)}%`}><bdi>${label}</bdi><span class="value">${percent(p)}</span></td>`;
  return layers.map(
    (guesses, layer) =>
      html`<tr><th scope="row">${t('model.lens.after', { layer: layer + 1 })}</th>${guesses.map(cell)}</tr>`,
  );
}

/** At how many tokens each layer already guesses what the model ends with, and how often that is right. */
function settled({ layers }: LensGrid, { ids }: Reading): string {
  const final = layers.at(-1) ?? [];
  const agree = layers.map((row) => row.filter(({ id }, at) => id === final[at]?.id).length);
  const right = ids.slice(1).filter((id, at) => id === final[at]?.id).length;
  const counts = agree.join(' → ');
  return t('model.grid.settled', { counts, count: ids.length, right, known: ids.length - 1 });
}
