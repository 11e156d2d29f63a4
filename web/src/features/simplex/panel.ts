import '../../ui/plot.css';
import './style.css';
import { html, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import formulas from './formulas.json';
import { softmaxOf } from '../../domain/softmax';
import type { Figure } from '../../ui/export_figure';
import { button, scoreBox, slider } from '../../ui/lit/controls';
import { stage } from '../../ui/lit/plots';
import { numberList, tableHead, tableRow } from '../../ui/lit/tables';
import { formula, formulaRow } from '../../ui/lit/texts';
import { digits, four } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { LIMITS } from '../../state/state';
import { LitPanel, waiting } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { draggingPoint, pressingPoint } from './page/drag_point';
import { simplexFigure } from './page/figure';
import { drawSlopes, SLOPES_HEIGHT } from './page/slope_plot';
import { drawTriangle, HEIGHT, Triangle } from './page/triangle';
import { divergence, objective, slopes, toThousandths, type Weights } from './shared/objective';
import { clampScore, SCORES } from '../../state/score';
import { simplexPointOf, simplexRequest } from './state';
import type { SimplexResult } from './worker/frame_feature';

const KEYS = [0, 1, 2] as const;

/** Slopes closer than this, in units of the temperature, look equal on the page. */
const LEVEL = 0.02;

/** Softmax as the best weights of three keys: a point on a triangle, and the height of the objective. */
class SimplexPanel extends LitPanel {
  /** The latest; a new one takes a moment. */
  #result: SimplexResult | null = null;
  #shown: Weights | null = null;
  /** Whether it may be moved. */
  #isFree = false;
  #triangle = new Triangle(0);
  readonly #hand = {
    now: () => (this.#isFree ? this.#shown : null),
    at: (spot: readonly [number, number]) => this.#triangle.weights(spot),
    set: (values: readonly number[]) => this.change({ simplexPoint: toThousandths(values) }),
  };
  readonly #dragged = (element?: Element) => {
    if (element instanceof HTMLElement) draggingPoint(element, this.#hand);
  };
  readonly #pressed = (element?: Element) => {
    if (element instanceof HTMLElement) pressingPoint(element, this.#hand);
  };

  protected inputs({ state, frame, engine, look }: View): readonly unknown[] {
    const { scores, temperature } = simplexRequest(state);
    const point = simplexPointOf(state).join();
    return [frame?.simplex, point, scores.join(), temperature, state.controls, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const { state, frame } = view;
    const point = simplexPointOf(state);
    this.#shown = point;
    this.#isFree = state.controls;
    const result = (this.#result = frame?.simplex ?? this.#result);
    const error = result ? t('simplex.check', { error: digits(result.error, 2) }) : '';
    return html`<div class="card">
      ${formulaRow(formula(formulas.objective), formula(formulas.best))}
      ${this.#tools(view)}
      ${waiting(view, result !== null)}
      ${result && this.#lab(result, point)}
      <p class="hint check-note">${error}</p>
    </div>`;
  }

  #tools({ state }: View): TemplateResult {
    const { scores, temperature } = simplexRequest(state);
    const [low, high] = LIMITS.simplexTemperature;
    const box = (i: 0 | 1 | 2) =>
      scoreBox(i + 1, t(`simplex.score${(i + 1) as 1 | 2 | 3}`), {
        ...{ value: scores[i] ?? 0, limits: SCORES, nearest: clampScore },
        take: (value) =>
          this.change({ simplexScores: scores.map((s, j) => (j === i ? value : s)) }),
      });
    return html`<div class="tools-row" data-control>
      ${KEYS.map(box)}
      ${slider({
        ...{ id: 'simplex-tau', label: t('simplex.temperature') },
        ...{ limits: [toSlider(low), toSlider(high)], place: toSlider(temperature) },
        words: `τ = ${temperature}`,
        take: (place) => this.change({ simplexTemperature: fromSlider(place) }),
      })}
      ${button('even', t('simplex.even'), () => this.#hand.set([1, 1, 1]))}
      ${button('to-best', t('simplex.toBest'), () => {
        if (this.#result) this.#hand.set(Array.from(this.#result.best));
      })}
    </div>`;
  }

  #lab(result: SimplexResult, p: Weights): TemplateResult {
    const { scores, temperature, best, value } = result;
    const here = objective(p, scores, temperature);
    const exact = softmaxOf(scores.map((score) => score / temperature));
    const found = slopes(p, scores, temperature);
    const numbers = {
      ...{ here: four(here), best: four(value), gap: four(value - here) },
      divergence: four(temperature * divergence(p, exact)),
    };
    const row = (i: number) => {
      const cells = [scores[i], p[i], found[i], best[i]].map((number) => four(number ?? NaN));
      return tableRow(t('simplex.key', { key: i + 1 }), cells);
    };
    return html`<div class="lab">
      <div class="lab-main">
        <div class="simplex-stage" ${ref(this.#dragged)}>${this.#triangleOf(result, p)}
          <div class="plot-handle simplex-handle" role="slider" tabindex="0" aria-valuemin="0" aria-valuemax="100"
            aria-label=${t('simplex.handle')} aria-valuenow=${Math.round(100 * p[0])}
            aria-valuetext=${t('simplex.spoken', { p: vector(p), here: four(here), best: four(value) })} ${ref(this.#pressed)}></div>
        </div>
        <p class="hint">${t('simplex.hand')}</p>
      </div>
      <div class="lab-side">
        ${numberList(numbers, (name) => t(`simplex.${name}`))}
        <p class="formula">${formula(formulas.condition)}</p>
        <table class="data-table simplex-keys">
          <caption class="visually-hidden">${t('simplex.table')}</caption>
          ${tableHead([null, 's', 'p', t('simplex.slope'), 'softmax'])}
          <tbody>${KEYS.map(row)}</tbody>
        </table>
        ${slopesOf(found, value - temperature)}
        <p class="verdict">${verdict(found, temperature)}</p>
      </div>
    </div>`;
  }

  #triangleOf(result: SimplexResult, p: Weights): TemplateResult {
    const words = { p: vector(p), best: vector(result.best), value: digits(result.value, 4) };
    return stage('triangle', {
      height: HEIGHT,
      label: t('simplex.picture', words),
      draw: (width) => {
        this.#triangle = new Triangle(width);
        this.#place();
        return drawTriangle(pagePen, width, result, {
          names: keyNames(),
          title: t('simplex.height'),
        });
      },
    });
  }

  protected override rendered(): void {
    this.#place();
  }

  #place(): void {
    const handle = this.querySelector<HTMLElement>('.simplex-handle');
    if (!handle || !this.#shown) return;
    const [x, y] = this.#triangle.spot(this.#shown);
    handle.style.left = `${x.toFixed(1)}px`;
    handle.style.top = `${y.toFixed(1)}px`;
  }

  override figure({ state, frame }: View): Promise<Figure | null> {
    const result = frame?.simplex ?? null;
    return Promise.resolve(result && simplexFigure(result, simplexPointOf(state)));
  }
}

