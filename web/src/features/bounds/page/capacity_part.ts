import { html, nothing, type TemplateResult } from 'lit-html';
import formulas from '../formulas.json';
import { button, nextWithin, slider } from '../../../ui/lit/controls';
import { keyEntry, pointEntry, stage } from '../../../ui/lit/plots';
import { formula, formulaRow, rich } from '../../../ui/lit/texts';
import { percent } from '../../../ui/numbers';
import { pagePen } from '../../../ui/plot';
import { formatFragment, LIMITS, type State } from '../../../state/state';
import { LitPanel } from '../../lit_panel';
import type { View } from '../../panel';
import { t } from '../feature';
import { coverShare } from '../shared/capacity';
import { boundsRequest } from '../state';
import type { Capacity } from '../worker/capacity';
import { CAPACITY_HEIGHT, drawCapacity } from './plots';

/** The experiment in which heads are trained on few rows. */
const OVERFIT: Partial<State> = {
  ...{ panel: 'learn', learnExperiment: 'overfit' },
  ...{ learnTask: 'histogram', learnSamples: 64, learnSpeed: 'full' },
};

/** How many rows H heads can fit in every way: the VC dimension, and labelings that are tried. */
export class CapacityPart extends LitPanel {
  /** The latest; a new one takes a moment. */
  #found: Capacity | null = null;

  protected inputs({ state, frame, look }: View): readonly unknown[] {
    const { heads, seed } = boundsRequest(state);
    return [heads, seed, linkOf(state), frame?.bounds?.capacity, look];
  }

  protected render({ state, frame }: View): TemplateResult {
    const { heads, seed } = boundsRequest(state);
    const found = (this.#found = frame?.bounds?.capacity ?? this.#found);
    const live = { heads: String(found?.heads ?? '…') };
    return html`
      <h3>${t('bounds.capacity.title')}</h3>
      <p>${t('bounds.capacity.intro')}</p>
      ${formulaRow(formula(formulas.capacity, live), formula(formulas.count, live))}
      <div class="tools-row" data-control>
        ${slider({
          ...{ id: 'bounds-heads', label: t('bounds.heads'), limits: LIMITS.boundsHeads },
          ...{ place: heads, words: `H = ${heads}` },
          take: (boundsHeads) => this.change({ boundsHeads }),
        })}
        ${button('again', t('bounds.again'), () => this.change({ boundsSeed: nextWithin(LIMITS.boundsSeed, seed) }))}
      </div>
      <div class="bounds-lab">
        <div>${found ? plotOf(found) : nothing}
          <ul class="plot-key">
            ${pointEntry('plot-scaled-point', t('bounds.key.fit'))}${keyEntry('plot-theory', t('bounds.key.cover'))}
          </ul></div>
        <div class="bounds-words">
          <p class="verdict bounds-fit">${found && rich('bounds.capacity.verdict', wordsOf(found))}</p>
          <p>${t('bounds.capacity.assumes')}</p>
          <p><span>${t('bounds.capacity.trained')}</span> <a class="to-learn" href=${linkOf(state)}>${t('bounds.capacity.link')}</a></p>
        </div>
      </div>`;
  }
}

const linkOf = (state: State) => formatFragment({ ...state, ...OVERFIT });

function plotOf(found: Capacity): TemplateResult {
  const titles = {
    ...{ x: t('bounds.capacity.x'), y: t('bounds.capacity.y') },
    ...{ all: 'H + 1', half: '2 (H + 1)' },
  };
  return stage('capacity', {
    height: CAPACITY_HEIGHT,
    label: t('bounds.capacity.picture', wordsOf(found)),
    draw: (width) => drawCapacity(pagePen, width, found, titles),
  });
}

function wordsOf({ heads, points }: Capacity) {
  const dimension = heads + 1;
  const share = (rows: number) => percent(points[rows - 1]?.share ?? NaN);
  return {
    ...{ heads, dimension, next: dimension + 1, double: 2 * dimension, most: points.length },
    ...{ all: share(dimension), beyond: share(dimension + 1), half: share(2 * dimension) },
    ...{ few: share(points.length), cover: percent(coverShare(points.length, heads)) },
  };
}

customElements.define('qkv-bounds-capacity', CapacityPart);
