import '../../ui/plot.css';
import './style.css';
import formulas from './formulas.json';
import type { Figure } from '../../ui/export_figure';
import { temperatureFigure } from './page/figure';
import { t, type Key } from './feature';
import { digits } from '../../ui/numbers';
import { pagePen, pageSvg } from '../../ui/plot';
import { PlotStage } from '../../ui/plot_stage';
import { Guess } from '../../ui/guess';
import { richOf } from '../../i18n/i18n';
import { richNodes } from '../../i18n/markup';
import { LAB_SCORES } from './shared/constants';
import { LIMITS } from '../../state/state';
import { isCurrent, Panel, type View } from '../panel';
import { radiosHtml } from '../../ui/controls';
import { drawCurves, drawHere, entropyScale, placesOf } from './page/plots';
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
  rowName,
  rowWords,
  spoken,
  verdict,
  type Shown,
} from './page/sentences';

const NUMBERS = ['entropy', 'theory', 'difference', 'largest', 'gradient'] as const;
const SCORES = { random: 'ofRandom', row: 'ofRow' } as const;
const keyEntry = (mark: string) =>
  `<li><svg width="30" height="10" aria-hidden="true"><path class="plot-${mark}" d="M0 5H30"/></svg><span data-t="key.${mark}"></span></li>`;

