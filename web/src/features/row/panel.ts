import { sentences } from '../../i18n/i18n';
import './style.css';
import formulas from './formulas.json';
import { find } from '../../ui/dom';
import { rowFigure } from './page/figure';
import type { Figure } from '../../ui/export_figure';
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
  type NumberSet,
} from '../../domain/number_sets';
import type { State } from '../../state/state';
import { clampScale } from './state';
import { Panel, type View } from '../panel';
import { cell, drawCells, STEPS, trackOf, type Step } from './page/number_cells';
import { LearnedPart } from './page/trained_row_part';
import { scrubbing } from './page/drag_numbers';

/** What makes exp overflow in float32 when nothing is subtracted from it. */
const BREAKING = { rowScale: 400, rowMax: false } as const;
const WHOLE = { rowScale: null, rowMax: true, rowMasked: 0 } as const;

const row = (name: string, formula: string, cells: string) => `
  <div role="row" class="step" data-step="${name}">
    <div role="rowheader" class="step-head">
      <span class="step-name" data-t="row.${name}"></span>${formula}<span class="track" data-track="${name}"></span></div>
    ${cells}
  </div>`;

/** One query on its way through attention: every number in sight, and most of them to be changed. */
class RowPanel extends Panel {
  #count = 0;
  #state: State | null = null;

  protected template(): string {
    return `
      <div class="card row-card">
        <div class="row-formula"><span class="by-width">${formulas.row}</span><span class="by-scale">${formulas.rowScaled}</span></div>
        <div class="tools-row" data-control>
          <fieldset class="segmented queries"><legend class="visually-hidden" data-t="row.query"></legend></fieldset>
          <span class="with-number"><span data-t="row.keys"></span>
            <button type="button" class="button fewer" data-t-label="row.fewer">−</button>
            <output class="key-count"></output>
            <button type="button" class="button more-keys" data-t-label="row.moreKeys">+</button></span>
          <label class="with-number"><span data-t="row.scaleLabel"></span>
            <input type="number" id="row-scale" step="any" data-step="0.05"></label>
          <label class="check"><input type="checkbox" id="row-max"> <span data-t="row.subtract"></span></label>
          <button type="button" class="button break" data-t="row.break"></button>
          <button type="button" class="button reset" data-t="row.reset"></button>
          <button type="button" class="button to-map" data-t="row.toMap"></button>
        </div>
        <div class="steps" role="table" data-t-label="row.title"></div>
        <p class="row-note hint"></p>
      </div>
      <qkv-row-learned></qkv-row-learned>`;
  }

