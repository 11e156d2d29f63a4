import '../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import formulas from './formulas.json';
import { KEYS, RANGE, ROWS, WIDTHS } from './shared/constants';
import type { WidthResult, WidthStudy } from './worker/frame_feature';
import type { Figure } from '../../ui/export_figure';
import { scaleFigure } from './page/figure';
import { t } from './feature';
import { button, checkBox, nextWithin, slider } from '../../ui/lit/controls';
import { keyEntry, stage } from '../../ui/lit/plots';
import { numberList } from '../../ui/lit/tables';
import { formula, formulaRow, rich } from '../../ui/lit/texts';
import { digits } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { Guess } from '../../ui/guess';
import { LIMITS, type State } from '../../state/state';
import { LitPanel, waiting } from '../lit_panel';
import type { View } from '../panel';
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

/** Ends of the slider of the width, whose places are powers of two. */
const PLACES = [Math.log2(RANGE[0]), Math.log2(RANGE[1])] as const;

const WAYS = ['falls', 'stays', 'rises'] as const;
/** Less than this, as a share, is no change that a curve shows. */
const CHANGE = 0.1;

function wayOf(from: number, to: number): (typeof WAYS)[number] {
  if (Math.abs(to - from) <= CHANGE * Math.abs(from)) return 'stays';
  return to > from ? 'rises' : 'falls';
}

/** A study, what it found for the chosen width, and the state in which it did. */
interface Shown {
  readonly state: State;
  readonly study: WidthStudy;
  readonly result: WidthResult;
}

/** Products of random queries and keys: why they are divided by the root of the width. */
class ScalePanel extends LitPanel {
  /** The latest: a new sample takes a moment, and until it is there the one before it stays. */
  #shown: Shown | null = null;
  #language: State['language'] | null = null;
  /** What a live region has read out: the sample, and whether it is divided; and its words. */
  #described = '';
  #said = '';
  /** What the reader guessed of the entropies, and of which sample. */
  #guess: { way: string; sample: number } | null = null;

  protected inputs({ state, studies, engine, look }: View): readonly unknown[] {
    const { sample, width, divided, scaleAsk } = state;
    return [sample, width, divided, scaleAsk, studies.scale, engine.kind, look, this.#guess];
  }

  protected render(view: View): TemplateResult {
    const { state } = view;
    const now = shownOf(view);
    this.#shown = now ?? this.#shown;
    const shown = this.#shown;
    if (now) this.#say(state, now.result);
    const live = shown ? { width: String(shown.result.width) } : {};
    return html`<div class="card">
      ${formulaRow(formula(formulas.productVariance, live), formula(formulas.scaledVariance, live))}
      ${this.#tools(state, now?.result ?? null)}
      ${waiting(view, shown !== null)}
      <qkv-guess @guessed=${this.#guessed} @guess-again=${this.#guessAgain}></qkv-guess>
      ${shown && labOf(shown)}
      <p class="hint check-note">${shown && checkText(shown.study)}</p>
      <p class="visually-hidden" role="status" data-said>${this.#said}</p>
    </div>`;
  }

  protected override rendered(view: View): void {
    const now = shownOf(view);
    if (now) this.#ask(now.study, view.state.scaleAsk);
  }

  #tools({ sample, width, divided }: State, result: WidthResult | null): TemplateResult {
    return html`<div class="tools-row scale-tools" data-control>
      ${slider({
        ...{ id: 'width', label: t('scale.width'), limits: PLACES, place: Math.log2(width) },
        ...{ words: `d = ${width}`, spoken: result ? spoken(result, divided) : `d = ${width}` },
        take: (place) => this.change({ width: 2 ** place }),
      })}
      ${checkBox('divided', t('scale.divide'), divided, (to) => this.change({ divided: to }))}
      <span class="with-number">${button('draw', t('scale.draw'), () => this.change({ sample: nextWithin(LIMITS.sample, sample) }))}
        <output class="sample">${t('scale.sample', { sample })}</output></span>
    </div>`;
  }

