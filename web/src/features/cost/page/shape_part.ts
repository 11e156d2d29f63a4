import { html, type TemplateResult } from 'lit-html';
import { checkBox, numeric, options, withValue } from '../../../ui/lit/controls';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
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
] as const;
const FLAGS = ['causal', 'gated'] as const;

/** The page's own layer has as many tokens as the sentence. */
function presetOf(id: PresetId, tokens: number): Shape {
  const shape = PRESETS[id];
  return id === 'page' && tokens > 0 ? { ...shape, tokens } : shape;
}

/** The shape that is counted: one of a paper, or the reader's. */
export class ShapePart extends LitPanel {
  protected inputs({ state, list, look }: View): readonly unknown[] {
    return [state.costShape, list.tokens.length, look];
  }

  protected render({ state: { costShape: shape }, list }: View): TemplateResult {
    const { length } = list.tokens;
    const known = PRESET_IDS.find((id) => sameShape(shape, presetOf(id, length))) ?? 'own';
    const presets = [...PRESET_IDS, 'own'] as const;
    const bytes = NUMBER_BYTES.map(
      (size) => [String(size), t(`cost.bytes.${(size * 2) as 1 | 2 | 4 | 8}`)] as const,
    );
    const choose = (value: string) => {
      const id = PRESET_IDS.find((each) => each === value);
      if (id) this.change({ costShape: presetOf(id, length) });
    };
    const set = (patch: Partial<Shape>) =>
      this.change({ costShape: cleanShape({ ...shape, ...patch }) });
    return html`
      <div class="tools-row cost-shape" data-control>
        <div class="control cost-preset"><label for="cost-preset">${t('cost.preset')}</label>
          <select id="cost-preset" @change=${withValue(choose)}>${options(
            presets.map((id) => [id, t(`cost.preset.${id}`)] as const),
            known,
          )}</select></div>
        ${NUMBERS.map((name) => this.#box(name, shape))}
        <div class="control"><label for="cost-bytes">${t('cost.bytes')}</label>
          <select id="cost-bytes" @change=${withValue((size) => set({ bytes: Number(size) }))}>${options(bytes, String(shape.bytes))}</select></div>
        ${FLAGS.map((name) =>
          checkBox(`cost-${name}`, t(`cost.${name}`), shape[name], (is) => set({ [name]: is })),
        )}
      </div>
      <p class="hint cost-source">${t(`cost.source.${known}`)}</p>`;
  }

  #box(name: (typeof NUMBERS)[number], shape: Shape): TemplateResult {
    const [least, most] = SHAPE_LIMITS[name];
    const cleaned = (typed: number) => cleanShape({ ...shape, [name]: typed });
    const number = {
      value: shape[name],
      nearest: (typed: number) => cleaned(typed)[name],
      take: (value: number) => this.change({ costShape: cleaned(value) }),
    };
    return html`<div class="control"><label for="cost-${name}">${t(`cost.${name}`)}</label>
      <input type="number" id="cost-${name}" min=${least} max=${most} step="1" ${numeric(number)}></div>`;
  }

  /** A link may have bytes that are not offered: then none is chosen, not the first. */
  protected override rendered({ state: { costShape } }: View): void {
    this.find('#cost-bytes', HTMLSelectElement).value = String(costShape.bytes);
  }
}

customElements.define('qkv-cost-shape', ShapePart);
