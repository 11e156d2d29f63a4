import { sentences } from '../../../i18n/i18n';
import type { View } from '../../panel';
import { digits, percent } from '../../../ui/numbers';
import type { Limits } from '../../../state/field';
import { LIMITS } from '../../../state/state';
import { ModelPart } from './model_part';
import type { NextToken } from '../shared/protocol';
import { modelFields } from '../state';
import { t } from '../feature';

const STEPS = ['temperature', 'topK', 'topP'] as const;

const slider = (name: string, [low, high]: Limits, step: number) => `
  <div class="control"><label for="model-${name}" data-t="model.next.${name}"></label>
    <span class="with-number"><input id="model-${name}" type="range" min="${low}" max="${high}" step="${step}">
    <output for="model-${name}"></output></span></div>`;

/** What follows the chosen token: probabilities after each step of the selection. */
export class NextPart extends ModelPart {
  protected template(): string {
    return `
      <h3></h3>
      <p class="hint" data-t="model.next.intro"></p>
      <div class="model-controls" data-control>
        ${slider('temperature', LIMITS.modelTemperature, 0.05)}
        <div class="control"><label for="model-topK" data-t="model.next.topK"></label>
          <input id="model-topK" type="number" min="${LIMITS.modelTopK[0]}"
            max="${LIMITS.modelTopK[1]}" step="1"></div>
        ${slider('topP', LIMITS.modelTopP, 0.01)}
      </div>
      <div class="model-scroll" tabindex="0" role="region" data-t-label="model.next.table">
        <table class="data-table model-bars"><thead><tr><th scope="col" data-t="model.next.token"></th>
          ${STEPS.map((step) => `<th scope="col" data-t="model.next.after.${step}"></th>`).join('')}
        </tr></thead><tbody></tbody></table>
      </div>
      <p class="model-kept"></p>`;
  }

  protected override ready(): void {
    const input = (name: string) => this.find(`#model-${name}`, HTMLInputElement);
    const temperature = input('temperature');
    temperature.addEventListener('input', () =>
      this.change({ modelTemperature: +temperature.value }),
    );
    const topP = input('topP');
    topP.addEventListener('input', () => this.change({ modelTopP: +topP.value }));
    const topK = input('topK');
    topK.addEventListener('change', () => {
      const modelTopK = modelFields.modelTopK.read(topK.value);
      if (modelTopK !== undefined) this.change({ modelTopK });
    });
  }

  update({ model, state, look }: View): void {
    const { modelTemperature, modelTopK, modelTopP } = state;
    const next = model.answers.next ?? null;
    const settings = [modelTemperature, modelTopK, modelTopP];
    if (!this.changed(next, ...settings, state.language, look)) return;
    const show = (name: string, value: number, text: string) => {
      const box = this.find(`#model-${name}`, HTMLInputElement);
      if (document.activeElement !== box || box.type === 'range') box.value = String(value);
      if (box.type === 'range') this.setText(`[for=model-${name}]:not(label)`, text);
    };
    show('temperature', modelTemperature, modelTemperature.toFixed(2));
    show('topK', modelTopK, '');
    show('topP', modelTopP, modelTopP.toFixed(2));
    // Without tokens nothing follows, and an empty heading would be read out.
    this.find('h3', HTMLElement).hidden = next === null;
    if (next) this.#draw(next);
    else this.#clear();
  }

  #clear(): void {
    this.setText('h3', '');
    this.find('tbody', HTMLElement).replaceChildren();
    this.setText('.model-kept', '');
  }

  #draw(next: NextToken): void {
    this.setText('h3', t('model.next.title', { token: next.label, at: next.at }));
    const rows = next.bars.map((bar) => {
      const row = document.createElement('tr');
      const name = document.createElement('th');
      name.scope = 'row';
      const token = document.createElement('bdi');
      token.textContent = bar.label;
      name.append(token);
      if (bar.id === next.actual?.id) {
        const mark = document.createElement('span');
        mark.className = 'model-actual';
        mark.textContent = t('model.next.actual');
        name.append(' ', mark);
      }
      row.append(name, ...STEPS.map((step) => barCell(bar[step])));
      return row;
    });
    this.find('tbody', HTMLElement).replaceChildren(...rows);
    const { keptK, keptP, vocabulary, entropy, actual } = next;
    const parts = [
      cutSentence(next),
      t('model.next.kept', { vocabulary, keptK, keptP }),
      t('model.next.entropy', {
        entropy: digits(entropy, 3),
        choices: digits(Math.exp(entropy), 3),
      }),
    ];
    if (actual) parts.push(t('model.next.follows', { token: actual.label, p: percent(actual.p) }));
    this.setText('.model-kept', sentences(...parts));
  }
}

/** What the ablated heads do to the likeliest token; nothing if none is ablated. */
export function cutSentence({ label: token, cut, bars }: NextToken): string {
  if (!cut) return '';
  const names = cut.heads.map((head) => head.join('.')).join(', ');
  const [whole, without] = [percent(cut.whole), percent(cut.cut)];
  const first = bars[0]?.label ?? '';
  const values = { names, token, label: cut.label, whole, without };
  if (first === cut.label) return t('model.next.cutSame', values);
  return t('model.next.cut', { ...values, first });
}

function barCell(p: number | null): HTMLTableCellElement {
  const cell = document.createElement('td');
  if (p === null) {
    cell.className = 'model-dropped';
    cell.textContent = t('model.next.dropped');
    return cell;
  }
  const bar = document.createElement('span');
  const fill = document.createElement('i');
  const value = document.createElement('span');
  bar.className = 'bar';
  fill.style.width = `${100 * p}%`;
  value.className = 'value';
  value.textContent = percent(p);
  bar.append(fill);
  cell.append(bar, value);
  return cell;
}
