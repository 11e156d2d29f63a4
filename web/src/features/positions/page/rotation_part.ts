import { html, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { columnsOfPair } from '../../../domain/pair_table';
import { t } from '../feature';
import { formula } from '../../../ui/lit/texts';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';

/** The shift written out for one pair of dimensions: a rotation with all its numbers. */
export class RotationPart extends LitPanel {
  protected inputs({ frame, state, look }: View): readonly unknown[] {
    const positions = frame?.positions;
    return [positions?.place, positions?.shift, state.pair, look];
  }

  protected render({ frame, state: { pair } }: View): TemplateResult {
    const positions = frame?.positions;
    this.hidden = !positions;
    if (!positions) return html``;
    const { shift, encoding, place } = positions;
    const { p, k, from, to } = place;
    const [first, second] = columnsOfPair(encoding.layout, pair);
    const block = Array.from(shift.blocks.subarray(pair * 4, pair * 4 + 4));
    const pick = (row: Float32Array) => [row[first] ?? NaN, row[second] ?? NaN];
    const below = String(k).replace(/\d/g, (digit) => SUBSCRIPTS.charAt(Number(digit)));
    return html`
      <div class="formula">${formula(formulas.block)}</div>
      <p class="caption">${t('shift.pair', { first, second, position: p })}</p>
      <div class="equation">
        <span>${column('block', block, `M${below}`)}${column('from', pick(from), `PE(${p})`)}</span>
        <span><span class="sign">=</span>${column('product', multiply(block, pick(from)), t('shift.product'))}</span>
        <span><span class="sign">≈</span>${column('to', pick(to), `PE(${p + k})`)}</span>
      </div>`;
  }
}

const column = (name: string, values: readonly number[], under: string) => html`
  <span class="column">
    <span class="brackets ${values.length === 4 ? 'square' : ''}" data-of=${name}>${values.map((value) => html`<i>${fixed(value)}</i>`)}</span>
    <span class="under" data-under=${name}>${under}</span>
  </span>`;

const fixed = (value: number) => value.toFixed(6).replace('-', '−');

function multiply(block: readonly number[], vector: readonly number[]): number[] {
  const [a = NaN, b = NaN, c = NaN, d = NaN] = block;
  const [x = NaN, y = NaN] = vector;
  return [a * x + b * y, c * x + d * y];
}

customElements.define('qkv-rotation', RotationPart);
