import '../../ui/plot.css';
import './style.css';
import { html, nothing, type TemplateResult } from 'lit-html';
import { guard } from 'lit-html/directives/guard.js';
import { ref } from 'lit-html/directives/ref.js';
import { unsafeSVG } from 'lit-html/directives/unsafe-svg.js';
import formulas from './formulas.json';
import type { Figure } from '../../ui/export_figure';
import { temperatureFigure } from './page/figure';
import { t, type Key } from './feature';
import { digits } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import type { Plot } from '../../ui/plot_stage';
import { Guess } from '../../ui/guess';
import { radios } from '../../ui/lit/controls';
import { drawn, keyEntry } from '../../ui/lit/plots';
import { numberList } from '../../ui/lit/tables';
import { formula, formulaRow, rich } from '../../ui/lit/texts';
import { LIMITS, type State } from '../../state/state';
import { LitPanel } from '../lit_panel';
import { isCurrent, type View } from '../panel';
import { drawCurves, drawHere, entropyScale, placesOf, type Places } from './page/plots';
import { GainPart } from './page/gain_part';
import { JacobianPart } from './page/jacobian_part';
import { dragging, pressing } from './page/drag_dial';
import { drawScores, HISTOGRAM_HEIGHT } from './page/histogram';
import {
  answer,
  describe,
  gradientStory,
  lawNumbers,
  question,
  rowWords,
  spoken,
  verdictWords,
  type Shown,
} from './page/sentences';
import type { TemperaturePoint } from './worker/temperature_study';

/** Curves, as they are in the key below the drawing. */
const CURVES = ['measured', 'theory', 'weight', 'gradient'] as const;
const WAYS = ['up', 'down'] as const;

