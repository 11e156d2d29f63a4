import { D_MODEL } from '../../engine/sources';
import type { Frame } from '../../engine/protocol';
import type { Size } from '../../engine/surface';
import type { Figure } from '../../export/figure';
import { positionsFigure } from '../../export/positions';
import { t } from '../../i18n';
import { palette } from '../../matrix/palette';
import { MatrixView, type Cell, type MatrixModel } from '../../matrix/view';
import { digits } from '../../numbers';
import { CompositePanel, isCurrent, Panel, type View } from '../panel';
import { RotationPart } from './rotation';
import { ShiftPart } from './shift';

const HOME: Cell = { row: 3, col: 8 };
const ROW_HEIGHT = 6;
/** More positions than this do not fit the height of the picture. */
const ROWS = 128;

/** The encoding as a picture, and its shift as a rotation: the parts share one crosshair. */
export class PositionsPanel extends CompositePanel {
  parts: readonly Panel[] = [];
  #view: View | null = null;

  protected template(): string {
    return `
      <div class="card encoding">
        <qkv-encoding></qkv-encoding>
        <div class="shift-side">
          <h3 data-t="shift.title"></h3>
          <p data-t="shift.intro"></p>
          <qkv-shift></qkv-shift>
        </div>
        <qkv-rotation></qkv-rotation>
      </div>`;
  }

  protected override ready(): void {
    this.parts = [
      this.find('qkv-encoding', EncodingPart),
      this.find('qkv-shift', ShiftPart),
      this.find('qkv-rotation', RotationPart),
    ];
    this.addEventListener('cell-shown', () => this.#tell());
  }

  override update(view: View): void {
    this.#view = view;
    super.update(view);
    this.#tell();
  }

  #tell(): void {
    if (!this.#view?.frame) return;
    const encoding = this.find('qkv-encoding', EncodingPart);
    encoding.tell(this.#view.frame);
    this.find('qkv-rotation', RotationPart).tell(this.#view.frame, encoding.matrix.shown);
  }

  override figure(view: View): Promise<Figure | null> {
    const { canvas } = this.find('qkv-encoding', EncodingPart).matrix;
    return Promise.resolve(view.frame && positionsFigure(view.frame, canvas));
  }
}

/** The sinusoidal encoding as a picture: a position in every row, a dimension in every column. */
export class EncodingPart extends Panel {
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
      </div>`;
  }

  protected override ready(): void {
    this.give('encoding', this.matrix.canvas);
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  override surfaces(): Record<string, Size> {
    return this.matrix.hidden ? {} : { encoding: this.matrix.size };
  }

  update(view: View): void {
    const { frame, engine } = view;
    const tokens = isCurrent(view) ? view.list.tokens : null;
    if (!this.changed(frame?.encoding, frame?.shift, tokens, engine.kind, view.look)) return;
    this.find('.placeholder', HTMLElement).hidden = frame !== null;
    this.find('.legend', HTMLElement).hidden = frame === null;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'map.loading'));
    this.matrix.model = frame ? encodingModel(frame, view.look) : null;
    if (frame) this.#paintLegend();
  }

  /** The part that follows the crosshair. */
  tell(frame: Frame): void {
    const { shown } = this.matrix;
    if (!shown) return;
    const value = encodingAt(frame, shown);
    this.find('.legend-now', HTMLElement).style.left = `${(value + 1) * 50}%`;
    this.setText('.told', describeEncoding(frame, shown));
  }

  #paintLegend(): void {
    const image = new ImageData(255, 1);
    image.data.set(palette().diverging.subarray(4));
    this.find('.legend canvas', HTMLCanvasElement).getContext('2d')?.putImageData(image, 0, 0);
  }
}

function encodingAt(frame: Frame, { row, col }: Cell): number {
  return frame.encoding.data[row * D_MODEL + col] ?? NaN;
}

const numbersTo = (count: number) => Array.from({ length: count }, (_, i) => String(i));
const dimensions = numbersTo(D_MODEL);
let positions: readonly string[] = [];

function encodingModel(frame: Frame, look: number): MatrixModel {
  const { length } = frame.encoding;
  const sentence = frame.request.layer.tokens.length;
  if (positions.length !== length) positions = numbersTo(length);
  return {
    rows: length,
    cols: D_MODEL,
    rowLabels: positions,
    colLabels: dimensions,
    rowHeight: length <= ROWS ? ROW_HEIGHT : (ROW_HEIGHT * ROWS) / length,
    look,
    name: t('positions.name', { rows: length, cols: D_MODEL }),
    home: HOME,
    bracket: sentence > 0 ? [0, sentence] : null,
    partner: ({ row }) => row + frame.shift.k,
    describe: (cell) => describeEncoding(frame, cell),
  };
}

function describeEncoding(frame: Frame, cell: Cell): string {
  const values = {
    position: cell.row,
    dimension: cell.col,
    value: digits(encodingAt(frame, cell)),
  };
  const token = frame.request.layer.tokens[cell.row];
  return token === undefined
    ? t('positions.cell', values)
    : t('positions.cellToken', { ...values, token });
}

customElements.define('qkv-encoding', EncodingPart);
customElements.define('qkv-panel-positions', PositionsPanel);
