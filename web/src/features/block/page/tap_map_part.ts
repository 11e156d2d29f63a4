import { html, type TemplateResult } from 'lit-html';
import { digits } from '../../../ui/numbers';
import { isAllowed } from '../../../domain/rows';
import { legendMark, legendScale } from '../../../ui/lit/legends';
import type { Cell } from '../../../ui/matrix/cell';
import { palette } from '../../../ui/matrix/palette';
import type { MatrixModel } from '../../../ui/matrix/view';
import { MatrixPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { cividis } from '../../../domain/cividis';
import type { HeadSource } from '../../../domain/sources';
import { headName } from '../../head_names';
import type { TapId } from '../shared/constants';
import type { BlockView } from '../worker/frame_feature';
import { isRenamed } from './diagram_part';
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
export class TapMapPart extends MatrixPanel {
  protected readonly surface = 'block';
  /** What is said above the matrix stays while nothing is computed. */
  #latest: BlockView | null = null;

  protected inputs({ frame, query, look }: View): readonly unknown[] {
    return [frame?.block, query, look];
  }

  protected render({ heads, frame, query, look }: View): TemplateResult {
    const block = frame?.block ?? null;
    this.#latest = block ?? this.#latest;
    this.matrix.model = block && frame && tapModel(block, frame.request.layer, query, look);
    const tap = this.#latest?.shown;
    return html`
      <h3 class="tap-title">${tap && titleOf(this.#latest, tap.id)}</h3>
      <p class="tap-about">${tap && t(aboutOf(this.#latest, tap.id), { head: headName(heads, tap.head) })}</p>
      ${this.matrix}
      ${legendOf(block, this.matrix.shown)}`;
  }
}

/** What a trained layer says of its places in its own words. */
const LEARNED = ['input', 'concat', 'attention', 'hidden', 'forward', 'sum2'] as const;

function titleOf(block: BlockView | null, id: TapId): string {
  return block?.learned && isRenamed(id) ? t(`block.learned.${id}`) : t(`block.${id}`);
}

function aboutOf(block: BlockView | null, id: TapId) {
  const own = LEARNED.find((each) => each === id);
  return block?.learned && own
    ? (`block.learned.${own}.about` as const)
    : (`block.${id}.about` as const);
}

/** The colours, where the cell is among them, and the cell in words. */
function legendOf(block: BlockView | null, cell: Cell | null): TemplateResult {
  const isOfWeights = block?.shown.id === 'weights';
  const range = block?.shown.range ?? 0;
  const ramp = (isOfWeights ? cividis : palette().diverging).subarray(4);
  const ticks = (isOfWeights ? [0, 0.5, 1] : [-range, 0, range]).map((tick) => digits(tick, 3));
  const value = block && cell ? valueAt(block, cell) : NaN;
  const mark = legendMark(isOfWeights ? value : (value / range + 1) / 2);
  return html`<div class="legend" ?hidden=${!block}>
    ${legendScale(ramp, ticks, mark)}
    <p class="described">${block && cell && describe(block, cell)}</p>
  </div>`;
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
  const name = titleOf(result, id);
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
