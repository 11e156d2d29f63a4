import { sentences } from '../../i18n/i18n';
import './style.css';
import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import formulas from './formulas.json';
import { rowFigure } from './page/figure';
import type { Figure } from '../../ui/export_figure';
import { button, checkBox, numeric, radios } from '../../ui/lit/controls';
import { formula, type Content } from '../../ui/lit/texts';
import type { RowSteps } from './worker/frame_feature';
import { t } from './feature';
import { digits, four } from '../../ui/numbers';
import {
  clampNumber,
  countOf,
  MAX_KEYS,
  resize,
  sameNumbers,
  WIDTH,
  WORKED_EXAMPLE,
} from '../../domain/number_sets';
import type { State } from '../../state/state';
import { clampScale } from './state';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { cell, numberCells, stepRow, trackText, type Step } from './page/number_cells';
import { LearnedPart } from './page/trained_row_part';
import { scrubbing } from './page/drag_numbers';

/** What makes exp overflow in float32 when nothing is subtracted from it. */
const BREAKING = { rowScale: 400, rowMax: false } as const;
const WHOLE = { rowScale: null, rowMax: true, rowMasked: 0 } as const;

type Live = Readonly<Record<string, string>>;
const WITHOUT_NUMBERS: Live = {};

/** One query on its way through attention: every number in sight, and most of them to be changed. */
class RowPanel extends LitPanel {
  protected override ready(): void {
    scrubbing(this);
  }

  override update(view: View): void {
    super.update(view);
    this.find('qkv-row-learned', LearnedPart).update(view);
  }

  protected inputs({ state, frame, look }: View): readonly unknown[] {
    const { numbers, rowQuery, rowMasked, rowScale, rowMax } = state;
    return [numbers, rowQuery, rowMasked, rowScale, rowMax, frame?.row, look];
  }

  protected render({ state, frame }: View): TemplateResult {
    const count = countOf(state.numbers);
    const query = Math.min(state.rowQuery, count - 1);
    // The numbers of another count are those of a moment ago.
    const isOfCount = frame?.row && countOf(frame.row.request.numbers) === count;
    const steps = isOfCount ? frame.row : null;
    const values = steps ? liveOf(steps) : WITHOUT_NUMBERS;
    return html`<div class="card row-card">
        <div class="row-formula"><span class="by-width">${formula(formulas.row, values)}</span><span class="by-scale">${formula(formulas.rowScaled, values)}</span></div>
        ${this.#tools(state, count, query)}
        <div class="steps" role="table" aria-label=${t('row.title')} .style=${`--keys: ${count}`}>
          ${this.#given(state, query, 'q')}${this.#given(state, query, 'k')}
          ${this.#computed(state, steps, values)}
          ${this.#given(state, query, 'v')}
          ${stepRow('output', [t('row.output'), formula(formulas.output, values)], '', outputCell(steps))}
        </div>
        <p class="row-note hint">${steps && noteOf(steps)}</p>
      </div>
      <qkv-row-learned></qkv-row-learned>`;
  }

  protected override rendered({ frame }: View): void {
    const request = frame?.row?.request;
    if (!request) return;
    this.classList.toggle('no-max', !request.subtractMax);
    this.classList.toggle('own-scale', request.scale !== null);
  }