/** One row at all temperatures: its entropy against the law of normal scores, and where it collapses. */
class TemperaturePanel extends LitPanel {
  #state: State | null = null;
  /** What was shown stays until the curves of the new row are there: dot and curves never differ. */
  #shown: Shown | null = null;
  /** What the reader guessed, and about what. */
  #guess: { way: (typeof WAYS)[number]; of: Shown } | null = null;
  /** Of the stage of the curves: unlike a PlotStage it also has a dot, which moves over a drawing that stays. */
  #width = 0;
  readonly #resize = new ResizeObserver(([entry]) => {
    const width = Math.round(entry?.contentRect.width ?? 0);
    if (width === this.#width) return;
    this.#width = width;
    this.refresh();
  });
  readonly #dial = {
    temperature: () => (this.#state?.controls ? this.#state.temperature : null),
    at: (x: number) => placesOf(this.#width).temperatureAt(x),
    // Whoever moves the dot sees where it goes.
    set: (temperature: number) => this.change({ temperature, curves: true }),
  };
  readonly #staged = (stage?: Element) => {
    if (!(stage instanceof HTMLElement)) return;
    this.#resize.observe(stage);
    const hold = (held: boolean) =>
      this.dispatchEvent(new CustomEvent('temperature-held', { bubbles: true, detail: held }));
    dragging(stage, { ...this.#dial, hold });
  };
  readonly #handled = (handle?: Element) => {
    if (handle instanceof HTMLElement) pressing(handle, this.#dial);
  };

  override update(view: View): void {
    this.#state = view.state;
    this.#shown = shownOf(view) ?? this.#shown;
    super.update(view);
    this.find('qkv-jacobian', JacobianPart).update(view);
    this.find('qkv-gain', GainPart).update(view);
  }

  protected inputs({ state, list, engine, look }: View): readonly unknown[] {
    const isEmpty = list.tokens.length === 0;
    const { scores, curves } = state;
    return [this.#shown?.point, this.#shown?.study, scores, curves, isEmpty, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const { scores, curves } = view.state;
    const shown = this.#shown;
    const missing = missingKey(view, shown);
    const live = shown ? liveOf(shown.point) : {};
    const ofScores = [
      ['random', t('temperature.ofRandom')],
      ['row', t('temperature.ofRow')],
    ] as const;
    return html`
      <div class="card">
        ${formulaRow(
          formula(formulas.entropyLaw, live),
          formula(formulas.criticalTemperature, live),
          formula(formulas.jacobian),
        )}
        <div class="tools-row" data-control>
          <fieldset class="segmented"><legend class="visually-hidden">${t('temperature.choose')}</legend>
            ${radios('lab-scores', ofScores, scores, (chosen) => this.change({ scores: chosen }))}</fieldset>
        </div>
        <p class="placeholder" role="status" ?hidden=${missing === null}>${missing ? t(missing) : ''}</p>
        <div class="lab" ?hidden=${missing !== null}>${shown && this.#lab(shown, guessesFirst(shown, curves), view.look)}</div>
        <p class="hint check-note" ?hidden=${missing !== null}>${shown && checkText(shown)}</p>
      </div>
      <div class="card"><qkv-jacobian></qkv-jacobian></div>
      <div class="card"><qkv-gain></qkv-gain></div>`;
  }

  #lab(shown: Shown, isGuessing: boolean, look: number): TemplateResult {
    const { frame, point } = shown;
    const histogram = guard([point.of.id, look], () => drawn(histogramOf(shown)));
    return html`
      <div class="lab-main">
        <p class="lab-row">${rich(...rowWords(frame, point))}</p>
        <qkv-guess @guessed=${this.#guessed}></qkv-guess>
        ${this.#curves(shown, isGuessing, look)}
        <ul class="plot-key" ?hidden=${isGuessing}>${CURVES.map((mark) => keyEntry(`plot-${mark}`, t(`key.${mark}`)))}</ul>
        <p class="hint drag-hint" data-control>${t('temperature.drag')}</p>
      </div>
      <div class="lab-side">
        <p class="verdict" data-verdict=${point.verdict} ?hidden=${isGuessing}>${rich(...verdictWords(point))}</p>
        ${numberList(numbersOf(point), (name) => t(`temperature.${name}`))}
        <div class="plot-stage scores" ${histogram}></div>
        <p class="hint gradient-story" ?hidden=${isGuessing}>${gradientStory(point)}</p>
        <button type="button" class="button again" ?hidden=${isGuessing || isDull(point)} @click=${this.#again}>${t('guess.again')}</button>
      </div>`;
  }

  #curves(shown: Shown, isGuessing: boolean, look: number): TemplateResult {
    const { point } = shown;
    const { temperature, entropy } = point;
    const places = placesOf(this.#width);
    const [least, most] = LIMITS.temperature;
    const top = entropyScale(places, point.of.scores.length)(entropy);
    return html`<div class="plot-stage curves" ${ref(this.#staged)}>
      <div class="drawing">${this.#width > 0 ? drawingOf(shown, isGuessing, places, look) : nothing}</div>
      <div class="plot-handle" role="slider" tabindex="0" data-control aria-label=${t('controls.temperature')}
        aria-valuemin=${least} aria-valuemax=${most} aria-valuenow=${temperature} aria-valuetext=${spoken(point, !isGuessing)}
        .style=${`left: ${places.x(temperature)}px; top: ${top}px`} ${ref(this.#handled)}></div>
    </div>`;
  }

  protected override rendered({ state }: View): void {
    const shown = this.#shown;
    if (!shown) return;
    const isGuessing = guessesFirst(shown, state.curves);
    const guess = this.find('qkv-guess', Guess);
    const choices = WAYS.map((value) => ({ value, label: t(`guess.${value}`) }));
    guess.ask(isGuessing ? question(shown.point) : null, choices);
    if (isGuessing || this.#guess?.of.point.of.id !== shown.point.of.id) this.#guess = null;
    guess.tell(this.#guess ? answer(this.#guess.of, this.#guess.way) : '', false);
  }

  readonly #guessed = ({ detail }: CustomEvent<string | null>) => {
    const way = WAYS.find((each) => each === detail);
    if (way && this.#shown) this.#guess = { way, of: this.#shown };
    this.change({ curves: true });
    // What had the focus is about to go.
    requestAnimationFrame(() =>
      this.find('.plot-handle', HTMLElement).focus({ preventScroll: true }),
    );
  };

  readonly #again = () => {
    this.change({ curves: false });
    this.find('qkv-guess', Guess).focusFirst();
  };

  override figure(): Promise<Figure | null> {
    return Promise.resolve(this.#shown && temperatureFigure(this.#shown));
  }
}

/** What of a view can be shown: a row and its curves. */
function shownOf(view: View): Shown | null {
  if (!isCurrent(view)) return null;
  const { frame, studies } = view;
  const [point, study] = [frame.temperature, studies.temperature];
  return point && study?.id === point.of.id ? { frame, point, study } : null;
}

/** Why there is nothing to show; null: there is something. */
function missingKey({ state, list, engine }: View, shown: Shown | null): Key | null {
  if (engine.kind === 'failed') return 'map.failed';
  if (state.scores === 'row' && list.tokens.length === 0) return 'plots.empty';
  return shown ? null : 'plots.loading';
}

/** Whether it leaves nothing to guess. */
const isDull = ({ verdict }: TemperaturePoint) => verdict === 'single' || verdict === 'equal';

/** Whether the reader is to guess before the curves are shown. */
const guessesFirst = ({ point }: Shown, curves: boolean) => !curves && !isDull(point);

/** What stands in formulas. */
const liveOf = ({ of: { scores, cumulants, critical }, temperature }: TemperaturePoint) => ({
  ...{ keys: String(scores.length), variance: digits(cumulants[2] ?? NaN, 4) },
  ...{ tau: String(temperature), critical: critical === null ? '–' : digits(critical, 4) },
});

const numbersOf = (point: TemperaturePoint) => ({
  ...{ entropy: digits(point.entropy, 4), ...lawNumbers(point) },
  ...{ largest: digits(point.largest, 4), gradient: digits(point.gradient, 4) },
});

function checkText({ study: { temperatures, error }, point }: Shown): string {
  return t('temperature.check', {
    ...{ count: temperatures.length, here: digits(point.error, 2) },
    ...{ entropy: digits(error.entropy, 2), largest: digits(error.largest, 2) },
    gradient: digits(error.gradient, 2),
  });
}

/** While the dot is dragged only the dot is drawn: the curves stay as they are. */
function drawingOf(
  shown: Shown,
  isGuessing: boolean,
  places: Places,
  look: number,
): TemplateResult {
  const { point, study } = shown;
  const { width, height } = places;
  const known = isGuessing ? null : study;
  const curves = guard([point.of.id, isGuessing, width, look], () =>
    unsafeSVG(drawCurves(pagePen, places, point.of, known)),
  );
  const label = isGuessing ? spoken(point, false) : describe(shown);
  return html`<svg xmlns="http://www.w3.org/2000/svg" class="plot" width=${width} height=${height} viewBox="0 0 ${width} ${height}" role="img" aria-label=${label}>
    ${curves}<g class="here">${unsafeSVG(drawHere(pagePen, places, known, point))}</g></svg>`;
}

function histogramOf({ study, point: { of } }: Shown): Plot {
  const values = {
    ...{ count: of.scores.length, mean: digits(of.mean, 3) },
    variance: digits(of.cumulants[2] ?? NaN, 3),
  };
  return {
    height: HISTOGRAM_HEIGHT,
    label: t('temperature.histogram', values),
    draw: (width) => drawScores(pagePen, width, study, of),
  };
}

customElements.define('qkv-panel-temperature', TemperaturePanel);
