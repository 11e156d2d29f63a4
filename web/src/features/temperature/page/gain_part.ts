import { digits } from '../../../ui/numbers';
import { Panel, type View } from '../../panel';
import type { GainResult, GainRow } from '../worker/gain_rows';
import { clampGain } from '../state';
import { t } from '../feature';

const ROWS = ['plain', 'scaled', 'restored'] as const;
/** The slider holds the exponent, so that 1 is in the middle. */
const STEPS = 40;

const toSlider = (gain: number) => Math.round(Math.log2(gain) * (STEPS / 2));
const fromSlider = (value: number) => clampGain(2 ** (value / (STEPS / 2)));

/** What the gain of LayerNorm does to a row, and which temperature undoes it. */
export class GainPart extends Panel {
  protected template(): string {
    const heads = ['setting', 'deviation', 'entropy', 'largest'].map(
      (name) => `<th scope="col" data-t="gain.${name}"></th>`,
    );
    const rows = ROWS.map(
      (row) => `<tr data-row="${row}"><th scope="row"></th><td></td><td></td><td></td></tr>`,
    );
    return `
      <h3 data-t="gain.title"></h3>
      <p class="hint" data-t="gain.intro"></p>
      <label class="gain-control" data-control>
        <span data-t="gain.factor"></span>
        <input type="range" min="${-STEPS}" max="${STEPS}" step="1">
        <output></output>
      </label>
      <div class="gain-table" hidden><table class="data-table"><thead><tr>${heads.join('')}</tr></thead><tbody>${rows.join('')}</tbody></table></div>
      <p class="hint gain-note"></p>`;
  }

  protected override ready(): void {
    const slider = this.find('input', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ gain: fromSlider(slider.valueAsNumber) }));
  }

  update({ state, frame, look }: View): void {
    const slider = this.find('input', HTMLInputElement);
    slider.value = String(toSlider(state.gain));
    slider.setAttribute('aria-valuetext', `c = ${state.gain}`);
    this.setText('output', `c = ${digits(state.gain, 3)}`);
    // Out of sight nothing is computed: what was shown stays.
    const gain = frame?.temperature?.gain;
    if (!gain || !this.changed(gain, look)) return;
    this.find('.gain-table', HTMLElement).hidden = false;
    for (const name of ROWS) this.#tell(name, gain[name]);
    this.setText('.gain-note', noteOf(gain));
  }

  #tell(name: (typeof ROWS)[number], row: GainRow): void {
    const tr = this.find(`[data-row=${name}]`, HTMLTableRowElement);
    const cells = [
      t(`gain.${name}`, { temperature: digits(row.temperature, 3) }),
      digits(row.deviation, 4),
      digits(row.entropy, 4),
      digits(row.largest, 3),
    ];
    cells.forEach((text, i) => {
      const cell = tr.cells[i];
      if (cell) cell.textContent = text;
    });
  }
}

function noteOf({ plain, scaled, difference }: GainResult): string {
  const ratio = digits(scaled.deviation / plain.deviation, 4);
  return t('gain.note', { ratio, difference: digits(difference, 2) });
}

customElements.define('qkv-gain', GainPart);
