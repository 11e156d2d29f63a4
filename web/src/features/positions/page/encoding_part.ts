import { html, type TemplateResult } from 'lit-html';
import { legendMark, legendScale } from '../../../ui/lit/legends';
import type { Cell } from '../../../ui/matrix/cell';
import { columnsOfPair, pairOfColumn } from '../../../domain/pair_table';
import { D_MODEL } from '../../../domain/sources';
import type { PositionsResult } from '../worker/frame_feature';
import { t } from '../feature';
import { palette } from '../../../ui/matrix/palette';
import type { MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { MatrixPanel } from '../../lit_panel';
import { isCurrent, type View } from '../../panel';

const ROW_HEIGHT = 6;
/** More positions than this do not fit the height of the picture. */
const ROWS = 128;

/** What the picture is of. */
interface Shown {
  readonly of: PositionsResult;
  readonly tokens: readonly string[];
}

/** The sinusoidal encoding as a picture: a position in every row, a dimension in every column. */
export class EncodingPart extends MatrixPanel {
  protected readonly surface = 'encoding';
  #shown: Shown | null = null;

  protected override ready(): void {
    super.ready();
    this.addEventListener('cell-pinned', (event) => {
      const cell = (event as CustomEvent<Cell | null>).detail;
      if (!cell || !this.#shown) return;
      this.matrix.unpin(); // the cell becomes the place that is followed, and the crosshair's home
      const pair = pairOfColumn(this.#shown.of.encoding.layout, cell.col);
      this.change({ position: cell.row, pair });
    });
  }

  override update(view: View): void {
    // Out of sight nothing is computed: what was shown stays.
    if (view.frame?.positions) {
      this.#shown = { of: view.frame.positions, tokens: view.frame.request.layer.tokens };
    }
    super.update(view);
  }

  protected inputs(view: View): readonly unknown[] {
    const { state, engine, look } = view;
    const of = this.#shown?.of;
    const tokens = isCurrent(view) ? view.list.tokens : null;
    return [of?.encoding, of?.shift, tokens, state.position, state.pair, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const { engine, state } = view;
    const shown = this.#shown;
    this.matrix.model = shown && encodingModel(shown, view);
    const isBeyond = shown !== null && state.position >= shown.of.encoding.length;
    return html`
      <p class="axes">${t('positions.axes')}</p>
      ${this.matrix}
      <p class="placeholder" ?hidden=${shown !== null}>${t(engine.kind === 'failed' ? 'map.failed' : 'map.loading')}</p>
      ${legendOf(shown, this.matrix.shown)}
      <p class="hint pick">${t(isBeyond ? 'positions.beyond' : 'positions.pick', { p: state.position })}</p>`;
  }
}

/** The colours, where the cell is among them, and the cell in words. */
function legendOf(shown: Shown | null, cell: Cell | null): TemplateResult {
  const value = shown && cell ? encodingAt(shown, cell) : NaN;
  const ramp = palette().diverging.subarray(4);
  return html`<div class="legend" ?hidden=${!shown}>
    ${legendScale(ramp, ['−1', '0', '1'], legendMark((value + 1) / 2))}
    <p class="described">${shown && cell && describeEncoding(shown, cell)}</p>
  </div>`;
}

function encodingAt({ of }: Shown, { row, col }: Cell): number {
  return of.encoding.data[row * D_MODEL + col] ?? NaN;
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => String(i));
const dimensions = numbersTo(D_MODEL);
let positions: readonly string[] = [];

function encodingModel(shown: Shown, { state, look }: View): MatrixModel {
  const { length, layout } = shown.of.encoding;
  const sentence = shown.tokens.length;
  if (positions.length !== length) positions = numbersTo(length);
  const [col] = columnsOfPair(layout, state.pair);
  return {
    rows: length,
    cols: D_MODEL,
    rowLabels: positions,
    colLabels: dimensions,
    rowHeight: length <= ROWS ? ROW_HEIGHT : (ROW_HEIGHT * ROWS) / length,
    look,
    name: t('positions.name', { rows: length, cols: D_MODEL }),
    home: { row: Math.min(state.position, length - 1), col },
    bracket: sentence > 0 ? [0, sentence] : null,
    partner: ({ row }) => row + shown.of.shift.k,
    describe: (cell) => describeEncoding(shown, cell),
  };
}

function describeEncoding(shown: Shown, cell: Cell): string {
  const values = {
    position: cell.row,
    dimension: cell.col,
    value: digits(encodingAt(shown, cell)),
  };
  const token = shown.tokens[cell.row];
  return token === undefined
    ? t('positions.cell', values)
    : t('positions.cellToken', { ...values, token });
}

customElements.define('qkv-encoding', EncodingPart);
