import { find } from '../../../ui/dom';
import { PlotStage } from '../../../ui/plot_stage';
import { CHART_HEIGHT, drawAccuracy, drawCost, drawReach } from './plots';
import type { LatestNews } from './latest_news';
import { t } from '../feature';
import { REPEATS } from '../shared/timing_settings';
import {
  accuracyLabel,
  accuracyWords,
  costLabel,
  costWords,
  reachLabel,
  reachWords,
} from './sentences';

type Name = 'accuracy' | 'reach' | 'cost';

/** The three plots, and the sentences below them. */
export class Charts {
  readonly #panel: HTMLElement;
  readonly #stages: Readonly<Record<Name, PlotStage>>;
  readonly #drawn = new Map<Name, readonly unknown[]>();
  costText = '';

  constructor(panel: HTMLElement) {
    this.#panel = panel;
    const stageOf = (name: Name) => new PlotStage(this.#stage(name));
    this.#stages = {
      accuracy: stageOf('accuracy'),
      reach: stageOf('reach'),
      cost: stageOf('cost'),
    };
  }

  draw(known: LatestNews, look: number): void {
    const { progress, counted, reached, timings, timed } = known;
    const loaded = progress?.origin === 'before';
    find(this.#panel, '.recurrence-learned', HTMLElement).hidden = !progress;
    this.#stage('cost').hidden = timings.length === 0;
    this.#put('accuracy', [counted, loaded, look], {
      label: () => accuracyLabel(counted?.tallies ?? null),
      body: (width) => drawAccuracy('page', width, counted?.tallies ?? null),
      words: () => (counted ? accuracyWords(counted, loaded) : []),
    });
    this.#put('reach', [reached, look], {
      label: () => (reached ? reachLabel(reached) : t('recurrence.reach')),
      body: (width) => drawReach('page', width, reached),
      words: () => (reached ? reachWords(reached) : []),
    });
    const variant = timed?.variant ?? '';
    this.#put('cost', [timings, timed?.part === 1, look], {
      label: () => costLabel(timings),
      body: (width) => drawCost('page', width, timings),
      words: () =>
        timed?.part === 1
          ? [...costWords(timings), t('recurrence.measured', { repeats: REPEATS, variant })]
          : [],
    });
    this.costText = this.#words('cost').textContent ?? '';
    const done =
      timed && timed.part < 1
        ? t('recurrence.measuring', { percent: Math.floor(100 * timed.part) })
        : '';
    find(this.#panel, '.recurrence-measuring', HTMLElement).textContent = done;
  }

  #part(name: Name): HTMLElement {
    return find(this.#panel, `[data-chart=${name}]`, HTMLElement);
  }

  #stage(name: Name): HTMLElement {
    return find(this.#part(name), '.plot-stage', HTMLElement);
  }

  #words(name: Name): HTMLElement {
    return find(this.#part(name), '.recurrence-words', HTMLElement);
  }

  /** Draws the plot, and writes the sentences below it, where something that they are made of is another. */
  #put(
    name: Name,
    inputs: readonly unknown[],
    how: { label: () => string; body: (width: number) => string; words: () => string[] },
  ): void {
    if (inputs.every((input, i) => input === this.#drawn.get(name)?.[i])) return;
    this.#drawn.set(name, inputs);
    this.#stages[name].show({ height: CHART_HEIGHT, label: how.label(), draw: how.body });
    const paragraphs = how.words().map((words) => {
      const paragraph = document.createElement('p');
      paragraph.textContent = words;
      return paragraph;
    });
    this.#words(name).replaceChildren(...paragraphs);
  }
}