  readonly #guessed = ({ detail: way }: CustomEvent<string | null>) => {
    this.#guess = way === null ? null : { way, sample: this.#shown?.study.sample ?? NaN };
    this.change({ scaleAsk: false });
  };

  readonly #guessAgain = () => {
    this.change({ scaleAsk: true });
    this.find('qkv-guess', Guess).focusFirst();
  };

  #ask({ sample, results, complete }: WidthStudy, isGuessing: boolean): void {
    const guess = this.find('qkv-guess', Guess);
    const [from, to] = RANGE;
    const choices = WAYS.map((value) => ({ value, label: t(`scale.${value}`) }));
    guess.ask(isGuessing ? t('scale.question', { from, to }) : null, choices);
    if (isGuessing || this.#guess?.sample !== sample) this.#guess = null;
    const isKnown = this.#guess && complete;
    guess.tell(isKnown ? outcomeOf(this.#guess?.way ?? '', results) : '');
  }

  /** The button and the box have no words of their own for what came of them; the slider has. */
  #say({ sample, divided, language }: State, result: WidthResult): void {
    const what = `${sample} ${divided}`;
    if (this.#language !== language) this.#said = '';
    if (this.#described !== '' && what !== this.#described) this.#said = spoken(result, divided);
    this.#language = language;
    this.#described = what;
  }

  override figure({ state, studies }: View): Promise<Figure | null> {
    const { scale: widths } = studies;
    const done = widths?.sample === state.sample && widths.complete;
    return Promise.resolve(done ? scaleFigure(widths, state) : null);
  }
}

function shownOf({ state, studies }: View): Shown | null {
  const study = studies.scale?.sample === state.sample ? studies.scale : null;
  const result = study?.results.find(({ width }) => width === state.width);
  return study && result ? { state, study, result } : null;
}

/** What came of a guess about the entropies. */
function outcomeOf(way: string, results: readonly WidthResult[]): string {
  const [first, last] = [results[0], results.at(-1)];
  if (!first || !last) return '';
  const [from, to] = RANGE;
  const right = way === wayOf(first.plain.entropy, last.plain.entropy);
  const answer = t('scale.answer', {
    ...{ from, to },
    plainFrom: digits(first.plain.entropy, 3),
    plainTo: digits(last.plain.entropy, 3),
    scaledFrom: digits(first.scaled.entropy, 3),
    scaledTo: digits(last.scaled.entropy, 3),
  });
  return t('guess.outcome', { verdict: t(right ? 'guess.right' : 'guess.other'), answer });
}

function checkText({ error, results }: WidthStudy): string {
  return t('scale.check', {
    ...{ rows: ROWS, keys: KEYS, widths: results.length, all: WIDTHS.length },
    ...{ scores: digits(error.scores, 2), entropy: digits(error.entropy, 2) },
  });
}

function labOf({ study, result, state: { divided, scaleAsk } }: Shown): TemplateResult {
  const { width, plain, scaled } = result;
  const variance = digits((divided ? scaled : plain).variance, 4);
  const numbers = {
    ...{ variance, before: digits(plain.entropy, 4), after: digits(scaled.entropy, 4) },
    ...{ law: digits(LAW, 4), difference: digits(LAW - scaled.entropy, 2) },
  };
  const values = {
    ...{ width, deviation: digits(Math.sqrt(width), 3) },
    ...{ limit: digits(Math.sqrt(COLLAPSE), 3), tail: digits(6 / width, 2) },
  };
  return html`<div class="lab">
    <div class="lab-main">
      ${histogramOf(result, divided)}
      <p class="hint tails">${rich('scale.tails', values)}</p>
    </div>
    <div class="lab-side" ?hidden=${scaleAsk}>
      ${numberList(numbers, (name) => t(`scale.${name}`))}
      <p class="verdict">${rich(width > COLLAPSE ? 'scale.collapse' : 'scale.spared', values)}</p>
      <p class="hint">${rich('scale.gradient')}</p>
      <a class="button see" href="#temperature">${t('scale.jacobian')}</a>
    </div>
    <div class="lab-pair" ?hidden=${scaleAsk}>
      ${curvesOf(study.results, width)}
      <ul class="plot-key">${keyEntry('plot-plain', t('key.plain'), 'plot-plain-point')}${keyEntry('plot-scaled', t('key.scaled'), 'plot-scaled-point')}${keyEntry('plot-theory', t('key.law'))}</ul>
    </div>
  </div>`;
}

function histogramOf(result: WidthResult, divided: boolean): TemplateResult {
  const { width, plain, scaled } = result;
  const { variance } = divided ? scaled : plain;
  const values = { width, variance: digits(variance, 3), law: divided ? 1 : width };
  return stage('histogram', {
    height: HISTOGRAM_HEIGHT,
    label: t('scale.histogram', values),
    draw: (wide) => drawHistogram(pagePen, wide, result, divided),
  });
}

const curvesOf = (results: readonly WidthResult[], chosen: number) => [
  stage('entropies', {
    height: CHART_HEIGHT,
    label: describe(results, 'entropy'),
    draw: (width) => drawEntropies(pagePen, width, results, chosen),
  }),
  stage('variances', {
    height: CHART_HEIGHT,
    label: describe(results, 'variance'),
    draw: (width) => drawVariances(pagePen, width, results, chosen),
  }),
];

/** A width in words, with the variance that the panel shows. */
function spoken({ width, plain, scaled }: WidthResult, divided: boolean): string {
  return t('scale.spoken', {
    width,
    variance: digits((divided ? scaled : plain).variance, 3),
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
