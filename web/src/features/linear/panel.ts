import '../../ui/plot.css';
import './style.css';
import formulas from './formulas.json';
import { sliderHtml, showSlider } from '../../ui/controls';
import { setText } from '../../ui/dom';
import type { Figure } from '../../ui/export_figure';
import { percent, whole, withUnit } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../ui/plot_stage';
import { LIMITS, type State } from '../../state/state';
import { Panel, type View } from '../panel';
import { t } from './feature';
import { linearFigure } from './page/figure';
import {
  COSTS_HEIGHT,
  drawCosts,
  drawErrors,
  drawWeights,
  ERRORS_HEIGHT,
  MARKS,
  WEIGHTS_HEIGHT,
} from './page/plots';
import { SHARPNESS, TOKENS, WAYS, WIDTH, type Way } from './shared/constants';
import { costOf } from './shared/counts';
import { linearRequest, linearSizes } from './state';
import type { LinearResult } from './worker/frame_feature';

const FIGURES = ['weights', 'errors', 'costs'] as const;
const NUMBERS = ['window', 'linear'] as const;

/** The powers of two of these limits, for a slider. */
const powers = ([low, high]: readonly [number, number]) =>
  [Math.log2(low), Math.log2(high)] as const;

/** Attention whose work grows with T instead of T squared, beside softmax on the same queries, keys and values. */
class LinearPanel extends Panel {
  #seed = 1;
  #stages: Readonly<Record<(typeof FIGURES)[number], PlotStage>> | null = null;

  protected template(): string {
    const entry = (way: Way) =>
      keyEntryHtml(`plot-${MARKS[way]}`, `<span data-t="linear.${way}"></span>`);
    const number = (way: string) =>
      `<div><dt data-t="linear.error.${way}"></dt><dd data-number="${way}"></dd></div>`;
    const row = (way: Way) =>
      `<tr data-way="${way}"><th scope="row" data-t="linear.${way}"></th><td></td><td></td><td></td></tr>`;
    return `
      <div class="card">
        <div class="row-formula formulas"><span>${formulas.softmax}</span><span>${formulas.linear}</span></div>
        <div class="tools-row" data-control>
          ${sliderHtml('linear-sharpness', 'linear.sharpness', [0, SHARPNESS.length - 1])}
          ${sliderHtml('linear-window', 'linear.windowSize', LIMITS.linearWindow)}
          <button type="button" class="button again" data-t="linear.again"></button>
        </div>
        <p class="placeholder" role="status"></p>
        <div class="lab" hidden>
          <div class="lab-main">${stageHtml('weights')}
            <p class="verdict" data-t="linear.verdict"></p></div>
          <div class="lab-side">
            ${stageHtml('errors')}
            <ul class="plot-key">${entry('window')}${entry('linear')}</ul>
            <dl class="numbers">${NUMBERS.map(number).join('')}</dl>
          </div>
        </div>
        <div class="tools-row" data-control>
          ${sliderHtml('linear-length', 'linear.length', powers(LIMITS.linearLength))}
          ${sliderHtml('linear-width', 'linear.width', powers(LIMITS.linearWidth))}
        </div>
        <div class="lab">
          <div class="lab-main">${stageHtml('costs')}
            <ul class="plot-key">${WAYS.map(entry).join('')}</ul></div>
          <div class="lab-side">
            <table class="data-table linear-costs">
              <caption class="visually-hidden" data-t="linear.table"></caption>
              <thead><tr><td></td><th scope="col" data-t="linear.grows"></th><th scope="col" data-t="linear.operations"></th><th scope="col" data-t="linear.kept"></th></tr></thead>
              <tbody>${WAYS.map(row).join('')}</tbody>
            </table>
            <p class="verdict crossing"></p>
          </div>
        </div>
        <p class="hint check-note"></p>
      </div>`;
  }

