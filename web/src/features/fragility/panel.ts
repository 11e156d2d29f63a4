import '../../ui/plot.css';
import './style.css';
import formulas from './formulas.json';
import { sliderHtml, showSlider } from '../../ui/controls';
import { setText } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { onNumber, showNumber } from '../../ui/number_box';
import { digits, four, percent } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../ui/plot_stage';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { LIMITS } from '../../state/state';
import { sentences } from '../../i18n/i18n';
import { Panel, type View } from '../panel';
import { t } from './feature';
import { fragilityFigure } from './page/figure';
import { drawChanges, HEIGHT } from './page/plots';
import { sharpBound, simpleBound, worstChange } from './shared/bounds';
import { DRAWS, KEYS } from './shared/constants';
import { clampScore, clampShake, fragilityRequest, SCORES, type FragilityRequest } from './state';
import type { FragilityResult } from './worker/frame_feature';

const NUMBERS = ['flips', 'mean', 'largest', 'worst', 'sharp', 'simple'] as const;
const CURVES = { plain: 'mean', scaled: 'largest', weight: 'worst', theory: 'sharp', 'theory-outside': 'simple' } as const; // prettier-ignore

/** The slider of epsilon holds 100 times its logarithm. */
const toPlace = (shake: number) => Math.round(100 * Math.log10(shake));
const fromPlace = (place: number) => clampShake(10 ** (place / 100));

/** What a small change of scores does to the weights, at every temperature. */
class FragilityPanel extends Panel {
  #request: FragilityRequest | null = null;
  #stage: PlotStage | null = null;

  protected template(): string {
    const [coldest, hottest] = LIMITS.fragilityTemperature;
    const [least, most] = LIMITS.fragilityShake;
    const scores = Array.from({ length: KEYS }, (_, i) => `
      <label class="with-number"><span>s<sub>${i + 1}</sub></span>
        <input type="number" class="score" min="${SCORES[0]}" max="${SCORES[1]}" step="0.1"></label>`); // prettier-ignore
    const number = (name: string) =>
      `<div><dt data-t="fragility.${name}"></dt><dd data-number="${name}"></dd></div>`;
    const entries = Object.entries(CURVES).map(([mark, name]) =>
      keyEntryHtml(`plot-${mark}`, `<span data-t="fragility.key.${name}"></span>`),
    );
    return `
      <div class="card">
        <div class="row-formula formulas"><span>${formulas.bound}</span><span>${formulas.limit}</span></div>
        <div class="tools-row" data-control>
          ${scores.join('')}
          ${sliderHtml('fragility-shake', 'fragility.shake', [toPlace(least), toPlace(most)])}
          ${sliderHtml('fragility-tau', 'fragility.temperature', [toSlider(coldest), toSlider(hottest)])}
          <button type="button" class="button again" data-t="fragility.again"></button>
        </div>
        <p class="placeholder" role="status"></p>
        <div class="lab" hidden>
          <div class="lab-main">
            ${stageHtml('changes')}
            <ul class="plot-key">${entries.join('')}</ul>
            <p class="verdict"></p>
          </div>
          <div class="lab-side">
            <dl class="numbers">${NUMBERS.map(number).join('')}</dl>
            <table class="data-table fragility-keys">
              <caption class="hint" data-t="fragility.table"></caption>
              <thead><tr><td></td><th scope="col">s</th><th scope="col">s′</th><th scope="col">p</th><th scope="col">p′</th></tr></thead>
              <tbody>${'<tr><th scope="row"></th><td></td><td></td><td></td><td></td></tr>'.repeat(KEYS)}</tbody>
            </table>
          </div>
        </div>
        <p class="hint check-note"></p>
      </div>`;
  }

