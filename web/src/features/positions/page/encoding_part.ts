import { paintRamp } from '../../../ui/matrix/legend';
import type { Cell } from '../../../ui/matrix/cell';
import { columnsOfPair, pairOfColumn } from '../shared/pair_table';
import { D_MODEL } from '../../../domain/sources';
import type { PositionsResult } from '../worker/frame_feature';
import type { Size } from '../../../domain/pixels';
import { t } from '../feature';
import { palette } from '../../../ui/matrix/palette';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import { isCurrent, Panel, type View } from '../../panel';

const ROW_HEIGHT = 6;
/** More positions than this do not fit the height of the picture. */
const ROWS = 128;

/** What the picture is of. */
interface Shown {
  readonly of: PositionsResult;
  readonly tokens: readonly string[];
}

/** The sinusoidal encoding as a picture: a position in every row, a dimension in every column. */
export class EncodingPart extends Panel {
  #shown: Shown | null = null;

  protected template(): string {
    return `
      <p class="axes" data-t="positions.axes"></p>
      <qkv-matrix></qkv-matrix>
      <p class="placeholder"></p>
      <div class="legend">
        <div class="legend-scale">
          <canvas width="255" height="1" aria-hidden="true"></canvas>
          <span class="legend-now" aria-hidden="true"></span>
          <div class="ticks"><span>−1</span><span>0</span><span>1</span></div>
        </div>
        <p class="told"></p>
      </div>
      <p class="hint pick"></p>`;
  }

  protected override ready(): void {
    this.give('encoding', this.matrix.canvas);
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
    this.addEventListener('cell-shown', () => this.#tell());
    this.addEventListener('cell-pinned', (event) => {
      const cell = (event as CustomEvent<Cell | null>).detail;
      if (!cell || !this.#shown) return;
      this.matrix.unpin(); // the cell becomes the place that is followed, and the crosshair's home
      const pair = pairOfColumn(this.#shown.of.encoding.layout, cell.col);
      this.change({ position: cell.row, pair });
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  override surfaces(): Record<string, Size> {
    return this.matrix.hidden ? {} : { encoding: this.matrix.size };
  }

  update(view: View): void {
    const { frame, engine, state } = view;
    // Out of sight nothing is computed: what was shown stays.
    if (frame?.positions) {
      this.#shown = { of: frame.positions, tokens: frame.request.layer.tokens };
    }
    const shown = this.#shown;
    const tokens = isCurrent(view) ? view.list.tokens : null;
    const place = [state.position, state.pair, engine.kind, view.look];
    if (!this.changed(shown?.of.encoding, shown?.of.shift, tokens, ...place)) return;
    this.find('.placeholder', HTMLElement).hidden = shown !== null;
    this.find('.legend', HTMLElement).hidden = shown === null;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'map.loading'));
    this.matrix.model = shown && encodingModel(shown, view);
    if (shown) this.#paintLegend();
    const beyond = shown !== null && state.position >= shown.of.encoding.length;
    this.setText('.pick', t(beyond ? 'positions.beyond' : 'positions.pick', { p: state.position }));
    this.#tell();
  }

  /** The part that follows the crosshair. */
  #tell(): void {
    const { shown } = this.matrix;
    if (!shown || !this.#shown) return;
    const value = encodingAt(this.#shown, shown);
    this.find('.legend-now', HTMLElement).style.left = `${(value + 1) * 50}%`;
    this.setText('.told', describeEncoding(this.#shown, shown));
  }

  #paintLegend(): void {
    paintRamp(this, palette().diverging.subarray(4));
  }
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
