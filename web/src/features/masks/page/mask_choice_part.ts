import formulas from '../formulas.json';
import { t } from '../feature';
import { MASK_KINDS, SIZED } from '../shared/mask_grid';
import { LIMITS } from '../../../state/state';
import { headName } from '../../head_names';
import { Panel, type View } from '../../panel';
import { radiosHtml } from '../../../ui/controls';

const kinds = radiosHtml('mask-kind', MASK_KINDS, (kind) => `masks.${kind}`);

/** Which mask, how wide, and what it does to the rows. */
export class ChoicePart extends Panel {
  protected template(): string {
    const [least, most] = LIMITS.maskSize;
    return `
      <div data-control>
        <fieldset class="segmented wrapped"><legend class="visually-hidden" data-t="masks.kind"></legend>${kinds}</fieldset>
        <div class="control size">
          <label for="mask-size"></label>
          <div class="with-number">
            <input id="mask-size" type="range" min="${least}" max="${most}" step="1">
            <output for="mask-size"></output>
          </div>
        </div>
      </div>
      <p class="how"></p>
      <div class="formula">${formulas.maskedWeight}</div>
      <p class="hint about"></p>
      <p class="note empty-rows" role="status" hidden></p>`;
  }

  protected override ready(): void {
    this.addEventListener('change', ({ target }) => {
      const kind = MASK_KINDS.find((name) => (target as HTMLInputElement).value === name);
      if (kind) this.change({ maskKind: kind });
    });
    const slider = this.find('#mask-size', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ maskSize: +slider.value }));
  }

  update({ state, frame, list }: View): void {
    const { maskKind, maskSize } = state;
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=mask-kind]')) {
      radio.checked = radio.value === maskKind;
    }
    const slider = this.find('#mask-size', HTMLInputElement);
    slider.value = String(maskSize);
    this.find('.size', HTMLElement).hidden = !SIZED.has(maskKind);
    const sized = maskKind === 'padding' || maskKind === 'prefix' ? maskKind : 'window';
    this.setText('.size label', t(`masks.${sized}Size`));
    this.setText('output', String(maskSize));
    slider.setAttribute('aria-valuetext', t(`masks.${sized}Spoken`, { count: maskSize }));
    this.setText('.how', t(`masks.${maskKind}How`));
    const result = frame?.masks;
    const note = this.find('.empty-rows', HTMLElement);
    if (!frame || !result || list.tokens.length === 0) {
      note.hidden ||= list.tokens.length === 0;
      return;
    }
    const { layer } = frame.request;
    const about = {
      head: headName(layer, result.head),
      temperature: layer.temperature,
      positions: layer.source === 'yours' ? '–' : t(`positions.${layer.positions}`),
      count: result.tokens.length,
      total: layer.tokens.length,
    };
    const whole = about.count === about.total;
    this.setText('.about', t(whole ? 'masks.about' : 'masks.aboutFirst', about));
    const { empty, tokens } = result;
    note.hidden = empty.length === 0;
    const names = empty.map((row) => `${row} “${tokens[row] ?? ''}”`).join(t('page.comma'));
    this.setText('.empty-rows', empty.length > 0 ? t('masks.empty', { names }) : '');
  }
}

customElements.define('qkv-mask-choice', ChoicePart);
