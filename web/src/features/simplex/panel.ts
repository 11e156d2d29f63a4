import '../../ui/plot.css';
import './style.css';
import formulas from './formulas.json';
import { softmaxOf } from '../../domain/softmax';
import { sliderHtml, showSlider } from '../../ui/controls';
import { setText } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { onNumber, showNumber } from '../../ui/number_box';
import { digits, four } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { plotStages, stageHtml, type PlotStage } from '../../ui/plot_stage';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { LIMITS } from '../../state/state';
import { Panel, type View } from '../panel';
import { t } from './feature';
import { draggingPoint, pressingPoint } from './page/drag_point';
import { simplexFigure } from './page/figure';
import { drawSlopes, SLOPES_HEIGHT } from './page/slope_plot';
import { drawTriangle, HEIGHT, Triangle } from './page/triangle';
import { divergence, objective, slopes, toThousandths, type Weights } from './shared/objective';
import { clampScore, SCORES, simplexPointOf, simplexRequest } from './state';
import type { SimplexResult } from './worker/frame_feature';

const KEYS = [0, 1, 2] as const;
const FIGURES = ['triangle', 'slopes'] as const;
const NUMBERS = ['here', 'best', 'gap', 'divergence'] as const;

/** Slopes closer than this, in units of the temperature, look equal on the page. */
const LEVEL = 0.02;

/** Softmax as the best weights of three keys: a point on a triangle, and the height of the objective. */
class SimplexPanel extends Panel {
  #scores: readonly number[] = [];
  #point: Weights | null = null;
  #best: ArrayLike<number> = [];
  #stages: Readonly<Record<(typeof FIGURES)[number], PlotStage>> | null = null;
  #triangle = new Triangle(0);

  protected template(): string {
    const [low, high] = LIMITS.simplexTemperature;
    const score = (i: number) => `
      <label class="with-number"><span>s<sub>${i + 1}</sub></span>
        <input type="number" class="score" min="${SCORES[0]}" max="${SCORES[1]}" step="0.1" data-t-label="simplex.score${i + 1}"></label>`;
    const number = (name: string) =>
      `<div><dt data-t="simplex.${name}"></dt><dd data-number="${name}"></dd></div>`;
    return `
      <div class="card">
        <div class="row-formula formulas"><span>${formulas.objective}</span><span>${formulas.best}</span></div>
        <div class="tools-row" data-control>
          ${KEYS.map(score).join('')}
          ${sliderHtml('simplex-tau', 'simplex.temperature', [toSlider(low), toSlider(high)])}
          <button type="button" class="button even" data-t="simplex.even"></button>
          <button type="button" class="button to-best" data-t="simplex.toBest"></button>
        </div>
        <p class="placeholder" role="status"></p>
        <div class="lab" hidden>
          <div class="lab-main">
            <div class="simplex-stage">${stageHtml('triangle')}
              <div class="plot-handle simplex-handle" role="slider" tabindex="0" aria-valuemin="0" aria-valuemax="100" data-t-label="simplex.handle"></div>
            </div>
            <p class="hint" data-t="simplex.hand"></p>
          </div>
          <div class="lab-side">
            <dl class="numbers">${NUMBERS.map(number).join('')}</dl>
            <p class="formula">${formulas.condition}</p>
            <table class="data-table simplex-keys">
              <caption class="visually-hidden" data-t="simplex.table"></caption>
              <thead><tr><td></td><th scope="col">s</th><th scope="col">p</th><th scope="col" data-t="simplex.slope"></th><th scope="col">softmax</th></tr></thead>
              <tbody>${'<tr><th scope="row"></th><td></td><td></td><td></td><td></td></tr>'.repeat(3)}</tbody>
            </table>
            ${stageHtml('slopes')}
            <p class="verdict"></p>
          </div>
        </div>
        <p class="hint check-note"></p>
      </div>`;
  }

