import formulas from '../formulas.json';
import { columnsOfPair } from '../shared/pair_table';
import type { PositionsResult } from '../worker/frame_feature';
import { t } from '../feature';
import { Panel, type View } from '../../panel';

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
      <div class="formula">${formulas.block}</div>
      <p class="caption"></p>
      <div class="equation">
        <span>${column('block', 4)}${column('from', 2)}</span>
        <span><span class="sign">=</span>${column('product', 2)}</span>
        <span><span class="sign">≈</span>${column('to', 2)}</span>
      </div>`;
  }

  update({ frame, state, look }: View): void {
    const positions = frame?.positions;
    this.hidden = !positions;
    if (!positions || !this.changed(positions.place, positions.shift, state.pair, look)) return;
    this.#tell(positions, state.pair);
  }

  #tell({ shift, encoding, place }: PositionsResult, pair: number): void {
    const { p, k, from, to } = place;
    const columns = columnsOfPair(encoding.layout, pair);
    const block = Array.from(shift.blocks.subarray(pair * 4, pair * 4 + 4));
    const pick = (row: Float32Array) => columns.map((col) => row[col] ?? NaN);
    const below = String(k).replace(/\d/g, (digit) => SUBSCRIPTS.charAt(Number(digit)));
    this.#write('block', block, `M${below}`);
    this.#write('from', pick(from), `PE(${p})`);
    this.#write('product', multiply(block, pick(from)), t('shift.product'));
    this.#write('to', pick(to), `PE(${p + k})`);
    const [first, second] = columns;
    this.setText('.caption', t('shift.pair', { first, second, position: p }));
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
