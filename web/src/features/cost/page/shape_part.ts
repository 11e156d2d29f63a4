import { Panel, type View } from '../../panel';
import {
  cleanShape,
  NUMBER_BYTES,
  PRESET_IDS,
  PRESETS,
  sameShape,
  SHAPE_LIMITS,
  type PresetId,
  type Shape,
} from '../shared/shape';
import { t } from '../feature';

const NUMBERS = [
  ...['tokens', 'dModel', 'numHeads', 'numKvHeads', 'dK'],
  ...['dFeedForward', 'layers', 'vocabulary'],
] as readonly (keyof typeof SHAPE_LIMITS)[];
const FLAGS = ['causal', 'gated'] as const;

const numberInput = (name: keyof typeof SHAPE_LIMITS) => `
  <div class="control"><label for="cost-${name}" data-t="cost.${name}"></label>
    <input type="number" id="cost-${name}" min="${SHAPE_LIMITS[name][0]}" max="${SHAPE_LIMITS[name][1]}" step="1"></div>`;

/** The shape that is counted: one of a paper, or the reader's. */
export class ShapePart extends Panel {
  #shape: Shape = PRESETS.gpt2;
  #tokens = 0;

  protected template(): string {
    const presets = PRESET_IDS.map(
      (id) => `<option value="${id}" data-t="cost.preset.${id}"></option>`,
    );
    const bytes = NUMBER_BYTES.map(
      (size) => `<option value="${size}" data-t="cost.bytes.${size * 2}"></option>`,
    );
    const flags = FLAGS.map(
      (name) =>
        `<label class="check"><input type="checkbox" id="cost-${name}"> <span data-t="cost.${name}"></span></label>`,
    );
    return `
      <div class="tools-row cost-shape" data-control>
        <div class="control cost-preset"><label for="cost-preset" data-t="cost.preset"></label>
          <select id="cost-preset">${presets.join('')}<option value="own" data-t="cost.preset.own"></option></select></div>
        ${NUMBERS.map(numberInput).join('')}
        <div class="control"><label for="cost-bytes" data-t="cost.bytes"></label>
          <select id="cost-bytes">${bytes.join('')}</select></div>
        ${flags.join('')}
      </div>
      <p class="hint cost-source"></p>`;
  }

  protected override ready(): void {
    const preset = this.find('#cost-preset', HTMLSelectElement);
    preset.addEventListener('change', () => {
      const id = PRESET_IDS.find((one) => one === preset.value);
      if (id) this.change({ costShape: this.#preset(id) });
    });
    for (const name of NUMBERS) {
      const field = this.#field(name);
      field.addEventListener('change', () => this.#set({ [name]: Number(field.value) }));
    }
    const bytes = this.find('#cost-bytes', HTMLSelectElement);
    bytes.addEventListener('change', () => this.#set({ bytes: Number(bytes.value) }));
    for (const name of FLAGS) {
      const box = this.find(`#cost-${name}`, HTMLInputElement);
      box.addEventListener('change', () => this.#set({ [name]: box.checked }));
    }
  }

  #field(name: (typeof NUMBERS)[number]): HTMLInputElement {
    return this.find(`#cost-${name}`, HTMLInputElement);
  }

  /** The page's own layer has as many tokens as the sentence. */
  #preset(id: PresetId): Shape {
    const shape = PRESETS[id];
    return id === 'page' && this.#tokens > 0 ? { ...shape, tokens: this.#tokens } : shape;
  }

  #set(patch: Partial<Shape>): void {
    const shape = cleanShape({ ...this.#shape, ...patch });
    for (const name of NUMBERS) this.#field(name).value = String(shape[name]); // what was typed may be out of range
    this.change({ costShape: shape });
  }

  update({ state, list, look }: View): void {
    this.#shape = state.costShape;
    this.#tokens = list.tokens.length;
    if (this.changed(state.costShape, this.#tokens, look)) this.#show();
  }

  #show(): void {
    const shape = this.#shape;
    const known = PRESET_IDS.find((id) => sameShape(shape, this.#preset(id)));
    this.find('#cost-preset', HTMLSelectElement).value = known ?? 'own';
    this.setText('.cost-source', t(`cost.source.${known ?? 'own'}`));
    for (const name of NUMBERS) {
      const field = this.#field(name);
      if (field !== document.activeElement) field.value = String(shape[name]);
    }
    const bytes = this.find('#cost-bytes', HTMLSelectElement);
    bytes.value = String(NUMBER_BYTES.find((size) => size === shape.bytes) ?? '');
    for (const name of FLAGS) this.find(`#cost-${name}`, HTMLInputElement).checked = shape[name];
  }
}

customElements.define('qkv-cost-shape', ShapePart);
