import formulas from '../formulas.json';
import { richOf } from '../../../i18n/i18n';
import { sliderHtml, showSlider } from '../../../ui/controls';
import { digits } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { LIMITS, type State } from '../../../state/state';
import { Panel, type View } from '../../panel';
import { t } from '../feature';
import { ball, beta, ROWS, sharp, type Norms } from '../shared/stability';
import { boundsRequest, boundsRowsOf } from '../state';
import type { Stability } from '../worker/stability';
import { drawStability, STABILITY_HEIGHT } from './plots';

/** The sliders: a symbol, the field of the state, and where the request has the number. */
const SLIDERS = [
  ['R', 'boundsRadius', 'radius'],
  ['M_o', 'boundsOutput', 'output'],
  ['M_v', 'boundsValue', 'value'],
  ['M_q', 'boundsQuery', 'query'],
  ['M_k', 'boundsKey', 'key'],
  ['τ', 'boundsFactor', 'factor'],
] as const satisfies readonly (readonly [string, keyof State, keyof Norms])[];

const NUMBERS = ['beta', 'ball', 'sharp', 'built', 'random'] as const;
const CURVES = [
  ['plot-critical', 'beta', ''],
  ['plot-theory-outside', 'ball', ''],
  ['plot-theory', 'sharp', ''],
  ['plot-scaled', 'random', 'plot-scaled-point'],
] as const;

/** They hold 100 times the logarithm. */
const toPlace = (value: number) => Math.round(100 * Math.log10(value));
const fromPlace = (place: number) => Number((10 ** (place / 100)).toPrecision(2));

/** Uniform stability of attention: the bound, what follows from the same norms besides, and what is measured. */
export class StabilityPart extends Panel {
  #stage: PlotStage | null = null;

  protected template(): string {
    const sliders = SLIDERS.map(([, field, name]) => {
      const [low, high] = LIMITS[field];
      return sliderHtml(`bounds-${name}`, `bounds.${name}`, [toPlace(low), toPlace(high)]);
    });
    const number = (name: string) =>
      `<div><dt data-t="bounds.number.${name}"></dt><dd data-number="${name}"></dd></div>`;
    const entries = CURVES.map(([line, name, point]) =>
      keyEntryHtml(line, `<span data-t="bounds.number.${name}"></span>`, point),
    );
    return `
      <h3 data-t="bounds.stability.title"></h3>
      <p data-t="bounds.stability.intro"></p>
      <div class="row-formula formulas"><span>${formulas.stability}</span><span>${formulas.sharp}</span></div>
      <div class="tools-row bounds-sliders" data-control>
        ${sliders.join('')}
        ${sliderHtml('bounds-rows', 'bounds.rows', [0, ROWS.length - 1])}
      </div>
      <div class="bounds-lab">
        <div>${stageHtml('stability')}
          <ul class="plot-key">${entries.join('')}
            <li><svg width="12" height="12" aria-hidden="true"><circle class="plot-plain-point" cx="6" cy="6" r="4"/></svg><span data-t="bounds.number.built"></span></li>
          </ul></div>
        <div class="bounds-words">
          <dl class="numbers">${NUMBERS.map(number).join('')}</dl>
          <p class="verdict bounds-moved"></p>
          <p data-t="bounds.stability.meaning"></p>
        </div>
      </div>
      <p class="hint" data-t="bounds.stability.check"></p>`;
  }

  protected override ready(): void {
    for (const [, field, name] of SLIDERS) {
      const slider = this.find(`#bounds-${name}`, HTMLInputElement);
      slider.addEventListener('input', () =>
        this.change({ [field]: fromPlace(Number(slider.value)) }),
      );
    }
    const rows = this.find('#bounds-rows', HTMLInputElement);
    rows.addEventListener('input', () =>
      this.change({ boundsRows: ROWS[Number(rows.value)] ?? 2 }),
    );
    this.#stage = plotStages(this, ['stability']).stability;
  }

  update({ state, frame, look }: View): void {
    const { norms } = boundsRequest(state);
    const rows = boundsRowsOf(state);
    for (const [, , name] of SLIDERS) {
      showSlider(this, `bounds-${name}`, toPlace(norms[name]), String(norms[name]));
    }
    showSlider(this, 'bounds-rows', ROWS.indexOf(rows), String(rows));
    const found = frame?.bounds?.stability;
    if (!found || !this.changed(found, rows, look)) return;
    this.#tell(found, rows);
    const titles = { x: t('bounds.stability.x'), y: t('bounds.stability.y') };
    this.#stage?.show({
      height: STABILITY_HEIGHT,
      label: t('bounds.stability.picture', numbersOf(found, rows)),
      draw: (width) => drawStability(pagePen, width, found, { rows, titles }),
    });
  }

  #tell(found: Stability, rows: number): void {
    const numbers = numbersOf(found, rows);
    for (const name of NUMBERS) this.setText(`[data-number=${name}]`, numbers[name]);
    this.find('[data-live=beta]', Element).textContent = numbers.beta;
    const move = found.random[ROWS.indexOf(rows)] ?? 0;
    const times = digits(beta(found.norms, rows) / move, 2);
    const measured = richOf(`bounds.stability.${move > 0 ? 'measured' : 'still'}`, {
      ...numbers,
      times,
    });
    this.find('.bounds-moved', HTMLElement).replaceChildren(
      ...measured,
      ' ',
      ...richOf('bounds.stability.verdict', numbers),
    );
  }
}

function numbersOf({ norms, random, built }: Stability, rows: number) {
  const at = ROWS.indexOf(rows);
  return {
    rows,
    beta: digits(beta(norms, rows), 4),
    ball: digits(ball(norms), 4),
    sharp: digits(sharp(norms, rows), 4),
    built: digits(built[at] ?? NaN, 4),
    random: digits(random[at] ?? NaN, 4),
  };
}

customElements.define('qkv-bounds-stability', StabilityPart);