/** One row at all temperatures: its entropy against the law of normal scores, and where it collapses. */
class TemperaturePanel extends Panel {
  #view: View | null = null;
  #shown: Shown | null = null;
  /** What the reader guessed, and about what. */
  #guess: { way: 'up' | 'down'; of: Shown } | null = null;
  #histogram: PlotStage | null = null;
  /** Of the stage of the curves: unlike a PlotStage it also has a dot, which moves over a drawing that stays. */
  #width = 0;
  readonly #resize = new ResizeObserver((entries) => {
    for (const { contentRect } of entries) this.#width = Math.round(contentRect.width);
    if (this.#view) this.update(this.#view);
  });

  protected template(): string {
    const numbers = NUMBERS.map(
      (name) => `<div><dt data-t="temperature.${name}"></dt><dd data-number="${name}"></dd></div>`,
    );
    const scores = radiosHtml('lab-scores', LAB_SCORES, (name) => `temperature.${SCORES[name]}`);
    return `
      <div class="card">
        <div class="row-formula formulas"><span>${formulas.entropyLaw}</span><span>${formulas.criticalTemperature}</span><span>${formulas.jacobian}</span></div>
        <div class="tools-row" data-control>
          <fieldset class="segmented"><legend class="visually-hidden" data-t="temperature.choose"></legend>${scores}</fieldset>
        </div>
        <p class="placeholder" role="status"></p>
        <div class="lab" hidden>
          <div class="lab-main">
            <p class="lab-row"></p>
            <qkv-guess></qkv-guess>
            <div class="plot-stage curves"><div class="drawing"></div>
              <div class="plot-handle" role="slider" tabindex="0" data-control data-t-label="controls.temperature"
                aria-valuemin="${LIMITS.temperature[0]}" aria-valuemax="${LIMITS.temperature[1]}"></div></div>
            <ul class="plot-key">${['measured', 'theory', 'weight', 'gradient'].map(keyEntry).join('')}</ul>
            <p class="hint drag-hint" data-control data-t="temperature.drag"></p>
          </div>
          <div class="lab-side">
            <p class="verdict"></p>
            <dl class="numbers">${numbers.join('')}</dl>
            <div class="plot-stage scores"></div>
            <p class="hint gradient-story"></p>
            <button type="button" class="button again" data-t="guess.again"></button>
          </div>
        </div>
        <p class="hint check-note"></p>
      </div>
      <div class="card"><qkv-jacobian></qkv-jacobian></div>
      <div class="card"><qkv-gain></qkv-gain></div>`;
  }

  protected override ready(): void {
    this.#resize.observe(this.find('.curves', HTMLElement));
    this.#histogram = new PlotStage(this.find('.scores', HTMLElement));
    this.addEventListener('guessed', (event) => {
      const way = (event as CustomEvent<string | null>).detail;
      if (this.#shown && (way === 'up' || way === 'down')) this.#guess = { way, of: this.#shown };
      this.change({ curves: true });
      this.#focusOn('.plot-handle');
    });
    this.addEventListener('change', ({ target }) => {
      const chosen = target instanceof HTMLInputElement && target.name === 'lab-scores' && target;
      const scores = chosen && LAB_SCORES.find((name) => name === chosen.value);
      if (scores) this.change({ scores });
    });
    this.find('.again', HTMLElement).addEventListener('click', () => {
      this.change({ curves: false });
      this.find('qkv-guess', Guess).focusFirst();
    });
    const dial = {
      temperature: () => (this.#view?.state.controls ? this.#view.state.temperature : null),
      at: (x: number) => placesOf(this.#width).temperatureAt(x),
      // Whoever moves the dot sees where it goes.
      set: (temperature: number) => this.change({ temperature, curves: true }),
    };
    const hold = (held: boolean) =>
      this.dispatchEvent(new CustomEvent('temperature-held', { bubbles: true, detail: held }));
    dragging(this.find('.curves', HTMLElement), { ...dial, hold });
    pressing(this.find('.plot-handle', HTMLElement), dial);
  }

  /** When it is there: what had the focus is about to go. */
  #focusOn(selector: string): void {
    requestAnimationFrame(() => this.find(selector, HTMLElement).focus({ preventScroll: true }));
  }

  // ---- drawing ----

  update(view: View): void {
    this.#view = view;
    this.find('qkv-jacobian', JacobianPart).update(view);
    this.find('qkv-gain', GainPart).update(view);
    const { frame, studies, state, list, engine } = view;
    const point = isCurrent(view) ? view.frame.temperature : null;
    for (const radio of this.querySelectorAll<HTMLInputElement>('[name=lab-scores]')) {
      radio.checked = radio.value === state.scores;
    }
    // What was shown stays until the curves of the new row are there: dot and curves never differ.
    if (frame && point && studies.temperature?.id === point.of.id) {
      this.#shown = { frame, point, study: studies.temperature };
    }
    const broken = engine.kind === 'failed';
    const empty = state.scores === 'row' && list.tokens.length === 0;
    const shown = empty || broken ? null : this.#shown;
    const placeholder = this.find('.placeholder', HTMLElement);
    placeholder.hidden = shown !== null;
    let message: Key = 'plots.loading';
    if (broken) message = 'map.failed';
    else if (empty) message = 'plots.empty';
    this.setText('.placeholder', shown ? '' : t(message));
    this.find('.lab', HTMLElement).hidden = shown === null;
    this.find('.check-note', HTMLElement).hidden = shown === null;
    if (!shown) return;
    const asked =
      !state.curves && shown.point.verdict !== 'single' && shown.point.verdict !== 'equal';
    const { point: at, study } = shown;
    if (!this.changed(at, study, asked, this.#guess, this.#width, view.look)) return;
    this.#tell(shown, asked);
    if (this.#width > 0) this.#draw(shown, asked, view.look);
  }

  /** While the dot is dragged only the dot is drawn: the curves stay as they are. */
  #draw(shown: Shown, asked: boolean, look: number): void {
    const { point, study } = shown;
    const places = placesOf(this.#width);
    const known = asked ? null : study;
    const curved = [point.of.id, asked, this.#width, look].join();
    const drawing = this.find('.drawing', HTMLElement);
    if (drawing.dataset['of'] !== curved) {
      drawing.dataset['of'] = curved;
      const body = `${drawCurves(pagePen, places, point.of, known)}<g class="here"></g>`;
      drawing.innerHTML = pageSvg(places.width, places.height, body);
      this.#drawScores(shown);
    }
    this.find('.here', SVGGElement).innerHTML = drawHere(pagePen, places, known, point);
    const label = asked ? spoken(point, false) : describe(shown);
    this.find('.drawing svg', SVGSVGElement).setAttribute('aria-label', label);
    const handle = this.find('.plot-handle', HTMLElement);
    handle.style.left = `${places.x(point.temperature)}px`;
    handle.style.top = `${entropyScale(places, point.of.scores.length)(point.entropy)}px`;
    handle.setAttribute('aria-valuenow', String(point.temperature));
    handle.setAttribute('aria-valuetext', spoken(point, !asked));
  }

  #drawScores({ study, point: { of } }: Shown): void {
    const values = {
      count: of.scores.length,
      mean: digits(of.mean, 3),
      variance: digits(of.cumulants[2] ?? NaN, 3),
    };
    this.#histogram?.show({
      height: HISTOGRAM_HEIGHT,
      label: t('temperature.histogram', values),
      draw: (width) => drawScores(pagePen, width, study, of),
    });
  }

  #tell(shown: Shown, asked: boolean): void {
    const { frame, point, study } = shown;
    const { critical, cumulants, scores } = point.of;
    this.#rich('.lab-row', rowName(frame, point), () => richOf(...rowWords(frame, point)));
    const guess = this.find('qkv-guess', Guess);
    guess.ask(asked ? question(point) : null, [
      { value: 'up', label: t('guess.up') },
      { value: 'down', label: t('guess.down') },
    ]);
    if (asked || this.#guess?.of.point.of.id !== point.of.id) this.#guess = null;
    guess.tell(this.#guess ? answer(this.#guess.of, this.#guess.way) : '', false);
    this.find('.again', HTMLElement).hidden = asked || ['single', 'equal'].includes(point.verdict);
    for (const part of ['.plot-key', '.verdict', '.gradient-story']) {
      this.find(part, HTMLElement).hidden = asked;
    }
    this.#rich('.verdict', verdict(point));
    this.find('.verdict', HTMLElement).dataset['verdict'] = point.verdict;
    this.#rich('.gradient-story', gradientStory(point));
    const numbers = {
      entropy: digits(point.entropy, 4),
      ...lawNumbers(point),
      largest: digits(point.largest, 4),
      gradient: digits(point.gradient, 4),
    };
    for (const name of NUMBERS) this.setText(`[data-number=${name}]`, numbers[name]);
    const { entropy, largest, gradient } = study.error;
    const errors = {
      count: study.temperatures.length,
      entropy: digits(entropy, 2),
      largest: digits(largest, 2),
      gradient: digits(gradient, 2),
      here: digits(point.error, 2),
    };
    this.setText('.check-note', t('temperature.check', errors));
    this.#live({
      keys: String(scores.length),
      variance: digits(cumulants[2] ?? NaN, 4),
      tau: String(point.temperature),
      critical: critical === null ? '–' : digits(critical, 4),
    });
  }

  #rich(selector: string, source: string, nodes = () => richNodes(source)): void {
    const element = this.find(selector, HTMLElement);
    if (element.dataset['source'] === source) return;
    element.dataset['source'] = source;
    element.replaceChildren(...nodes());
  }

  #live(values: Readonly<Record<string, string>>): void {
    for (const place of this.querySelectorAll('[data-live]')) {
      place.textContent = values[place.getAttribute('data-live') ?? ''] ?? '';
    }
  }

  override figure(): Promise<Figure | null> {
    return Promise.resolve(this.#shown && temperatureFigure(this.#shown));
  }
}

customElements.define('qkv-panel-temperature', TemperaturePanel);