  protected override ready(): void {
    const on = (selector: string, act: () => void) =>
      this.find(selector, HTMLElement).addEventListener('click', act);
    on('.fewer', () => this.#resize(-1));
    on('.more-keys', () => this.#resize(1));
    on('.break', () => this.change(BREAKING));
    on('.reset', () => this.change({ ...WHOLE, numbers: WORKED_EXAMPLE, rowQuery: 0 }));
    on('.to-map', () => {
      this.change({ source: 'yours', head: 0, query: this.#state?.rowQuery ?? 0 });
      location.hash = 'map'; // as a link: Back is where the reader was
    });
    this.addEventListener('change', (event) => this.#changed(event.target as HTMLInputElement));
    scrubbing(this, (box, value) => this.#set(box, value));
  }

  #resize(by: number): void {
    if (!this.#state) return;
    const { numbers, rowMasked } = this.#state;
    const to = resize(numbers, countOf(numbers) + by);
    this.change({ numbers: to, rowMasked: rowMasked & (2 ** countOf(to) - 1) });
  }

  #changed(input: HTMLInputElement): void {
    const { key } = input.dataset;
    if (input.name === 'row-query') this.change({ rowQuery: Number(input.value) });
    else if (input.id === 'row-max') this.change({ rowMax: input.checked });
    else if (key !== undefined && this.#state) {
      this.change({ rowMasked: this.#state.rowMasked ^ (1 << Number(key)) });
    } else if (Number.isFinite(input.valueAsNumber)) this.#set(input, input.valueAsNumber);
    else if (input.id === 'row-scale') this.change({ rowScale: null });
    else input.value = input.defaultValue;
  }

  #set(box: HTMLInputElement, value: number): void {
    if (!this.#state) return;
    if (box.id === 'row-scale') {
      this.change({ rowScale: clampScale(value) });
      return;
    }
    const { of, at } = box.dataset;
    const name = (['q', 'k', 'v'] as const).find((each) => each === of);
    if (!name) return;
    const numbers = [...this.#state.numbers[name]];
    numbers[Number(at)] = clampNumber(value);
    this.change({ numbers: { ...this.#state.numbers, [name]: numbers } });
  }

  update(view: View): void {
    const { state, frame, look } = view;
    this.#state = state;
    this.find('qkv-row-learned', LearnedPart).update(view);
    const count = countOf(state.numbers);
    if (count !== this.#count) this.#build(count);
    const query = Math.min(state.rowQuery, count - 1);
    this.#showInputs(state, query);
    if (!frame?.row || !this.changed(frame.row, look)) return;
    this.#tell(frame.row);
  }

  #build(count: number): void {
    this.#count = count;
    const keys = Array.from({ length: count }, (_, j) => j);
    const all = (make: (j: number) => string) => keys.map(make).join('');
    const numbersOf = (name: 'k' | 'v') => all((j) => cell(pair(name, j * WIDTH, j)));
    const results = (step: Step) =>
      all((j) => cell(`<span class="bar"><i></i></span><b></b>`, step, j));
    const steps = this.find('.steps', HTMLElement);
    steps.style.setProperty('--keys', String(count));
    steps.innerHTML = [
      row('q', '', `<div role="cell" class="cell">${pair('q', 0, 0)}</div>`),
      row('k', '', numbersOf('k')),
      row('product', formulas.product, results('product')),
      row('scaled', formulas.scaled, results('scaled')),
      row(
        'masked',
        formulas.masked,
        all((j) => cell(maskBox(j))),
      ),
      row(
        'exp',
        `<span class="with-max">${formulas.exp}</span><span class="without-max">${formulas.expRaw}</span>`,
        results('exp'),
      ),
      row('weight', formulas.weight, results('weight')),
      row('core', '', results('core')),
      row('v', '', numbersOf('v')),
      row('output', formulas.output, `<div role="cell" class="cell output"></div>`),
    ].join('');
    const queries = keys.map(
      (j) =>
        `<label><input type="radio" name="row-query" value="${j}"><span>q${j + 1}</span></label>`,
    );
    find(this, '.queries', HTMLElement)
      .querySelectorAll('label')
      .forEach((each) => each.remove());
    find(this, '.queries', HTMLElement).insertAdjacentHTML('beforeend', queries.join(''));
    this.#translateSteps();
  }

  #translateSteps(): void {
    for (const name of this.querySelectorAll<HTMLElement>('.step-name[data-t]')) {
      name.textContent = t(name.dataset['t'] as Parameters<typeof t>[0]);
    }
  }

  /** A box that is being typed into keeps what is typed. */
  #showInputs(state: State, query: number): void {
    const { numbers, rowMasked } = state;
    for (const box of this.querySelectorAll<HTMLInputElement>('input[data-of]')) {
      const name = box.dataset['of'] as keyof NumberSet;
      if (name === 'q') box.dataset['at'] = String(query * WIDTH + Number(box.dataset['c']));
      this.#write(box, numbers[name][Number(box.dataset['at'])] ?? 0);
      box.setAttribute('aria-label', nameOf(box, query));
    }
    for (const box of this.querySelectorAll<HTMLInputElement>('input[data-key]')) {
      const key = Number(box.dataset['key']);
      box.checked = ((rowMasked >> key) & 1) === 0;
      box.setAttribute('aria-label', t('row.allow', { key: key + 1 }));
    }
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=row-query]')) {
      radio.checked = Number(radio.value) === query;
    }
    const scale = this.find('#row-scale', HTMLInputElement);
    this.#write(scale, state.rowScale ?? Number((1 / Math.sqrt(WIDTH)).toFixed(4)));
    this.find('#row-max', HTMLInputElement).checked = state.rowMax;
    this.setText('.key-count', String(this.#count));
    this.find('.fewer', HTMLButtonElement).disabled = this.#count <= 1;
    this.find('.more-keys', HTMLButtonElement).disabled = this.#count >= MAX_KEYS;
  }

  #write(box: HTMLInputElement, value: number): void {
    box.defaultValue = String(value);
    const typing = document.activeElement === box && !box.classList.contains('scrubbing');
    if (!typing) box.value = box.defaultValue;
  }

  #tell(steps: RowSteps): void {
    const { request, weights, output } = steps;
    const { subtractMax, numbers } = request;
    this.classList.toggle('no-max', !subtractMax);
    this.classList.toggle('own-scale', request.scale !== null);
    const values: Record<Step, Float32Array> = {
      product: steps.products,
      scaled: steps.scaled,
      exp: steps.exps,
      weight: subtractMax ? weights : steps.naive,
      core: weights,
    };
    for (const step of STEPS) {
      drawCells(this.find('.row-card', HTMLElement), step, values[step], request.masked);
      const [low, high] = trackOf(step, values[step]).map((end) => short(end));
      this.setText(`[data-track=${step}]`, t('row.track', { low: low ?? '', high: high ?? '' }));
    }
    const shown = subtractMax ? output : steps.naiveOutput;
    const box = this.find('.cell.output', HTMLElement);
    box.textContent = vector(shown);
    box.classList.toggle('not-a-number', shown.some(Number.isNaN));
    const at = Math.min(request.query, this.#count - 1) * WIDTH;
    this.#live({
      query: `(${numbers.q.slice(at, at + WIDTH).join(', ')})`,
      output: vector(shown),
      width: String(WIDTH),
      mask: t('row.maskLive', { count: this.#count - maskedCount(request.masked, this.#count) }),
      scale: four(steps.scale),
      max: four(steps.max),
      sum: four(steps.sum),
    });
    const own = sameNumbers(numbers, WORKED_EXAMPLE) ? 'row.example' : 'row.own';
    const note = [t(own), t('row.error', { error: digits(steps.error, 2) })];
    if (!subtractMax) note.push(t('row.noMax', { output: vector(output) }));
    this.setText('.row-note', sentences(...note));
  }

  #live(values: Readonly<Record<string, string>>): void {
    for (const place of this.querySelectorAll('[data-live]')) {
      place.textContent = values[place.getAttribute('data-live') ?? ''] ?? '';
    }
  }

  override figure({ frame }: View): Promise<Figure | null> {
    return Promise.resolve(frame?.row ? rowFigure(frame.row) : null);
  }
}

function maskedCount(masked: number, count: number): number {
  return Array.from({ length: count }, (_, j) => (masked >> j) & 1).reduce((a, b) => a + b, 0);
}

const short = (value: number) => String(Number(value.toPrecision(3))).replace('-', '−');
const vector = (values: ArrayLike<number>) => `(${Array.from(values, four).join(', ')})`;

/** The two numbers of a query, key or value. */
function pair(of: 'q' | 'k' | 'v', at: number, index: number): string {
  const box = (c: number) =>
    `<input type="number" step="any" data-step="0.1" data-of="${of}" data-at="${at + c}" data-c="${c}" data-index="${index}">`;
  return `<span class="pair-box role-${of}">${box(0)}${box(1)}</span>`;
}

function maskBox(key: number): string {
  return `<label class="allow"><input type="checkbox" data-key="${key}"><span class="mask-term" data-mask="${key}"></span></label>`;
}

function nameOf(box: HTMLInputElement, query: number): string {
  const { of = '', c = '0', index = '0' } = box.dataset;
  const number = of === 'q' ? query + 1 : Number(index) + 1;
  return t('row.number', { name: `${of}${number}`, component: Number(c) + 1 });
}

customElements.define('qkv-panel-row', RowPanel);
