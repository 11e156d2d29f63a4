import { html, nothing, type TemplateResult } from 'lit-html';
import { tableHead } from '../../../ui/lit/tables';
import type { View } from '../../panel';
import { percent } from '../../../ui/numbers';
import { ModelPart, scrolled } from './model_part';
import type { Lens } from '../shared/protocol';
import { t } from '../feature';

/** What the model would say if it ended after each layer. */
export class LensPart extends ModelPart {
  protected inputs({ model, look }: View): readonly unknown[] {
    return [model.answers.lens, look];
  }

  protected render({ model }: View): TemplateResult {
    const { lens } = model.answers;
    const table = html`<table class="data-table model-lens">${
      lens ? tableHead(titlesOf(lens)) : html`<thead></thead>`
    }<tbody>${lens && rowsOf(lens)}</tbody></table>`;
    return html`
      <h3>${t('model.lens.title')}</h3>
      <p class="hint">${t('model.lens.intro')}</p>
      ${scrolled(t('model.lens.title'), table)}
      <p class="model-settled">${lens && settled(lens)}</p>`;
  }
}

function titlesOf({ layers: [first] }: Lens): string[] {
  const places = first?.tokens.map((_, i) => `${i + 1}.`) ?? [];
  return [t('model.lens.layer'), ...places];
}

function rowsOf({ layers }: Lens): TemplateResult[] {
  const final = layers.at(-1)?.tokens[0]?.id;
  const cell = ({ id, label, p }: Lens['layers'][number]['tokens'][number]) =>
    html`<td class=${id === final ? 'final' : nothing}><bdi>${label}</bdi> <span class="value">${percent(p)}</span></td>`;
  return layers.map(
    ({ tokens }, layer) =>
      html`<tr><th scope="row">${t('model.lens.after', { layer: layer + 1 })}</th>${tokens.map(cell)}</tr>`,
  );
}

/** From which layer on the likeliest token is the one that the model ends with. */
function settled({ layers }: Lens): string {
  const last = layers.at(-1);
  const final = last?.tokens[0];
  if (!final) return '';
  let from = layers.length;
  while (from > 1 && layers[from - 2]?.tokens[0]?.id === final.id) from--;
  const shares = layers.map((layer) => percent(layer.last)).join(' → ');
  return t('model.lens.settled', { token: final.label, from, layers: layers.length, shares });
}
