import '../../../ui/plot.css';
import { mean } from '../../../domain/averages';
import { sliderHtml, showSlider } from '../../../ui/controls';
import { setText } from '../../../ui/dom';
import { onNumber, showNumber } from '../../../ui/number_box';
import { digits, four } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { LIMITS } from '../../../state/state';
import { Panel, type View } from '../../panel';
import { t } from '../feature';
import { meanSquare, ROW_LENGTH, workedNorm, type WorkedNorm } from '../shared/worked_norm';
import { clampEntry, workedRowOf } from '../state';
import { drawNorm, NORM_HEIGHT } from './norm_plot';

const STEPS = ['centred', 'normed', 'output'] as const;
const NUMBERS = ['mean', 'deviation', 'meanAfter', 'deviationAfter'] as const;

/** Sliders of a tenth hold ten times the number, that of the gain 20 times its binary logarithm. */
const toGain = (place: number) => Number((2 ** (place / 20)).toPrecision(2));
const ofGain = (gain: number) => Math.round(20 * Math.log2(gain));

/** One row through the norm that is chosen above: mean, deviation, and what comes of every number. */
export class NormPart extends Panel {
  #row: readonly number[] = [];
  #stage: PlotStage | null = null;

  protected template(): string {
    const columns = Array.from({ length: ROW_LENGTH }, (_, i) => i);
    const cells = columns.map(() => '<td></td>').join('');
    const boxes = columns.map(() => '<td><input type="number" step="any"></td>').join('');
    const rows = STEPS.map(
      (step) =>
        `<tr data-step="${step}"><th scope="row" data-t="block.worked.${step}"></th>${cells}</tr>`,
    );
    const number = (name: string) =>
      `<div><dt data-t="block.worked.${name}"></dt><dd data-number="${name}"></dd></div>`;
    const [low, high] = LIMITS.blockShift;
    return `
      <h3 data-t="block.worked.title"></h3>
      <p class="norm-intro"></p>
      <div class="tools-row" data-control>
        ${sliderHtml('block-gain', 'block.worked.gain', [ofGain(0.25), ofGain(4)])}
        ${sliderHtml('block-shift', 'block.worked.shift', [10 * low, 10 * high])}
        <button type="button" class="button times" data-t="block.worked.times"></button>
        <button type="button" class="button first" data-t="block.worked.reset"></button>
      </div>
      <div class="norm-table" role="region" tabindex="0" data-t-label="block.worked.table"><table class="data-table">
        <caption class="visually-hidden" data-t="block.worked.table"></caption>
        <tbody><tr><th scope="row" data-t="block.worked.before"></th>${boxes}</tr>${rows.join('')}</tbody>
      </table></div>
      <p class="norm-steps"></p>
      <div class="lab">
        <div class="lab-main">${stageHtml('norm')}</div>
        <div class="lab-side"><dl class="numbers">${NUMBERS.map(number).join('')}</dl>
          <p class="hint" data-t="block.worked.check"></p></div>
      </div>`;
  }

  protected override ready(): void {
    this.querySelectorAll<HTMLInputElement>('.norm-table input').forEach((box, i) => {
      onNumber(box, clampEntry, (value) =>
        this.change({ blockRow: this.#row.map((old, j) => (j === i ? value : old)) }),
      );
    });
    const slide = (id: string, change: (place: number) => void) => {
      const slider = this.find(`#block-${id}`, HTMLInputElement);
      slider.addEventListener('input', () => change(Number(slider.value)));
    };
    slide('gain', (place) => this.change({ blockGain: toGain(place) }));
    slide('shift', (place) => this.change({ blockShift: place / 10 }));
    this.find('.times', HTMLElement).addEventListener('click', () =>
      this.change({ blockRow: this.#row.map((value) => clampEntry(10 * value)) }),
    );
    this.find('.first', HTMLElement).addEventListener('click', () =>
      this.change({ blockRow: null, blockGain: null, blockShift: null }),
    );
    this.#stage = plotStages(this, ['norm']).norm;
  }

  update({ state, look }: View): void {
    const { row, gain, shift } = workedRowOf(state);
    const { blockType } = state;
    this.#row = row;
    if (!this.changed(row.join(), gain, shift, blockType, look)) return;
    this.querySelectorAll<HTMLInputElement>('.norm-table input').forEach((box, i) => {
      showNumber(box, row[i] ?? 0);
      box.setAttribute('aria-label', t('block.worked.entry', { index: i + 1 }));
    });
    showSlider(this, 'block-gain', ofGain(gain), `γ = ${gain}`);
    showSlider(this, 'block-shift', 10 * shift, `β = ${String(shift).replace('-', '−')}`);
    this.setText('.norm-intro', t('block.worked.intro', { norm: t(`block.${blockType}`) }));
    this.setText('.norm-steps', t(`block.worked.${blockType}Steps`));
    const worked = workedNorm(row, blockType, { gain, shift });
    this.find('[data-step=centred]', HTMLElement).hidden = blockType === 'rms';
    for (const step of STEPS) {
      this.querySelectorAll(`[data-step=${step}] td`).forEach((cell, i) =>
        setText(cell, four(worked[step][i] ?? NaN)),
      );
    }
    this.#draw(row, worked);
  }

  #draw(row: readonly number[], { centre, deviation, output }: WorkedNorm): void {
    const middle = mean(output);
    const spread = Math.sqrt(meanSquare(output.map((value) => value - middle)));
    const numbers = {
      ...{ mean: four(mean(row)), deviation: four(deviation) },
      ...{ meanAfter: four(middle), deviationAfter: four(spread) },
    };
    for (const name of NUMBERS) this.setText(`[data-number=${name}]`, numbers[name]);
    const [before, after] = [
      { row, centre, deviation, title: t('block.worked.beforeTitle') },
      { row: output, centre: middle, deviation: spread, title: t('block.worked.afterTitle') },
    ];
    const list = (values: readonly number[]) => values.map((value) => digits(value, 3)).join(', ');
    this.#stage?.show({
      height: NORM_HEIGHT,
      label: t('block.worked.picture', { ...numbers, before: list(row), after: list(output) }),
      draw: (width) => drawNorm(pagePen, width, before, after),
    });
  }
}

customElements.define('qkv-block-norm', NormPart);
