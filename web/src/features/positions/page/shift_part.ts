import formulas from '../formulas.json';
import { LAYOUTS } from '../shared/pair_table';
import { t } from '../feature';
import { digits } from '../../../ui/numbers';
import { LIMITS } from '../../../state/state';
import { onNumber, showNumber } from '../../../ui/number_box';
import { clamp } from '../../../state/field';
import { Panel, type View } from '../../panel';
import { radiosHtml } from '../../../ui/controls';

/** Steps of the slider for one doubling of p + 1: it is as fine at 3 as at 30000. */
const OCTAVE = 40;
const toSlider = (p: number) => Math.round(Math.log2(p + 1) * OCTAVE);
const fromSlider = (value: number) => Math.round(2 ** (value / OCTAVE)) - 1;

const layouts = radiosHtml('pair-layout', LAYOUTS, (name) => `layout.${name}`);

/** PE(p + k) = M_k PE(p) for a p and a k of the reader's choice, and how nearly it holds. */
export class ShiftPart extends Panel {
  #position = 0;

  protected template(): string {
    const [least, most] = LIMITS.shift;
    const [first, last] = LIMITS.position;
    return `
      <h3 data-t="shift.title"></h3>
      <div class="formula">${formulas.shift}</div>
      <p data-t="shift.intro"></p>
      <div class="control" data-control>
        <label for="position" data-t="shift.position"></label>
        <div class="with-number">
          <input id="position" type="range" min="0" max="${toSlider(last)}" step="1">
          <input id="position-number" type="number" min="${first}" max="${last}" step="1"
            data-t-label="shift.positionNumber">
        </div>
      </div>
      <div class="control" data-control>
        <label for="shift" data-t="shift.label"></label>
        <div class="with-number">
          <input id="shift" type="range" min="${least}" max="${most}" step="1">
          <output for="shift"></output>
        </div>
      </div>
      <div class="control" data-control>
        <span id="layout-name" data-t="layout.title"></span>
        <fieldset class="segmented" aria-labelledby="layout-name">${layouts}</fieldset>
      </div>
      <p class="residual"><span data-t="shift.residual"></span> <strong></strong></p>
      <p class="hint note-rows"></p>`;
  }

  protected override ready(): void {
    const slider = this.find('#shift', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ shift: +slider.value }));
    const position = this.find('#position', HTMLInputElement);
    position.addEventListener('input', () => {
      const step = +position.value - toSlider(this.#position);
      const to = fromSlider(+position.value);
      // Near 0 a step of the slider is less than one position, and must move all the same.
      const moved = to === this.#position ? to + Math.sign(step) : to;
      this.change({ position: clamp(moved, LIMITS.position) });
    });
    onNumber(
      this.find('#position-number', HTMLInputElement),
      (typed) => clamp(Math.round(typed), LIMITS.position),
      (position) => this.change({ position }),
    );
    this.addEventListener('change', ({ target }) => {
      const layout = LAYOUTS.find((name) => (target as HTMLInputElement).value === name);
      if (layout) this.change({ layout });
    });
  }

  update({ frame, state }: View): void {
    const { position, shift } = state;
    const positions = frame?.positions;
    this.#position = position;
    const slider = this.find('#position', HTMLInputElement);
    slider.value = String(toSlider(position));
    slider.setAttribute('aria-valuetext', `p = ${position}`);
    showNumber(this.find('#position-number', HTMLInputElement), position);
    const distance = this.find('#shift', HTMLInputElement);
    distance.value = String(shift);
    distance.setAttribute('aria-valuetext', `k = ${shift}`);
    this.setText('output', `k = ${shift}`);
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=pair-layout]')) {
      radio.checked = radio.value === state.layout;
    }
    this.find('.residual', HTMLElement).hidden = !positions;
    this.find('.note-rows', HTMLElement).hidden = !positions;
    if (!positions) return;
    this.setText('.residual strong', digits(positions.shift.residual, 2));
    this.setText('.note-rows', t('shift.note', { rows: positions.encoding.length }));
  }
}

customElements.define('qkv-shift', ShiftPart);
