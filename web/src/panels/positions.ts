import { D_MODEL } from '../engine/model';
import type { Frame } from '../engine/protocol';
import { t } from '../i18n';
import { NOT_A_NUMBER } from '../matrix/paint';
import { palette } from '../matrix/palette';
import { MatrixView, type Cell, type MatrixModel } from '../matrix/view';
import { digits } from '../numbers';
import { Panel, type View } from './panel';

const HOME: Cell = { row: 3, col: 8 };
const ROW_HEIGHT = 6;

/** The sinusoidal encoding as a picture: a position in every row, a dimension in every column. */
export class PositionsPanel extends Panel {
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
    this.querySelectorAll<HTMLElement>('.ticks span').forEach((tick, i) => {
      tick.style.left = `${i * 50}%`;
    });
  }

  get matrix(): MatrixView {
    return this.find('qkv-matrix', MatrixView);
  }

  update(view: View): void {
    const { frame, engine } = view;
    const sentence = frame?.request.tokens.join('\0');
    if (!this.changed(frame?.encoding, frame?.shift, sentence, engine.kind, view.look)) return;
    this.find('.placeholder', HTMLElement).hidden = frame !== null;
    this.find('.legend', HTMLElement).hidden = frame === null;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'map.loading'));
    this.matrix.model = frame ? encodingModel(frame) : null;
    if (frame) this.#paintLegend();
  }

  /** The part that follows the crosshair. */
  updateShown({ frame, place }: View): void {
    if (!frame || !place) return;
    const value = encodingAt(frame, place);
    this.find('.legend-now', HTMLElement).style.left = `${(value + 1) * 50}%`;
    this.setText('.told', describeEncoding(frame, place));
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

function encodingModel(frame: Frame): MatrixModel {
  const { data, length } = frame.encoding;
  const index = (value: number) =>
    Number.isFinite(value) ? 128 + Math.round(127 * value) : NOT_A_NUMBER;
  return {
    rows: length,
    cols: D_MODEL,
    rowLabels: Array.from({ length }, (_, p) => String(p)),
    colLabels: Array.from({ length: D_MODEL }, (_, dim) => String(dim)),
    rowHeight: ROW_HEIGHT,
    cells: Int16Array.from(data, index),
    ramp: palette().diverging,
    name: t('positions.name', { rows: length, cols: D_MODEL }),
    home: HOME,
    bracket: frame.request.tokens.length > 0 ? [0, frame.request.tokens.length] : null,
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
  const token = frame.request.tokens[cell.row];
  return token === undefined
    ? t('positions.cell', values)
    : t('positions.cellToken', { ...values, token });
}

customElements.define('qkv-positions', PositionsPanel);
