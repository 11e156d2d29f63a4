import { t } from '../../i18n';
import { digits } from '../../numbers';
import { LIMITS } from '../../state';
import { Panel, type View } from '../panel';

/** PE(p + k) = M_k PE(p) for a k of the reader's choice, and how nearly it holds. */
export class ShiftPart extends Panel {
  protected template(): string {
    const [least, most] = LIMITS.shift;
    return `
      <div class="control" data-control>
        <label for="shift" data-t="shift.label"></label>
        <div class="with-number">
          <input id="shift" type="range" min="${least}" max="${most}" step="1">
          <output for="shift"></output>
        </div>
      </div>
      <p class="residual"><span data-t="shift.residual"></span> <strong></strong></p>
      <p class="hint note-rows"></p>`;
  }

  protected override ready(): void {
    const slider = this.find('#shift', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ shift: +slider.value }));
  }

  update({ frame, state }: View): void {
    this.find('#shift', HTMLInputElement).value = String(state.shift);
    this.setText('output', `k = ${state.shift}`);
    this.find('.residual', HTMLElement).hidden = frame === null;
    this.find('.note-rows', HTMLElement).hidden = frame === null;
    if (!frame) return;
    this.setText('.residual strong', digits(frame.shift.residual, 2));
    this.setText('.note-rows', t('shift.note', { rows: frame.encoding.length }));
  }
}

customElements.define('qkv-shift', ShiftPart);
