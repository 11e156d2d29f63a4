import type { Frame } from '../../engine/protocol';
import { D_MODEL } from '../../engine/sources';
import { t } from '../../i18n';
import type { Cell } from '../../matrix/view';
import { Panel, type View } from '../panel';

const SUBSCRIPTS = '₀₁₂₃₄₅₆₇₈₉';

const column = (name: string, cells: number) => `
  <span class="column">
    <span class="brackets ${cells === 4 ? 'square' : ''}" data-of="${name}">${'<i></i>'.repeat(cells)}</span>
    <span class="under" data-under="${name}"></span>
  </span>`;

/** The shift written out for one pair of dimensions: a rotation with all its numbers. */
export class RotationPart extends Panel {
  protected template(): string {
    return `
      <p class="caption"></p>
      <div class="equation">
        <span>${column('block', 4)}${column('from', 2)}</span>
        <span><span class="sign">=</span>${column('product', 2)}</span>
        <span><span class="sign">≈</span>${column('to', 2)}</span>
      </div>`;
  }

  update({ frame }: View): void {
    this.hidden = frame === null;
  }

  /** The part that follows the crosshair of the encoding. */
  tell(frame: Frame, place: Cell | null): void {
    if (!place) return;
    const { k, blocks, shifted } = frame.shift;
    const pair = place.col >> 1;
    const at = place.row * D_MODEL + pair * 2;
    const block = Array.from(blocks.subarray(pair * 4, pair * 4 + 4));
    const from = Array.from(frame.encoding.data.subarray(at, at + 2));
    const below = String(k).replace(/\d/g, (digit) => SUBSCRIPTS.charAt(Number(digit)));
    this.#write('block', block, `M${below}`);
    this.#write('from', from, `PE(${place.row})`);
    this.#write('product', multiply(block, from), t('shift.product'));
    this.#write('to', Array.from(shifted.subarray(at, at + 2)), `PE(${place.row + k})`);
    const names = { first: pair * 2, second: pair * 2 + 1, position: place.row };
    this.setText('.caption', t('shift.pair', names));
  }

  #write(name: string, values: readonly number[], under: string): void {
    this.querySelectorAll(`[data-of=${name}] i`).forEach((cell, i) => {
      cell.textContent = fixed(values[i] ?? NaN);
    });
    this.setText(`[data-under=${name}]`, under);
  }
}

function fixed(value: number): string {
  return value.toFixed(6).replace('-', '−');
}

function multiply(block: readonly number[], vector: readonly number[]): number[] {
  const [a = NaN, b = NaN, c = NaN, d = NaN] = block;
  const [x = NaN, y = NaN] = vector;
  return [a * x + b * y, c * x + d * y];
}

customElements.define('qkv-rotation', RotationPart);
