import { html, type TemplateResult } from 'lit-html';
import { tableHead, tableRow } from '../../../ui/lit/tables';
import type { View } from '../../panel';
import { percent } from '../../../ui/numbers';
import { ModelPart, scrolled } from './model_part';
import type { Rollout } from '../shared/protocol';
import { t } from '../feature';

const COLUMNS = ['token', 'place', 'share', 'last'] as const;

/** Where the vector of a token comes from, after all layers. */
export class RolloutPart extends ModelPart {
  protected inputs({ model, look }: View): readonly unknown[] {
    return [model.answers.rollout, look];
  }

  protected render({ model }: View): TemplateResult {
    const { rollout } = model.answers;
    const table = html`<table class="data-table model-lens">
      ${tableHead(COLUMNS.map((name) => t(`model.rollout.${name}`)))}
      <tbody>${rollout?.sources.map(rowOf)}</tbody></table>`;
    return html`
      <h3>${t('model.rollout.title')}</h3>
      <p class="hint">${t('model.rollout.intro')}</p>
      ${scrolled(t('model.rollout.title'), table)}
      <p class="model-settled">${rollout && summary(rollout)}</p>`;
  }
}

const rowOf = ({ label, place, share, last }: Rollout['sources'][number]) =>
  tableRow(html`<bdi>${label}</bdi>`, [place, percent(share), percent(last)]);

function summary({ at, label, rest, own, sources }: Rollout): string {
  return t('model.rollout.shares', {
    token: label,
    place: at,
    own: percent(own),
    rest: percent(rest),
    count: sources.length,
  });
}
