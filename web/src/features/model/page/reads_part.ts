import { largestAt } from '../../../domain/largest_at';
import { html, type TemplateResult } from 'lit-html';
import { cividis } from '../../../domain/cividis';
import { options, radios, withValue } from '../../../ui/lit/controls';
import { legendMark, legendScale } from '../../../ui/lit/legends';
import type { Cell } from '../../../ui/matrix/cell';
import { paintWeights } from '../../../ui/matrix/paint_weights';
import { PaintedMatrix } from '../../../ui/matrix/painted_matrix';
import { MatrixView, type MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import type { View } from '../../panel';
import type { HeadName, ModelInfo, TokenReads } from '../shared/protocol';
import { t } from '../feature';
import { ModelPart } from './model_part';

const MAPS = ['rows', 'map'] as const;
type MapName = (typeof MAPS)[number];
const KINDS = ['weights', 'brought'] as const;
/** A row of the strips is this high where there is room. */
const ROW_HEIGHT = 18;

/** One query through all heads, and the whole map of one of them: weights, or weights times what they bring. */
export class ReadsPart extends ModelPart {
  #matrices: Readonly<Record<MapName, PaintedMatrix>> | null = null;
  #shown: readonly unknown[] = [];

  protected inputs({ model, state, look }: View): readonly unknown[] {
    return [model.answers.reads, model.info, state.modelHead, state.modelReads, look];
  }

  protected override ready(): void {
    this.addEventListener('cell-shown', () => this.refresh());
  }

  protected render({ model: { info, answers }, state }: View): TemplateResult {
    const reads = answers.reads ?? null;
    const kinds = KINDS.map((kind) => [kind, t(`model.reads.${kind}`)] as const);
    return html`
      <h3>${t('model.reads.title')}</h3>
      <p class="hint">${t('model.reads.intro')}</p>
      <fieldset class="segmented wrapped" data-control><legend class="visually-hidden">${t('model.reads.kind')}</legend>
        ${radios('model-reads', kinds, state.modelReads ?? 'weights', (kind) =>
          this.change({ modelReads: kind === 'brought' ? kind : null }),
        )}</fieldset>
      <div class="lab model-reads" ?hidden=${reads === null}>
        <div class="lab-main">
          <h4>${reads && t('model.reads.query', { at: reads.at, token: reads.labels[reads.at] ?? '' })}</h4>
          <qkv-matrix data-map="rows" @cell-pinned=${this.#pinned}></qkv-matrix>
          ${reads && this.#described('rows', reads)}
          <p class="model-settled">${reads && largestText(reads)}</p>
        </div>
        <div class="lab-side">
          <div class="control" data-control><label for="model-reads-head">${t('model.reads.head')}</label>
            <select id="model-reads-head" @change=${withValue((name) => this.#choose(name))}>${
              info && reads && options(headsOf(info), reads.head.join('.'))
            }</select></div>
          <qkv-matrix data-map="map"></qkv-matrix>
          ${reads && this.#described('map', reads)}
        </div>
      </div>`;
  }

  /** The colours, with a mark at the cell, and the cell in words. */
  #described(name: MapName, reads: TokenReads): TemplateResult {
    const most = mostOf(name, reads);
    const cell = this.querySelector<MatrixView>(`[data-map=${name}]`)?.shown;
    const value = cell ? valueAt(name, reads, cell) : NaN;
    return html`<div class="legend">${legendScale(
      cividis,
      [0, most / 2, most].map((tick) => digits(tick, 3)),
      legendMark(value / most),
    )}
      <p class="described">${cell && describe(name, reads, cell)}</p></div>`;
  }

  #choose(name: string): void {
    const [layer = 0, head = 0] = name.split('.').map(Number);
    this.change({ modelHead: [layer, head] });
  }

  /** A head whose strip is pressed is the one of the map. */
  readonly #pinned = ({ detail: cell }: CustomEvent<Cell | null>): void => {
    const reads = this.#reads;
    if (cell && reads) this.change({ modelHead: nameOf(reads, cell.row) });
  };

  #reads: TokenReads | null = null;

  protected override rendered({ model, look }: View): void {
    const reads = (this.#reads = model.answers.reads ?? null);
    if (this.#shown[0] === reads && this.#shown[1] === look) return;
    this.#shown = [reads, look];
    this.#matrices ??= { rows: this.#matrixOf('rows'), map: this.#matrixOf('map') };
    for (const name of MAPS) {
      const matrix = this.#matrices[name];
      if (reads) show(matrix, name, reads, look);
      else matrix.hide();
    }
    if (reads) super.refresh(); // the description is of the cells that are there now
  }

  #matrixOf(name: MapName): PaintedMatrix {
    return new PaintedMatrix(this.find(`[data-map=${name}]`, MatrixView));
  }
}

