import type { View } from '../../panel';
import { percent } from '../../../ui/numbers';
import { ModelPart } from './model_part';
import type { Lens } from '../shared/protocol';
import { t } from '../feature';

/** What the model would say if it ended after each layer. */
export class LensPart extends ModelPart {
  protected template(): string {
    return `
      <h3 data-t="model.lens.title"></h3>
      <p class="hint" data-t="model.lens.intro"></p>
      <div class="model-scroll" tabindex="0" role="region" data-t-label="model.lens.title">
        <table class="data-table model-lens"><thead></thead><tbody></tbody></table>
      </div>
      <p class="model-settled"></p>`;
  }

  update({ model, state, look }: View): void {
    const lens = model.answers.lens ?? null;
    if (!this.changed(lens, state.language, look)) return;
    if (!lens) {
      this.find('thead', HTMLElement).replaceChildren();
      this.find('tbody', HTMLElement).replaceChildren();
      this.setText('.model-settled', '');
      return;
    }
    const cell = (name: 'th' | 'td', ...content: (string | Node)[]) => {
      const made = document.createElement(name);
      made.append(...content);
      return made;
    };
    const width = lens.layers[0]?.tokens.length ?? 0;
    const head = document.createElement('tr');
    const titles = [t('model.lens.layer'), ...Array.from({ length: width }, (_, i) => `${i + 1}.`)];
    head.append(...titles.map((text) => Object.assign(cell('th', text), { scope: 'col' })));
    this.find('thead', HTMLElement).replaceChildren(head);
    const final = lens.layers.at(-1)?.tokens[0]?.id;
    const rows = lens.layers.map(({ tokens }, layer) => {
      const row = document.createElement('tr');
      const name = cell('th', t('model.lens.after', { layer: layer + 1 }));
      Object.assign(name, { scope: 'row' });
      const cells = tokens.map(({ id, label, p }) => {
        const token = document.createElement('bdi');
        token.textContent = label;
        const share = document.createElement('span');
        share.className = 'value';
        share.textContent = percent(p);
        const made = cell('td', token, ' ', share);
        made.classList.toggle('final', id === final);
        return made;
      });
      row.append(name, ...cells);
      return row;
    });
    this.find('tbody', HTMLElement).replaceChildren(...rows);
    this.setText('.model-settled', settled(lens));
  }
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
