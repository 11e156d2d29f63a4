import '../../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import { mean } from '../../../domain/averages';
import { button, numeric, slider } from '../../../ui/lit/controls';
import { stage } from '../../../ui/lit/plots';
import { numberList } from '../../../ui/lit/tables';
import { digits, four } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { LIMITS, type State } from '../../../state/state';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import { meanSquare, workedNorm, type WorkedNorm } from '../shared/worked_norm';
import { clampEntry, workedRowOf } from '../state';
import { drawNorm, NORM_HEIGHT } from './norm_plot';

const STEPS = ['centred', 'normed', 'output'] as const;

/**
 * The slider of the shift holds ten times it, that of the gain 20 times its binary logarithm. GAIN_STEP is 15 %, as less can leave the
 * two digits of a gain as they are.
 */
const GAIN_STEP = 4;
const toGain = (place: number) => Number((2 ** (place / 20)).toPrecision(2));
const ofGain = (gain: number) => Math.round(20 * Math.log2(gain));

/** One row through the norm that is chosen above: mean, deviation, and what comes of every number. */
export class NormPart extends LitPanel {
  protected inputs({ state, look }: View): readonly unknown[] {
    const { row, gain, shift } = workedRowOf(state);
    return [row.join(), gain, shift, state.blockType, look];
  }

  protected render({ state }: View): TemplateResult {
    const { row, gain, shift } = workedRowOf(state);
    const { blockType } = state;
    const worked = workedNorm(row, blockType, { gain, shift });
    return html`
      <h3>${t('block.worked.title')}</h3>
      <p class="norm-intro">${t('block.worked.intro', { norm: t(`block.${blockType}`) })}</p>
      ${this.#tools(row, gain, shift)}
      <div class="norm-table" role="region" tabindex="0" aria-label=${t('block.worked.table')}><table class="data-table">
        <caption class="visually-hidden">${t('block.worked.table')}</caption>
        <tbody><tr><th scope="row">${t('block.worked.before')}</th>${this.#boxes(row)}</tr>${rowsOf(worked, blockType)}</tbody>
      </table></div>
      <p class="norm-steps">${t(`block.worked.${blockType}Steps`)}</p>
      ${labOf(row, worked, blockType)}`;
  }

  #tools(row: readonly number[], gain: number, shift: number): TemplateResult {
    const [least, most] = LIMITS.blockGain;
    const [low, high] = LIMITS.blockShift;
    const times = () => this.change({ blockRow: row.map((value) => clampEntry(10 * value)) });
    const first = () => this.change({ blockRow: null, blockGain: null, blockShift: null });
    return html`<div class="tools-row" data-control>
      ${slider({
        ...{ id: 'block-gain', label: t('block.worked.gain') },
        ...{ limits: [ofGain(least), ofGain(most)], step: GAIN_STEP, place: ofGain(gain) },
        words: `γ = ${gain}`,
        take: (place) => this.change({ blockGain: toGain(place) }),
      })}
      ${slider({
        ...{ id: 'block-shift', label: t('block.worked.shift') },
        ...{ limits: [10 * low, 10 * high], place: 10 * shift },
        words: `β = ${String(shift).replace('-', '−')}`,
        take: (place) => this.change({ blockShift: place / 10 }),
      })}
      ${button('times', t('block.worked.times'), times)}
      ${button('first', t('block.worked.reset'), first)}
    </div>`;
  }

  #boxes(row: readonly number[]): TemplateResult[] {
    return row.map((value, i) => {
      const take = (entry: number) =>
        this.change({ blockRow: row.map((old, j) => (j === i ? entry : old)) });
      return html`<td><input type="number" step="any" aria-label=${t('block.worked.entry', { index: i + 1 })}
        ${numeric({ value, nearest: clampEntry, take })}></td>`;
    });
  }
}

const rowsOf = (worked: WorkedNorm, type: State['blockType']): TemplateResult[] =>
  STEPS.map(
    (step) => html`<tr data-step=${step} ?hidden=${step === 'centred' && type === 'rms'}>
      <th scope="row">${t(`block.worked.${step}`)}</th>${worked[step].map((value) => html`<td>${four(value)}</td>`)}</tr>`,
  );

function labOf(
  row: readonly number[],
  { centre, deviation, output }: WorkedNorm,
  type: State['blockType'],
): TemplateResult {
  const middle = mean(output);
  const spread = Math.sqrt(meanSquare(output.map((value) => value - middle)));
  const numbers = {
    ...{ mean: four(mean(row)), deviation: four(deviation) },
    ...{ meanAfter: four(middle), deviationAfter: four(spread) },
  };
  const [before, after] = [
    {
      row,
      centre,
      deviation,
      title: t(type === 'rms' ? 'block.worked.beforeRms' : 'block.worked.beforeTitle'),
    },
    { row: output, centre: middle, deviation: spread, title: t('block.worked.afterTitle') },
  ];
  const list = (values: readonly number[]) => values.map((value) => digits(value, 3)).join(', ');
  const plot = {
    height: NORM_HEIGHT,
    label: t('block.worked.picture', { ...numbers, before: list(row), after: list(output) }),
    draw: (width: number) => drawNorm(pagePen, width, before, after),
  };
  return html`<div class="lab">
    <div class="lab-main">${stage('norm', plot)}</div>
    <div class="lab-side">${numberList(numbers, (name) => t(`block.worked.${name}`))}
      <p class="hint">${t('block.worked.check')}</p></div>
  </div>`;
}

customElements.define('qkv-block-norm', NormPart);
