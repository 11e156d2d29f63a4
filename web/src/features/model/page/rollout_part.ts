import type { View } from '../../panel';
import { percent } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import type { Rollout } from '../shared/protocol';
import { t } from '../feature';

/** Where the vector of a token comes from, after all layers. */
export class RolloutPart extends ModelPart {
  protected template(): string {
    return `
      <h3 data-t="model.rollout.title"></h3>
      <p class="hint" data-t="model.rollout.intro"></p>
      <div class="model-scroll" tabindex="0" role="region" data-t-label="model.rollout.title">
        <table class="data-table model-lens"><thead><tr>
          <th scope="col" data-t="model.rollout.token"></th>
          <th scope="col" data-t="model.rollout.place"></th>
          <th scope="col" data-t="model.rollout.share"></th>
          <th scope="col" data-t="model.rollout.last"></th>
        </tr></thead><tbody></tbody></table>
      </div>
      <p class="model-settled"></p>`;
  }

  update({ model, state, look }: View): void {
    const rollout = model.answers.rollout ?? null;
    if (!this.changed(rollout, state.language, look)) return;
    const sources = rollout?.sources ?? [];
    this.find('tbody', HTMLElement).replaceChildren(...sources.map(rowOf));
    this.setText('.model-settled', rollout ? summary(rollout) : '');
  }
}

function rowOf({ label, place, share, last }: Rollout['sources'][number]): HTMLTableRowElement {
  const row = document.createElement('tr');
  const token = document.createElement('bdi');
  token.textContent = label;
  const name = document.createElement('th');
  name.scope = 'row';
  name.append(token);
  row.append(name);
  for (const text of [String(place), percent(share), percent(last)]) {
    row.insertCell().textContent = text;
  }
  return row;
}

function summary({ at, label, rest, own, sources }: Rollout): string {
  return t('model.rollout.told', {
    token: label,
    place: at,
    own: percent(own),
    rest: percent(rest),
    count: sources.length,
  });
}