  #tools(state: State, count: number, query: number): TemplateResult {
    const resized = (by: number) => {
      const to = resize(state.numbers, count + by);
      this.change({ numbers: to, rowMasked: state.rowMasked & (2 ** countOf(to) - 1) });
    };
    const toMap = () => {
      this.change({ source: 'yours', head: 0, query: state.rowQuery });
      location.hash = 'map'; // as a link: Back is where the reader was
    };
    const queries = Array.from({ length: count }, (_, j) => [String(j), `q${j + 1}`] as const);
    return html`<div class="tools-row" data-control>
      <fieldset class="segmented queries"><legend class="visually-hidden">${t('row.query')}</legend>
        ${radios('row-query', queries, String(query), (value) => this.change({ rowQuery: Number(value) }))}</fieldset>
      <span class="with-number"><span>${t('row.keys')}</span>
        <button type="button" class="button fewer" aria-label=${t('row.fewer')} ?disabled=${count <= 1} @click=${() => resized(-1)}>−</button>
        <output class="key-count">${count}</output>
        <button type="button" class="button more-keys" aria-label=${t('row.moreKeys')} ?disabled=${count >= MAX_KEYS} @click=${() => resized(1)}>+</button></span>
      <label class="with-number"><span>${t('row.scaleLabel')}</span>
        <input type="number" id="row-scale" step="any" data-step="0.05" ${numeric({
          value: state.rowScale ?? Number((1 / Math.sqrt(WIDTH)).toFixed(4)),
          nearest: clampScale,
          take: (rowScale) => this.change({ rowScale }),
          clear: () => this.change({ rowScale: null }),
        })}></label>
      ${checkBox('row-max', t('row.subtract'), state.rowMax, (rowMax) => this.change({ rowMax }))}
      ${button('break', t('row.break'), () => this.change(BREAKING))}
      ${button('reset', t('row.reset'), () => this.change({ ...WHOLE, numbers: WORKED_EXAMPLE, rowQuery: 0 }))}
      ${button('to-map', t('row.toMap'), toMap)}
    </div>`;
  }

  /** The query, the keys or the values: numbers that may be changed. */
  #given({ numbers }: State, query: number, of: 'q' | 'k' | 'v'): TemplateResult {
    const box = (index: number, c: number) => {
      const at = index * WIDTH + c;
      const take = (value: number) =>
        this.change({
          numbers: { ...numbers, [of]: numbers[of].map((old, i) => (i === at ? value : old)) },
        });
      const label = t('row.number', { name: `${of}${index + 1}`, component: c + 1 });
      return html`<input type="number" step="any" data-step="0.1" data-of=${of} data-at=${at} aria-label=${label}
        ${numeric({ value: numbers[of][at] ?? 0, nearest: clampNumber, take })}>`;
    };
    const pair = (index: number) =>
      cell(html`<span class="pair-box role-${of}">${box(index, 0)}${box(index, 1)}</span>`);
    const keys = Array.from({ length: countOf(numbers) }, (_, j) => pair(j));
    return stepRow(of, [t(`row.${of}`)], '', of === 'q' ? pair(query) : keys);
  }

  #computed(state: State, steps: RowSteps | null, values: Live): TemplateResult[] {
    const count = countOf(state.numbers);
    const { masked = 0 } = steps?.request ?? {};
    const set = (each: string) => formula(each, values);
    const row = (step: Step, formulaOfIt: Content = '') => {
      const numbers = steps ? numbersOf(steps)[step] : null;
      const cells = numbers ? numberCells(step, numbers, masked) : emptyCells(count);
      const track = numbers ? trackText(step, numbers, short) : '';
      return stepRow(step, [t(`row.${step}`), formulaOfIt], track, cells);
    };
    const exp = html`<span class="with-max">${set(formulas.exp)}</span><span class="without-max">${set(formulas.expRaw)}</span>`;
    return [
      row('product', set(formulas.product)),
      row('scaled', set(formulas.scaled)),
      stepRow('masked', [t('row.masked'), set(formulas.masked)], '', this.#masks(state, masked)),
      row('exp', exp),
      row('weight', set(formulas.weight)),
      row('core'),
    ];
  }

  #masks({ numbers, rowMasked }: State, masked: number): TemplateResult[] {
    return Array.from({ length: countOf(numbers) }, (_, key) => {
      const out = ((masked >> key) & 1) === 1;
      const box = html`<label class="allow"><input type="checkbox" data-key=${key} aria-label=${t('row.allow', { key: key + 1 })}
        .checked=${live(((rowMasked >> key) & 1) === 0)} @change=${() => this.change({ rowMasked: rowMasked ^ (1 << key) })}><span
        class="mask-term" data-mask=${key}>${out ? '−∞' : '+0'}</span></label>`;
      return cell(box, out);
    });
  }

  override figure({ frame }: View): Promise<Figure | null> {
    return Promise.resolve(frame?.row ? rowFigure(frame.row) : null);
  }
}

const emptyCells = (count: number) => Array.from({ length: count }, () => cell(nothing));

/** The numbers of each step, one for each key. */
function numbersOf(steps: RowSteps): Record<Step, Float32Array> {
  const weight = steps.request.subtractMax ? steps.weights : steps.naive;
  return {
    ...{ product: steps.products, scaled: steps.scaled, exp: steps.exps },
    ...{ weight, core: steps.weights },
  };
}

/** What the output is with the maximum subtracted, or without. */
const shownOf = ({ request, output, naiveOutput }: RowSteps) =>
  request.subtractMax ? output : naiveOutput;

function outputCell(steps: RowSteps | null): TemplateResult {
  const shown = steps ? shownOf(steps) : null;
  const bad = shown?.some(Number.isNaN) ? 'not-a-number' : '';
  return html`<div role="cell" class="cell output ${bad}">${shown && vector(shown)}</div>`;
}

/** What stands in formulas. */
function liveOf(steps: RowSteps): Live {
  const { numbers, masked, query } = steps.request;
  const count = countOf(numbers);
  const at = Math.min(query, count - 1) * WIDTH;
  return {
    query: `(${numbers.q.slice(at, at + WIDTH).join(', ')})`,
    ...{ output: vector(shownOf(steps)), width: String(WIDTH) },
    mask: t('row.maskLive', { count: count - maskedCount(masked, count) }),
    ...{ scale: four(steps.scale), max: four(steps.max), sum: four(steps.sum) },
  };
}

function noteOf({ request, error, output }: RowSteps): string {
  const own = sameNumbers(request.numbers, WORKED_EXAMPLE) ? 'row.example' : 'row.own';
  const note = [t(own), t('row.error', { error: digits(error, 2) })];
  if (!request.subtractMax) note.push(t('row.noMax', { output: vector(output) }));
  return sentences(...note);
}

function maskedCount(masked: number, count: number): number {
  return Array.from({ length: count }, (_, j) => (masked >> j) & 1).reduce((a, b) => a + b, 0);
}

const short = (value: number) => String(Number(value.toPrecision(3))).replace('-', '−');
const vector = (values: ArrayLike<number>) => `(${Array.from(values, four).join(', ')})`;

customElements.define('qkv-panel-row', RowPanel);