const nameOf = ({ numHeads }: TokenReads, head: number): HeadName => [
  Math.floor(head / numHeads),
  head % numHeads,
];

function headsOf({ numLayers, numHeads }: ModelInfo): (readonly [string, string])[] {
  return Array.from({ length: numLayers * numHeads }, (_, at) => {
    const name = `${Math.floor(at / numHeads)}.${at % numHeads}`;
    return [name, name] as const;
  });
}

const mostOf = (name: MapName, { most, mapMost }: TokenReads) => (name === 'rows' ? most : mapMost);

function valueAt(name: MapName, { rows, keys, map, labels }: TokenReads, { row, col }: Cell) {
  return (name === 'rows' ? rows[row * keys + col] : map[row * labels.length + col]) ?? NaN;
}

function describe(name: MapName, reads: TokenReads, cell: Cell): string {
  const { at, head, labels, brought } = reads;
  const query = name === 'rows' ? at : cell.row;
  const values = {
    head: (name === 'rows' ? nameOf(reads, cell.row) : head).join('.'),
    ...{ row: query, query: labels[query] ?? '', col: cell.col, key: labels[cell.col] ?? '' },
    value: digits(valueAt(name, reads, cell), 4),
  };
  return t(brought ? 'model.reads.cellBrought' : 'model.reads.cell', values);
}

function show(matrix: PaintedMatrix, name: MapName, reads: TokenReads, look: number): void {
  const most = mostOf(name, reads);
  const values = (name === 'rows' ? reads.rows : reads.map).map((x) => x / (most || 1));
  const model = modelOf(name, reads, look);
  matrix.show(model, (cells) => paintWeights(cells, values, model.cols));
}

function modelOf(name: MapName, reads: TokenReads, look: number): MatrixModel {
  const { at, head, labels, keys, rows } = reads;
  const describeCell = (cell: Cell) => describe(name, reads, cell);
  const all = { look, bracket: null, describe: describeCell };
  if (name === 'map') {
    const count = labels.length;
    return {
      ...{ rows: count, cols: count, rowLabels: labels, colLabels: labels, rowHeight: 'square' },
      ...{ ...all, home: { row: at, col: 0 } },
      name: t('model.reads.mapName', { head: head.join('.'), count }),
    };
  }
  const heads = rows.length / keys;
  const largest = largestAt(rows);
  return {
    ...{ ...all, rows: heads, cols: keys, colLabels: labels.slice(0, keys) },
    rowLabels: Array.from({ length: heads }, (_, i) => nameOf(reads, i).join('.')),
    rowHeight: ROW_HEIGHT,
    home: { row: Math.floor(largest / keys), col: largest % keys },
    name: t('model.reads.rowsName', { heads, keys, at }),
  };
}

/** Where most of all heads is read. */
function largestText(reads: TokenReads): string {
  const { keys, labels, brought, rows } = reads;
  const at = largestAt(rows);
  return t(brought ? 'model.reads.largestBrought' : 'model.reads.largest', {
    head: nameOf(reads, Math.floor(at / keys)).join('.'),
    ...{ place: at % keys, token: labels[at % keys] ?? '', value: digits(rows[at] ?? NaN, 3) },
  });
}
