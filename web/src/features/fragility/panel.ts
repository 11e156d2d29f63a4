import '../../ui/plot.css';
import './style.css';
import { html, type TemplateResult } from 'lit-html';
import formulas from './formulas.json';
import { largestAt } from '../../domain/largest_at';
import type { Figure } from '../../ui/export_figure';
import { button, nextWithin, scoreBox, slider } from '../../ui/lit/controls';
import { keyEntry, stage } from '../../ui/lit/plots';
import { numberList, tableHead, tableRow } from '../../ui/lit/tables';
import { formula, formulaRow } from '../../ui/lit/texts';
import { digits, four, percent } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { fromSlider, toSlider } from '../../ui/temperature_slider';
import { LIMITS } from '../../state/state';
import { sentences } from '../../i18n/i18n';
import { LitPanel, waiting } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { fragilityFigure } from './page/figure';
import { drawChanges, HEIGHT } from './page/plots';
import { sharpBound, simpleBound, worstChange } from './shared/bounds';
import { DRAWS } from './shared/constants';
import { clampScore, SCORES } from '../../state/score';
import { clampShake, fragilityRequest, type FragilityRequest } from './state';
import type { FragilityResult } from './worker/frame_feature';

const CURVES = [
  ['plain', 'mean'],
  ['scaled', 'largest'],
  ['weight', 'worst'],
  ['theory', 'sharp'],
  ['theory-outside', 'simple'],
] as const;

/** The slider of epsilon holds 100 times its logarithm. STEP is 12 %, as less can leave the two digits of epsilon as they are. */
const STEP = 5;
const toPlace = (shake: number) => Math.round(100 * Math.log10(shake));
const fromPlace = (place: number) => clampShake(10 ** (place / 100));

/** What a small change of scores does to the weights, at every temperature. */
class FragilityPanel extends LitPanel {
  /** The latest; a new one takes a moment. */
  #result: FragilityResult | null = null;

  protected inputs({ state, frame, engine, look }: View): readonly unknown[] {
    return [JSON.stringify(fragilityRequest(state)), frame?.fragility, engine.kind, look];
  }

  protected render(view: View): TemplateResult {
    const result = (this.#result = view.frame?.fragility ?? this.#result);
    const checked = result && { draws: DRAWS, seed: result.seed, error: digits(result.error, 2) };
    return html`<div class="card">
      ${formulaRow(formula(formulas.bound), formula(formulas.limit))}
      ${this.#tools(fragilityRequest(view.state))}
      ${waiting(view, result !== null)}
      ${result && labOf(result)}
      <p class="hint check-note">${checked && t('fragility.check', checked)}</p>
    </div>`;
  }

  #tools({ scores, shake, temperature, seed }: FragilityRequest): TemplateResult {
    const [coldest, hottest] = LIMITS.fragilityTemperature;
    const [least, most] = LIMITS.fragilityShake;
    const box = (value: number, i: number) =>
      scoreBox(i + 1, t('fragility.score', { key: i + 1 }), {
        ...{ value, limits: SCORES, nearest: clampScore },
        take: (to) => this.change({ fragilityScores: scores.map((s, j) => (j === i ? to : s)) }),
      });
    return html`<div class="tools-row" data-control>
      ${scores.map(box)}
      ${slider({
        ...{ id: 'fragility-shake', label: t('fragility.shake'), words: `ε = ${shake}` },
        ...{ limits: [toPlace(least), toPlace(most)], step: STEP, place: toPlace(shake) },
        take: (place) => this.change({ fragilityShake: fromPlace(place) }),
      })}
      ${slider({
        ...{ id: 'fragility-tau', label: t('fragility.temperature'), words: `τ = ${temperature}` },
        ...{ limits: [toSlider(coldest), toSlider(hottest)], place: toSlider(temperature) },
        take: (place) => this.change({ fragilityTemperature: fromSlider(place) }),
      })}
      ${button('again', t('fragility.again'), () => this.change({ fragilitySeed: nextWithin(LIMITS.fragilitySeed, seed) }))}
    </div>`;
  }

  override figure({ frame }: View): Promise<Figure | null> {
    const result = frame?.fragility ?? null;
    return Promise.resolve(result && fragilityFigure(result));
  }
}

function labOf(result: FragilityResult): TemplateResult {
  const { flips, here } = result;
  const { worst, sharp, simple } = boundsOf(result);
  const numbers = {
    ...{ flips: percent(flips), mean: four(here.mean), largest: four(here.largest) },
    ...{ worst: four(worst), sharp: four(sharp), simple: four(simple) },
  };
  const titles = { x: t('fragility.xAxis'), y: t('fragility.yAxis') };
  return html`<div class="lab">
    <div class="lab-main">
      ${stage('changes', {
        height: HEIGHT,
        label: t('fragility.picture', spokenOf(result)),
        draw: (width) => drawChanges(pagePen, width, result, titles),
      })}
      <ul class="plot-key">${CURVES.map(([mark, name]) => keyEntry(`plot-${mark}`, t(`fragility.key.${name}`)))}</ul>
      <p class="verdict">${verdict(result)}</p>
    </div>
    <div class="lab-side">
      ${numberList(numbers, (name) => t(`fragility.${name}`))}
      <table class="data-table fragility-keys">
        <caption class="hint">${t('fragility.table')}</caption>
        ${tableHead([null, 's', 's′', 'p', 'p′'])}
        <tbody>${rowsOf(result)}</tbody>
      </table>
    </div>
  </div>`;
}

function rowsOf({ scores, worst, weights }: FragilityResult): TemplateResult[] {
  const [first, after] = [largestAt(weights), largestAt(worst.weights)];
  return scores.map((score, i) => {
    const numbers = [score, worst.scores[i], weights[i], worst.weights[i]];
    const classes = [i === first ? 'winner' : '', i === after ? 'winner-after' : ''];
    const cells = numbers.map((n) => four(n ?? NaN));
    return tableRow(t('fragility.row', { key: i + 1 }), cells, classes.join(' ').trim());
  });
}

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