const vector = (values: ArrayLike<number>) =>
  `(${Array.from(values, (value) => value.toFixed(3)).join(', ')})`;

const keyNames = () => KEYS.map((i) => t('simplex.key', { key: i + 1 }));

function slopesOf(found: readonly number[], lambda: number): TemplateResult {
  const values = found.map((slope) => digits(slope, 3)).join(', ');
  const labels = { names: keyNames(), title: t('simplex.slopesTitle') };
  return stage('slopes', {
    height: SLOPES_HEIGHT,
    label: t('simplex.slopesPicture', { slopes: values, lambda: digits(lambda, 3) }),
    draw: (width) => drawSlopes(pagePen, width, { slopes: found, lambda }, labels),
  });
}

/** Which way is up: from the key with the smallest slope that has weight to give to the one with the largest. */
function verdict(found: readonly number[], temperature: number): string {
  const most = found.indexOf(Math.max(...found));
  const least = found.indexOf(Math.min(...found));
  const apart = (found[most] ?? 0) - (found[least] ?? 0);
  if (apart < LEVEL * temperature) return t('simplex.level');
  const names = { from: least + 1, to: most + 1 };
  if (!Number.isFinite(apart)) return t('simplex.edge', names);
  return t('simplex.uphill', { ...names, apart: four(apart) });
}

customElements.define('qkv-panel-simplex', SimplexPanel);
