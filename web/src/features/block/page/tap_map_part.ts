import { paintRamp } from '../../../ui/matrix/legend';
import type { Size } from '../../../domain/pixels';
import { digits } from '../../../ui/numbers';
import { isAllowed } from '../../../domain/rows';
import type { Cell } from '../../../ui/matrix/cell';
import { palette } from '../../../ui/matrix/palette';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { Panel, type View } from '../../panel';
import { cividis } from '../../../domain/cividis';
import type { HeadSource } from '../../../domain/sources';
import { headName } from '../../head_names';
import type { BlockView } from '../worker/frame_feature';
import { t } from '../feature';

/** Rows are this high where there is room, and lower for many tokens. */
const ROW_HEIGHT = 24;
const HEIGHT = 400;

const numbered = new Map<number, readonly string[]>();
function numbersTo(count: number): readonly string[] {
  const known = numbered.get(count) ?? Array.from({ length: count }, (_, i) => String(i));
  numbered.set(count, known);
  return known;
}

/** The matrix at the chosen tap: a token in every row. */
export class TapMapPart extends Panel {
  #shown: BlockView | null = null;

  protected template(): string {
    return `
      <h3 class="tap-title"></h3>
      <p class="tap-about"></p>
      <qkv-matrix></qkv-matrix>
      <div class="legend">
        <div class="legend-scale">
          <canvas width="255" height="1" aria-hidden="true"></canvas>
          <span class="legend-now" aria-hidden="true"></span>
          <div class="ticks"><span></span><span></span><span></span></div>
        </div>
        <p class="told"></p>
      </div>`;
  }

  protected override ready(): void {
    this.give('block', this.matrix.canvas);
    this.addEventListener('cell-shown', () => this.#tell());
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  override surfaces(): Record<string, Size> {
    return { block: this.matrix.size };
  }

  update({ heads, frame, query, look }: View): void {
    const result = frame?.block ?? null;
    if (!this.changed(result, query, look)) return;
    this.#shown = result;
    this.matrix.model = result && frame && tapModel(result, frame.request.layer, query, look);
    this.find('.legend', HTMLElement).hidden = result === null;
    if (!result) return;
    const { id, head } = result.shown;
    const names = { head: headName(heads, head) };
    this.setText('.tap-title', t(`block.${id}`));
    this.setText('.tap-about', t(`block.${id}.about`, names));
    this.#legend(result);
    this.#tell();
  }

  #legend({ shown: { id, range } }: BlockView): void {
    const weights = id === 'weights';
    paintRamp(this, (weights ? cividis : palette().diverging).subarray(4));
    const ticks = weights ? [0, 0.5, 1] : [-range, 0, range];
    this.querySelectorAll('.ticks span').forEach((tick, i) => {
      tick.textContent = digits(ticks[i] ?? NaN, 3);
    });
  }

  #tell(): void {
    const { shown: cell } = this.matrix;
    const result = this.#shown;
    if (!cell || !result) return;
    const { id, range } = result.shown;
    const value = valueAt(result, cell);
    const at = id === 'weights' ? value : (value / range + 1) / 2;
    const now = this.find('.legend-now', HTMLElement);
    now.hidden = !Number.isFinite(at);
    if (!now.hidden) now.style.left = `${at * 100}%`;
    this.setText('.told', describe(result, cell));
  }
}

/** NaN where masked. */
function valueAt({ shown }: BlockView, { row, col }: Cell): number {
  const { id, mask, rows, cols, data } = shown;
  if (id === 'weights' && !isAllowed(mask, row, col, rows)) return NaN;
  return data[row * cols + col] ?? NaN;
}

function describe(result: BlockView, { row, col }: Cell): string {
  const { shown, tokens } = result;
  const value = valueAt(result, { row, col });
  const token = tokens[row] ?? '';
  if (shown.id !== 'weights') return t('block.cell', { row, token, col, value: digits(value) });
  const names = { row, query: token, col, key: tokens[col] ?? '' };
  if (Number.isNaN(value)) return t('map.cellMasked', names);
  return t('block.cellWeight', { ...names, value: digits(value) });
}

function tapModel(result: BlockView, of: HeadSource, query: number, look: number): MatrixModel {
  const { shown, tokens } = result;
  const { id, head, rows, cols } = shown;
  const weights = id === 'weights';
  const name = t(`block.${id}`);
  return {
    rows,
    cols,
    rowLabels: tokens,
    colLabels: weights ? tokens : numbersTo(cols),
    rowHeight: weights ? 'square' : Math.min(ROW_HEIGHT, HEIGHT / rows),
    look,
    name: weights
      ? t('map.name', { head: headName(of, head), count: rows })
      : t('block.name', { name, rows, cols }),
    home: { row: Math.max(0, Math.min(query, rows - 1)), col: 0 },
    bracket: null,
    describe: (cell) => describe(result, cell),
  };
}

customElements.define('qkv-block-map', TapMapPart);
