import { largestAt } from '../../../domain/largest_at';
import { html, type TemplateResult } from 'lit-html';
import { cividis } from '../../../domain/cividis';
import { typedText, withValue } from '../../../ui/lit/controls';
import { legendScale } from '../../../ui/lit/legends';
import { rich } from '../../../ui/lit/texts';
import type { Cell } from '../../../ui/matrix/cell';
import type { MatrixModel } from '../../../ui/matrix/view';
import { digits } from '../../../ui/numbers';
import type { State } from '../../../state/state';
import { MatrixPanel } from '../../lit_panel';
import type { View } from '../../panel';
import type { HeadSource } from '../../../domain/sources';
import { headName } from '../../head_names';
import type { Cross } from '../worker/cross_weights';
import { CONTEXTS } from '../state';
import { t } from '../feature';

/** The sentence that is read. */
const contextOf = ({ blockContext, language }: State) => blockContext || CONTEXTS[language];

/** Queries from the sentence of the page, keys and values from another one. */
export class CrossPart extends MatrixPanel {
  protected readonly surface = 'cross';
  /** What is said above the matrix stays while nothing is computed. */
  #latest: Cross | null = null;

  protected inputs({ state, frame, query, look }: View): readonly unknown[] {
    return [frame?.block?.cross, contextOf(state), query, look];
  }

  protected render({ state, heads, frame, query, look }: View): TemplateResult {
    const cross = frame?.block?.cross ?? null;
    const latest = (this.#latest = cross ?? this.#latest);
    const isEmpty = !cross || cross.cols.length === 0;
    this.matrix.model = isEmpty ? null : crossModel(cross, heads, query, look);
    const cell = this.matrix.shown;
    const take = withValue((blockContext) => this.change({ blockContext }));
    return html`
      <div class="cross-words">
      <h3>${t('block.cross')}</h3>
      <p class="cross-intro">${latest && t('block.crossIntro', { head: headName(heads, latest.head) })}</p>
      <div class="control cross-text" data-control><label for="block-context">${t('block.context')}</label>
        <input type="text" id="block-context" autocomplete="off" @input=${take} ${typedText(contextOf(state), (each) => each)}></div>
      </div>
      <div class="cross-map">
      <p class="axes">${rich('map.axes')}</p>
      ${this.matrix}
      <div class="legend" ?hidden=${isEmpty}>
        ${legendScale(cividis, ['0', '0.5', '1'])}
        <p class="described">${cross && cell && describe(cross, cell)}</p>
      </div>
      </div>`;
  }
}

function largestOf({ weights, cols }: Cross, row: number): number {
  return largestAt(weights.subarray(row * cols.length, (row + 1) * cols.length));
}

function crossModel(cross: Cross, of: HeadSource, query: number, look: number): MatrixModel {
  const { rows, cols, head } = cross;
  const row = Math.max(0, Math.min(query, rows.length - 1));
  return {
    rows: rows.length,
    cols: cols.length,
    rowLabels: rows,
    colLabels: cols,
    rowHeight: 'square',
    look,
    name: t('block.crossName', {
      ...{ head: headName(of, head), queries: rows.length, keys: cols.length },
    }),
    home: { row, col: largestOf(cross, row) },
    bracket: null,
    describe: (cell) => describe(cross, cell),
  };
}

function describe({ rows, cols, weights }: Cross, { row, col }: Cell): string {
  const names = { row, query: rows[row] ?? '', col, key: cols[col] ?? '' };
  return t('block.cellWeight', {
    ...names,
    value: digits(weights[row * cols.length + col] ?? NaN),
  });
}

customElements.define('qkv-block-cross', CrossPart);