  protected override ready(): void {
    this.querySelectorAll<HTMLInputElement>('.score').forEach((box, i) => {
      onNumber(box, clampScore, (value) => {
        const scores = this.#request?.scores ?? [];
        this.change({ fragilityScores: scores.map((old, j) => (j === i ? value : old)) });
      });
    });
    const shake = this.find('#fragility-shake', HTMLInputElement);
    shake.addEventListener('input', () =>
      this.change({ fragilityShake: fromPlace(Number(shake.value)) }),
    );
    const tau = this.find('#fragility-tau', HTMLInputElement);
    tau.addEventListener('input', () =>
      this.change({ fragilityTemperature: fromSlider(Number(tau.value)) }),
    );
    this.find('.again', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.fragilitySeed;
      const seed = this.#request?.seed ?? first;
      this.change({ fragilitySeed: seed < last ? seed + 1 : first });
    });
    this.#stage = plotStages(this, ['changes']).changes;
  }

  update({ state, frame, engine, look }: View): void {
    const request = fragilityRequest(state);
    this.#request = request;
    this.querySelectorAll<HTMLInputElement>('.score').forEach((box, i) => {
      showNumber(box, request.scores[i] ?? 0);
      box.setAttribute('aria-label', t('fragility.score', { key: i + 1 }));
    });
    showSlider(this, 'fragility-shake', toPlace(request.shake), `ε = ${request.shake}`);
    showSlider(this, 'fragility-tau', toSlider(request.temperature), `τ = ${request.temperature}`);
    const result = frame?.fragility ?? null;
    const lab = this.find('.lab', HTMLElement);
    this.find('.placeholder', HTMLElement).hidden = result !== null || !lab.hidden;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'plots.loading'));
    if (!result || !this.changed(result, look)) return;
    lab.hidden = false;
    this.#tell(result);
    this.#showKeys(result);
    const titles = { x: t('fragility.xAxis'), y: t('fragility.yAxis') };
    this.#stage?.show({
      height: HEIGHT,
      label: t('fragility.picture', spokenOf(result)),
      draw: (width) => drawChanges(pagePen, width, result, titles),
    });
  }

  #tell(result: FragilityResult): void {
    const { flips, here, error } = result;
    const { worst, sharp, simple } = boundsOf(result);
    const numbers = {
      flips: percent(flips),
      mean: four(here.mean),
      largest: four(here.largest),
      ...{ worst: four(worst), sharp: four(sharp), simple: four(simple) },
    };
    for (const name of NUMBERS) this.setText(`[data-number=${name}]`, numbers[name]);
    this.setText('.verdict', verdict(result));
    const values = { draws: DRAWS, seed: result.seed, error: digits(error, 2) };
    this.setText('.check-note', t('fragility.check', values));
  }

  #showKeys({ scores, worst, weights }: FragilityResult): void {
    const [first, after] = [leader(weights), leader(worst.weights)];
    this.querySelectorAll('tbody tr').forEach((row, i) => {
      const numbers = [scores[i], worst.scores[i], weights[i], worst.weights[i]];
      const cells = [t('fragility.row', { key: i + 1 }), ...numbers.map((n) => four(n ?? NaN))];
      Array.from(row.children).forEach((cell, j) => setText(cell, cells[j] ?? ''));
      row.classList.toggle('winner', i === first);
      row.classList.toggle('winner-after', i === after);
    });
  }

  override figure({ frame }: View): Promise<Figure | null> {
    const result = frame?.fragility ?? null;
    return Promise.resolve(result && fragilityFigure(result));
  }
}

const leader = (weights: Float32Array) => weights.indexOf(Math.max(...weights));

const boundsOf = ({ scores, shake, temperature }: FragilityRequest) => ({
  worst: worstChange(scores, shake, temperature),
  sharp: sharpBound(shake, temperature),
  simple: simpleBound(shake, temperature),
});

function spokenOf(result: FragilityResult) {
  const { sharp } = boundsOf(result);
  const { temperature, here } = result;
  const values = { mean: four(here.mean), largest: four(here.largest), sharp: four(sharp) };
  return { temperature, ...values };
}

/** How near the two largest scores are, and what that means here and in the limit. */
function verdict({ scores, shake, temperature, here }: FragilityResult): string {
  const [first = 0, second = 0] = [...scores].sort((a, b) => b - a);
  const gap = first - second;
  const values = {
    gap: four(gap),
    reach: four(2 * shake),
    temperature,
    largest: four(here.largest),
  };
  const near = t(gap < 2 * shake ? 'fragility.near' : 'fragility.far', values);
  return sentences(near, t('fragility.order', values));
}

customElements.define('qkv-panel-fragility', FragilityPanel);