  protected override ready(): void {
    const slide = (id: string, change: (place: number) => Partial<State>) => {
      const slider = this.find(`#linear-${id}`, HTMLInputElement);
      slider.addEventListener('input', () => this.change(change(Number(slider.value))));
    };
    slide('sharpness', (place) => ({ linearSharpness: SHARPNESS[place] ?? 1 }));
    slide('window', (place) => ({ linearWindow: place }));
    slide('length', (place) => ({ linearLength: 2 ** place }));
    slide('width', (place) => ({ linearWidth: 2 ** place }));
    this.find('.again', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.linearSeed;
      this.change({ linearSeed: this.#seed < last ? this.#seed + 1 : first });
    });
    this.#stages = plotStages(this, FIGURES);
  }

  update({ state, frame, engine, look }: View): void {
    const { sharpness, window, seed } = linearRequest(state);
    const sizes = linearSizes(state);
    this.#seed = seed;
    const place = SHARPNESS.findIndex((each) => each >= sharpness);
    showSlider(this, 'linear-sharpness', place, `c = ${sharpness}`);
    showSlider(this, 'linear-window', window, `w = ${window}`);
    showSlider(this, 'linear-length', Math.log2(sizes.tokens), `T = ${whole(sizes.tokens)}`);
    showSlider(this, 'linear-width', Math.log2(sizes.width), `d = ${sizes.width}`);
    const result = frame?.linear ?? null;
    const lab = this.find('.lab', HTMLElement);
    this.find('.placeholder', HTMLElement).hidden = result !== null || !lab.hidden;
    this.setText('.placeholder', t(engine.kind === 'failed' ? 'map.failed' : 'plots.loading'));
    if (!this.changed(result, Object.values(sizes).join(), look)) return;
    this.#showCosts(sizes);
    if (!result) return;
    lab.hidden = false;
    this.#showErrors(result);
  }

  #showErrors(result: LinearResult): void {
    const { errors, sharpness, operations } = result;
    for (const way of NUMBERS) this.setText(`[data-number=${way}]`, percent(errors[way]));
    const names = {
      softmax: t('linear.softmax'),
      window: t('linear.window'),
      linear: t('linear.linear'),
    };
    const said = { sharpness, window: percent(errors.window), linear: percent(errors.linear) };
    this.#stages?.weights.show({
      height: WEIGHTS_HEIGHT,
      label: t('linear.weightsPicture', { keys: TOKENS }),
      draw: (width) => drawWeights(pagePen, width, result, names),
    });
    const titles = { x: t('linear.errorsX'), y: t('linear.errorsY') };
    this.#stages?.errors.show({
      height: ERRORS_HEIGHT,
      label: t('linear.errorsPicture', said),
      draw: (width) => drawErrors(pagePen, width, result, titles),
    });
    const checked = { tokens: TOKENS, width: WIDTH, operations: whole(operations) };
    this.setText('.check-note', t('linear.check', checked));
  }

  #showCosts(sizes: ReturnType<typeof linearSizes>): void {
    const operations = (way: Way) => withUnit(costOf(way, sizes).operations, 'FLOP');
    for (const way of WAYS) {
      const grows = { softmax: 'T² d', window: 'T w d', linear: 'T d²' }[way];
      const cells = [grows, operations(way), whole(costOf(way, sizes).kept)];
      this.querySelectorAll(`[data-way=${way}] td`).forEach((cell, i) =>
        setText(cell, cells[i] ?? ''),
      );
    }
    const ratio = costOf('softmax', sizes).operations / costOf('linear', sizes).operations;
    const values = {
      tokens: whole(sizes.tokens),
      ratio: ratio < 10 ? ratio.toPrecision(2) : whole(Math.round(ratio)),
      cross: 2 * sizes.width,
    };
    this.setText('.crossing', t('linear.crossing', values));
    const titles = { x: t('linear.costsX'), y: t('linear.costsY') };
    const said = {
      tokens: whole(sizes.tokens),
      ...{ softmax: operations('softmax'), window: operations('window') },
      linear: operations('linear'),
    };
    this.#stages?.costs.show({
      height: COSTS_HEIGHT,
      label: t('linear.costsPicture', said),
      draw: (width) => drawCosts(pagePen, width, sizes, titles),
    });
  }

  override figure({ state, frame }: View): Promise<Figure | null> {
    const result = frame?.linear ?? null;
    return Promise.resolve(result && linearFigure(result, linearSizes(state)));
  }
}

customElements.define('qkv-panel-linear', LinearPanel);
