import { t } from '../i18n';
import { digits, headEntropy } from '../numbers';
import { clampTemperature, LIMITS } from '../state';
import { Panel, type View } from './panel';

/** The slider is the exponent: tau = 10 ^ (value / 100), so that 1 is in the middle. */
const toSlider = (temperature: number) => Math.round(Math.log10(temperature) * 100);
const fromSlider = (value: number) => clampTemperature(10 ** (value / 100));

/** What can be turned on the layer: temperature, causal mask, positions, and the weights' seed. */
export class ControlsPanel extends Panel {
  protected template(): string {
    const [least, most] = LIMITS.temperature;
    const ends = `min="${toSlider(least)}" max="${toSlider(most)}"`;
    return `
      <div class="control wide">
        <label for="temperature" data-t="controls.temperature"></label>
        <div class="with-number">
          <input id="temperature" type="range" ${ends} step="1" list="temperature-marks">
          <datalist id="temperature-marks"><option value="0"></option></datalist>
          <input id="temperature-number" type="number" min="${least}" max="${most}" step="any"
            data-t-label="controls.temperatureNumber">
        </div>
        <div class="ends"><span data-t="controls.sharp"></span><span data-t="controls.even"></span></div>
      </div>
      <label class="control switch">
        <input id="causal" type="checkbox" role="switch"><span data-t="controls.causal"></span>
      </label>
      <label class="control switch">
        <input id="positions" type="checkbox" role="switch"><span data-t="controls.positions"></span>
      </label>
      <div class="control seed">
        <label for="seed" data-t="controls.seed"></label>
        <div class="with-number">
          <input id="seed" type="number" min="${LIMITS.seed[0]}" max="${LIMITS.seed[1]}" step="1">
          <button type="button" class="button" id="new-seed" data-t="controls.newSeed"></button>
        </div>
      </div>`;
  }

  protected override ready(): void {
    const slider = this.#input('#temperature');
    slider.addEventListener('input', () => this.change({ temperature: fromSlider(+slider.value) }));
    this.#onNumber('#temperature-number', (value) => {
      this.change({ temperature: clampTemperature(value) });
    });
    this.#onNumber('#seed', (value) => {
      const [least, most] = LIMITS.seed;
      this.change({ seed: Math.min(most, Math.max(least, Math.round(value))) });
    });
    for (const name of ['causal', 'positions'] as const) {
      const box = this.#input(`#${name}`);
      box.addEventListener('change', () => this.change({ [name]: box.checked }));
    }
    this.find('#new-seed', HTMLElement).addEventListener('click', () => {
      this.change({ seed: Math.floor(Math.random() * (LIMITS.seed[1] + 1)) });
    });
  }

  #input(selector: string): HTMLInputElement {
    return this.find(selector, HTMLInputElement);
  }

  /** Takes what is typed when it is a number; on leaving, the box shows what was taken. */
  #onNumber(selector: string, take: (value: number) => void): void {
    const box = this.#input(selector);
    box.addEventListener('change', () => {
      if (box.value.trim() !== '' && Number.isFinite(box.valueAsNumber)) take(box.valueAsNumber);
      else box.value = box.defaultValue;
      box.value = box.defaultValue;
    });
  }

  update(view: View): void {
    const { state, frame } = view;
    const slider = this.#input('#temperature');
    slider.value = String(toSlider(state.temperature));
    this.#show('#temperature-number', state.temperature);
    this.#show('#seed', state.seed);
    this.#input('#causal').checked = state.causal;
    this.#input('#positions').checked = state.positions;
    const spoken = { value: state.temperature };
    if (!frame || frame.request.tokens.length === 0) {
      slider.setAttribute('aria-valuetext', t('controls.spoken', spoken));
      return;
    }
    const { mean, most } = headEntropy(frame, state.head);
    const numbers = { ...spoken, entropy: digits(mean, 3), most: digits(most, 3) };
    slider.setAttribute('aria-valuetext', t('controls.spokenEntropy', numbers));
  }

  /** `defaultValue` remembers what the state says, so a bad entry can go back to it. */
  #show(selector: string, value: number): void {
    const box = this.#input(selector);
    box.defaultValue = String(value);
    if (document.activeElement !== box) box.value = box.defaultValue;
  }
}

customElements.define('qkv-controls', ControlsPanel);
