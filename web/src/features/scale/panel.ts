import '../../ui/plot.css';
import formulas from './formulas.json';
import { KEYS, RANGE, ROWS, WIDTHS } from './shared/constants';
import type { WidthResult, WidthStudy } from './worker/frame_feature';
import type { Figure } from '../../ui/export_figure';
import { scaleFigure } from './page/figure';
import { t } from './feature';
import { digits } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../ui/plot_stage';
import { Guess } from '../../ui/guess';
import { richNodes } from '../../i18n/markup';
import { LIMITS, type State } from '../../state/state';
import { Panel, type View } from '../panel';
import {
  CHART_HEIGHT,
  drawEntropies,
  drawHistogram,
  drawVariances,
  HISTOGRAM_HEIGHT,
  LAW,
} from './page/plots';

/** Beyond it the largest of KEYS scores of variance d take everything: sqrt(d) > sqrt(2 ln n). */
const COLLAPSE = 2 * Math.log(KEYS);

const WAYS = ['falls', 'stays', 'rises'] as const;
/** Less than this, as a share, is no change that a curve shows. */
const CHANGE = 0.1;

function wayOf(from: number, to: number): (typeof WAYS)[number] {
  if (Math.abs(to - from) <= CHANGE * Math.abs(from)) return 'stays';
  return to > from ? 'rises' : 'falls';
}

const FIGURES = ['histogram', 'entropies', 'variances'] as const;
type FigureName = (typeof FIGURES)[number];

const keyEntry = (mark: 'plain' | 'scaled' | 'theory') => {
  const [name, point] = mark === 'theory' ? ['law', ''] : [mark, `plot-${mark}-point`];
  return keyEntryHtml(`plot-${mark}`, `<span data-t="key.${name}"></span>`, point);
};

/** Products of random queries and keys: why they are divided by the root of the width. */
class ScalePanel extends Panel {
  #state: State | null = null;
  #stages: Readonly<Record<FigureName, PlotStage>> | null = null;
  #language: State['language'] | null = null;
  /** What a live region has been told: the sample, and whether it is divided. */
  #told = '';
  /** What the reader guessed of the entropies, and of which sample. */
  #guess: { way: string; sample: number } | null = null;

  protected template(): string {
    return `
      <div class="card">
        <div class="row-formula formulas"><span>${formulas.productVariance}</span><span>${formulas.scaledVariance}</span></div>
        <div class="tools-row scale-tools" data-control>
          <div class="control width-control">
            <label for="width" data-t="scale.width"></label>
            <span class="with-number">
              <input id="width" type="range" min="2" max="10" step="1">
              <output for="width"></output>
            </span>
          </div>
          <label class="check"><input type="checkbox" id="divided"> <span data-t="scale.divide"></span></label>
          <span class="with-number"><button type="button" class="button draw" data-t="scale.draw"></button>
            <output class="sample"></output></span>
        </div>
        <p class="placeholder" role="status"></p>
        <qkv-guess></qkv-guess>
        <div class="lab" hidden>
          <div class="lab-main">
            ${stageHtml('histogram')}
            <p class="hint tails"></p>
          </div>
          <div class="lab-side">
            <dl class="numbers">
              <div><dt data-t="scale.variance"></dt><dd data-number="variance"></dd></div>
              <div><dt data-t="scale.before"></dt><dd data-number="before"></dd></div>
              <div><dt data-t="scale.after"></dt><dd data-number="after"></dd></div>
              <div><dt data-t="scale.law"></dt><dd data-number="law"></dd></div>
              <div><dt data-t="scale.difference"></dt><dd data-number="difference"></dd></div>
            </dl>
            <p class="verdict"></p>
          </div>
          <div class="lab-pair">
            ${stageHtml('entropies')}
            ${stageHtml('variances')}
            <ul class="plot-key">${(['plain', 'scaled', 'theory'] as const).map(keyEntry).join('')}</ul>
          </div>
        </div>
        <p class="hint check-note"></p>
        <p class="visually-hidden" role="status" data-said></p>
      </div>`;
  }

