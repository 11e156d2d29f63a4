import formulas from '../formulas.json';
import { richOf } from '../../../i18n/i18n';
import { sliderHtml, showSlider } from '../../../ui/controls';
import { percent } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../../ui/plot_stage';
import { formatFragment, LIMITS, type State } from '../../../state/state';
import { Panel, type View } from '../../panel';
import { t } from '../feature';
import { coverShare, LABELINGS } from '../shared/capacity';
import { boundsRequest } from '../state';
import type { Capacity } from '../worker/capacity';
import { CAPACITY_HEIGHT, drawCapacity } from './plots';

/** The experiment in which heads are trained on few rows. */
const OVERFIT: Partial<State> = {
  ...{ panel: 'learn', learnExperiment: 'overfit' },
  ...{ learnTask: 'histogram', learnSamples: 64, learnSpeed: 'full' },
};

/** How many rows H heads can fit in every way: the VC dimension, and labelings that are tried. */
export class CapacityPart extends Panel {
  #seed = 1;
  #stage: PlotStage | null = null;

  protected template(): string {
    return `
      <h3 data-t="bounds.capacity.title"></h3>
      <p data-t="bounds.capacity.intro"></p>
      <div class="row-formula formulas"><span>${formulas.capacity}</span><span>${formulas.count}</span></div>
      <div class="tools-row" data-control>
        ${sliderHtml('bounds-heads', 'bounds.heads', LIMITS.boundsHeads)}
        <button type="button" class="button again" data-t="bounds.again"></button>
      </div>
      <div class="bounds-lab">
        <div>${stageHtml('capacity')}
          <ul class="plot-key">
            <li><svg width="12" height="12" aria-hidden="true"><circle class="plot-scaled-point" cx="6" cy="6" r="4"/></svg><span data-t="bounds.key.fit"></span></li>
            ${keyEntryHtml('plot-theory', '<span data-t="bounds.key.cover"></span>')}
          </ul></div>
        <div class="bounds-words">
          <p class="verdict bounds-fit"></p>
          <p data-t="bounds.capacity.assumes"></p>
          <p><span data-t="bounds.capacity.trained"></span> <a class="to-learn" data-t="bounds.capacity.link"></a></p>
        </div>
      </div>`;
  }

  protected override ready(): void {
    const slider = this.find('#bounds-heads', HTMLInputElement);
    slider.addEventListener('input', () => this.change({ boundsHeads: Number(slider.value) }));
    this.find('.again', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.boundsSeed;
      this.change({ boundsSeed: this.#seed < last ? this.#seed + 1 : first });
    });
    this.#stage = plotStages(this, ['capacity']).capacity;
  }

  update({ state, frame, look }: View): void {
    const { heads, seed } = boundsRequest(state);
    this.#seed = seed;
    showSlider(this, 'bounds-heads', heads, `H = ${heads}`);
    const link = this.find('.to-learn', HTMLAnchorElement);
    const href = formatFragment({ ...state, ...OVERFIT });
    if (link.getAttribute('href') !== href) link.setAttribute('href', href);
    const found = frame?.bounds?.capacity;
    if (!found || !this.changed(found, look)) return;
    this.find('[data-live=heads]', Element).textContent = String(found.heads);
    const words = wordsOf(found);
    this.find('.bounds-fit', HTMLElement).replaceChildren(
      ...richOf('bounds.capacity.verdict', words),
    );
    const titles = {
      ...{ x: t('bounds.capacity.x'), y: t('bounds.capacity.y') },
      ...{ all: 'H + 1', half: '2 (H + 1)' },
    };
    this.#stage?.show({
      height: CAPACITY_HEIGHT,
      label: t('bounds.capacity.picture', words),
      draw: (width) => drawCapacity(pagePen, width, found, titles),
    });
  }
}

function wordsOf({ heads, points }: Capacity) {
  const dimension = heads + 1;
  const share = (rows: number) => percent(points[rows - 1]?.share ?? NaN);
  return {
    ...{ heads, dimension, next: dimension + 1, double: 2 * dimension, most: points.length },
    ...{ all: share(dimension), beyond: share(dimension + 1), half: share(2 * dimension) },
    ...{ few: share(points.length), cover: percent(coverShare(points.length, heads)) },
    count: LABELINGS,
  };
}

customElements.define('qkv-bounds-capacity', CapacityPart);