  protected override ready(): void {
    this.querySelectorAll<HTMLInputElement>('.score').forEach((box, i) => {
      onNumber(box, clampScore, (value) =>
        this.change({ simplexScores: this.#scores.map((old, j) => (j === i ? value : old)) }),
      );
    });
    const slider = this.find('#simplex-tau', HTMLInputElement);
    slider.addEventListener('input', () =>
      this.change({ simplexTemperature: fromSlider(Number(slider.value)) }),
    );
    const set = (values: readonly number[]) => this.change({ simplexPoint: toThousandths(values) });
    this.find('.even', HTMLElement).addEventListener('click', () => set([1, 1, 1]));
    this.find('.to-best', HTMLElement).addEventListener('click', () => {
      if (this.#best.length > 0) set(Array.from(this.#best));
    });
    const hand = {
      now: () => this.#point,
      at: (spot: readonly [number, number]) => this.#triangle.weights(spot),
      set,
    };
    draggingPoint(this.find('.simplex-stage', HTMLElement), hand);
    pressingPoint(this.find('.simplex-handle', HTMLElement), hand);
    this.#stages = plotStages(this, FIGURES);
  }

  update(view: View): void {
    const { state, frame, engine, look } = view;
    const { scores, temperature } = simplexRequest(state);
    this.#scores = scores;
    this.#point = state.controls ? simplexPointOf(state) : null;
    this.querySelectorAll<HTMLInputElement>('.score').forEach((box, i) =>
      showNumber(box, scores[i] ?? 0),
    );
    showSlider(this, 'simplex-tau', toSlider(temperature), `τ = ${temperature}`);
    const result = frame?.simplex ?? null;
    const lab = this.find('.lab', HTMLElement);
    this.find('.placeholder', HTMLElement).hidden = result !== null || !lab.hidden;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'plots.loading'));
    const point = simplexPointOf(state);
    if (!result || !this.changed(result, point.join(), look)) return;
    lab.hidden = false;
    this.#best = result.best;
    this.#tell(result, point);
    this.#draw(result, point);
  }

  #draw(result: SimplexResult, p: Weights): void {
    const { scores, temperature, best, value } = result;
    const words = { p: vector(p), best: vector(best), value: digits(value, 4) };
    const names = KEYS.map((i) => t('simplex.key', { key: i + 1 }));
    this.#stages?.triangle.show({
      height: HEIGHT,
      label: t('simplex.picture', words),
      draw: (width) => {
        this.#triangle = new Triangle(width);
        this.#place(p);
        return drawTriangle(pagePen, width, result, { names, title: t('simplex.height') });
      },
    });
    const marks = { slopes: slopes(p, scores, temperature), lambda: value - temperature };
    const labels = { names, title: t('simplex.slopesTitle') };
    this.#stages?.slopes.show({
      height: SLOPES_HEIGHT,
      label: t('simplex.slopesPicture', {
        slopes: marks.slopes.map((slope) => digits(slope, 3)).join(', '),
        lambda: digits(marks.lambda, 3),
      }),
      draw: (width) => drawSlopes(pagePen, width, marks, labels),
    });
  }

  #place(p: Weights): void {
    const [x, y] = this.#triangle.spot(p);
    const { style } = this.find('.simplex-handle', HTMLElement);
    style.left = `${x.toFixed(1)}px`;
    style.top = `${y.toFixed(1)}px`;
  }

  #tell({ scores, temperature, best, value, error }: SimplexResult, p: Weights): void {
    const here = objective(p, scores, temperature);
    const exact = softmaxOf(scores.map((score) => score / temperature));
    const apart = temperature * divergence(p, exact);
    const numbers = { here, best: value, gap: value - here, divergence: apart };
    for (const name of NUMBERS) this.setText(`[data-number=${name}]`, four(numbers[name]));
    const found = slopes(p, scores, temperature);
    this.querySelectorAll('tbody tr').forEach((row, i) => {
      const numbers = [scores[i], p[i], found[i], best[i]].map((value) => four(value ?? NaN));
      const cells = [t('simplex.key', { key: i + 1 }), ...numbers];
      Array.from(row.children).forEach((cell, j) => setText(cell, cells[j] ?? ''));
    });
    const handle = this.find('.simplex-handle', HTMLElement);
    handle.setAttribute('aria-valuenow', String(Math.round(100 * p[0])));
    const spoken = { p: vector(p), here: four(here), best: four(value) };
    handle.setAttribute('aria-valuetext', t('simplex.spoken', spoken));
    this.setText('.verdict', verdict(found, temperature));
    this.setText('.check-note', t('simplex.check', { error: digits(error, 2) }));
  }

  override figure({ state, frame }: View): Promise<Figure | null> {
    const result = frame?.simplex ?? null;
    return Promise.resolve(result && simplexFigure(result, simplexPointOf(state)));
  }
}

const vector = (values: ArrayLike<number>) =>
  `(${Array.from(values, (value) => value.toFixed(3)).join(', ')})`;

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