  protected override ready(): void {
    const slider = this.find('#width', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ width: 2 ** Number(slider.value) }));
    const divided = this.find('#divided', HTMLInputElement);
    divided.addEventListener('change', () => this.change({ divided: divided.checked }));
    this.find('.draw', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.sample;
      const sample = this.#state?.sample ?? first;
      this.change({ sample: sample < last ? sample + 1 : first });
    });
    this.#stages = plotStages(this, FIGURES);
    this.addEventListener('guessed', (event) => {
      const way = (event as CustomEvent<string | null>).detail;
      this.#guess = way === null ? null : { way, sample: this.#state?.sample ?? NaN };
      this.change({ scaleAsk: false });
    });
    this.addEventListener('guess-again', () => {
      this.change({ scaleAsk: true });
      this.find('qkv-guess', Guess).focusFirst();
    });
  }

  #ask({ sample, results, complete }: WidthStudy, asked: boolean): void {
    const guess = this.find('qkv-guess', Guess);
    const [first, last] = [results[0], results.at(-1)];
    const [from, to] = RANGE;
    const names = { from, to };
    const choices = WAYS.map((value) => ({ value, label: t(`scale.${value}`) }));
    guess.ask(asked ? t('scale.question', names) : null, choices);
    for (const part of ['.lab-pair', '.lab-side']) this.find(part, HTMLElement).hidden = asked;
    if (asked || this.#guess?.sample !== sample) this.#guess = null;
    if (!this.#guess || !complete || !first || !last) {
      guess.tell('');
      return;
    }
    const values = {
      ...names,
      plainFrom: digits(first.plain.entropy, 3),
      plainTo: digits(last.plain.entropy, 3),
      scaledFrom: digits(first.scaled.entropy, 3),
      scaledTo: digits(last.scaled.entropy, 3),
    };
    const right = this.#guess.way === wayOf(first.plain.entropy, last.plain.entropy);
    const verdict = t(right ? 'guess.right' : 'guess.other');
    guess.tell(t('guess.told', { verdict, answer: t('scale.answer', values) }));
  }

  update(view: View): void {
    const { state, studies, engine, look } = view;
    this.#state = state;
    const study = studies.scale?.sample === state.sample ? studies.scale : null;
    const result = study?.results.find(({ width }) => width === state.width) ?? null;
    this.#controls(state, result);
    // A new sample takes a moment: until it is there, the one before it stays.
    const first = this.find('.lab', HTMLElement).hidden;
    this.find('.placeholder', HTMLElement).hidden = !first || result !== null;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'plots.loading'));
    if (!study || !result) return;
    const asked = state.scaleAsk;
    if (!this.changed(study, result, state.divided, look, asked, this.#guess)) return;
    this.find('.lab', HTMLElement).hidden = false;
    this.#ask(study, asked);
    this.#tell(study, result, state.divided);
    this.#draw(study, result, state.divided);
    if (this.#language !== state.language) this.setText('[data-said]', '');
    this.#language = state.language;
    this.#say(`${state.sample} ${state.divided}`, result);
  }

  /** The button and the box have no words of their own for what came of them; the slider has. */
  #say(what: string, result: WidthResult): void {
    if (this.#told !== '' && what !== this.#told) this.setText('[data-said]', spoken(result));
    this.#told = what;
  }

  #controls(state: State, result: WidthResult | null): void {
    const slider = this.find('#width', HTMLInputElement);
    slider.value = String(Math.log2(state.width));
    slider.setAttribute('aria-valuetext', result ? spoken(result) : `d = ${state.width}`);
    this.setText('[for=width]:not(label)', `d = ${state.width}`);
    this.find('#divided', HTMLInputElement).checked = state.divided;
    this.setText('.sample', t('scale.sample', { sample: state.sample }));
  }

  #tell(
    { error, results }: WidthStudy,
    { width, plain, scaled }: WidthResult,
    divided: boolean,
  ): void {
    const numbers = {
      variance: digits((divided ? scaled : plain).variance, 4),
      before: digits(plain.entropy, 4),
      after: digits(scaled.entropy, 4),
      law: digits(LAW, 4),
      difference: digits(LAW - scaled.entropy, 2),
    };
    for (const [name, value] of Object.entries(numbers)) {
      this.setText(`[data-number=${name}]`, value);
    }
    const values = {
      width,
      deviation: digits(Math.sqrt(width), 3),
      limit: digits(Math.sqrt(COLLAPSE), 3),
      tail: digits(6 / width, 2),
    };
    this.#rich('.verdict', t(width > COLLAPSE ? 'scale.collapse' : 'scale.spared', values));
    this.#rich('.tails', t('scale.tails', values));
    const checked = {
      rows: ROWS,
      keys: KEYS,
      widths: results.length,
      all: WIDTHS.length,
      scores: digits(error.scores, 2),
      entropy: digits(error.entropy, 2),
    };
    this.setText('.check-note', t('scale.check', checked));
    for (const place of this.querySelectorAll('[data-live]')) place.textContent = String(width);
  }

  #draw({ results }: WidthStudy, result: WidthResult, divided: boolean): void {
    const chosen = result.width;
    const { variance } = divided ? result.scaled : result.plain;
    const values = { width: chosen, variance: digits(variance, 3), law: divided ? 1 : chosen };
    this.#stages?.histogram.show({
      height: HISTOGRAM_HEIGHT,
      label: t('scale.histogram', values),
      draw: (width) => drawHistogram(pagePen, width, result, divided),
    });
    this.#stages?.entropies.show({
      height: CHART_HEIGHT,
      label: describe(results, 'entropy'),
      draw: (width) => drawEntropies(pagePen, width, results, chosen),
    });
    this.#stages?.variances.show({
      height: CHART_HEIGHT,
      label: describe(results, 'variance'),
      draw: (width) => drawVariances(pagePen, width, results, chosen),
    });
  }

  #rich(selector: string, source: string): void {
    this.find(selector, HTMLElement).replaceChildren(...richNodes(source));
  }

  override figure({ state, studies }: View): Promise<Figure | null> {
    const { scale: widths } = studies;
    const done = widths?.sample === state.sample && widths.complete;
    return Promise.resolve(done ? scaleFigure(widths, state) : null);
  }
}

function spoken({ width, plain, scaled }: WidthResult): string {
  return t('scale.spoken', {
    width,
    variance: digits(plain.variance, 3),
    before: digits(plain.entropy, 3),
    after: digits(scaled.entropy, 3),
  });
}

/** Both curves of a figure in one sentence: from the first width to the last. */
function describe(results: readonly WidthResult[], what: 'entropy' | 'variance'): string {
  const [first, last] = [results[0], results.at(-1)];
  if (!first || !last) return '';
  return t(`scale.figure.${what}`, {
    from: first.width,
    to: last.width,
    plainFrom: digits(first.plain[what], 3),
    plainTo: digits(last.plain[what], 3),
    scaledFrom: digits(first.scaled[what], 3),
    scaledTo: digits(last.scaled[what], 3),
  });
}

customElements.define('qkv-panel-scale', ScalePanel);
