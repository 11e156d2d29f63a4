import '../../ui/plot.css';
import { html, type TemplateResult } from 'lit-html';
import type { Failure } from '../../domain/failure';
import { mean } from '../../domain/averages';
import type { Figure } from '../../ui/export_figure';
import { button, nextWithin, slider } from '../../ui/lit/controls';
import { keyEntry, stage } from '../../ui/lit/plots';
import { numberList } from '../../ui/lit/tables';
import { percent, whole } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { reasonOf } from '../../ui/reason';
import { LIMITS } from '../../state/state';
import { Lab } from '../../worker/panel_worker_client';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { t } from './feature';
import { extrapolationFigure } from './page/figure';
import { drawAccuracy, HEIGHT, MARKS } from './page/plot';
import {
  BLOCK,
  STEPS,
  TESTED,
  VOCABULARY,
  WAYS,
  type FromExtrapolationLab,
  type Settings,
  type Tested,
  type ToExtrapolationLab,
  type Way,
} from './shared/protocol';
import { settingsOf } from './state';

/** Models that differ in their positions, trained on short rows and tested on long ones. Nothing runs before the press. */
class ExtrapolationPanel extends LitPanel {
  #settings: Settings = { seed: 1, trained: 64 };
  #tested: Tested | null = null;
  /** Of the run that goes on, of which nothing may have come yet. */
  #step = 0;
  #running = false;
  #failure: Failure | null = null;
  readonly #lab = new Lab<ToExtrapolationLab, FromExtrapolationLab>('extrapolation', {
    onMessage: ({ tested }) => this.#receive(tested),
    onFailure: (failure) => this.#failed(failure),
  });

  protected inputs({ state, look }: View): readonly unknown[] {
    const { seed, trained } = settingsOf(state);
    return [seed, trained, look];
  }

  override update(view: View): void {
    const { seed, trained } = this.#settings;
    this.#settings = settingsOf(view.state);
    super.update(view);
    // The reader requested a run: it follows what the reader changes.
    const another = seed !== this.#settings.seed || trained !== this.#settings.trained;
    if (another && (this.#running || this.#tested)) this.#run();
  }

  protected render(): TemplateResult {
    const { seed, trained } = this.#settings;
    const [least, most] = LIMITS.extrapolationTrained;
    const tested = this.#tested;
    return html`<div class="card">
      <div class="tools-row">
        <div data-control>${slider({
          ...{ id: 'extrapolation-trained', label: t('extrapolation.trained') },
          ...{ limits: [Math.log2(least), Math.log2(most)], place: Math.log2(trained) },
          words: `T = ${trained}`,
          take: (place) => this.change({ extrapolationTrained: 2 ** place }),
        })}</div>
        <button type="button" class="button other" data-control @click=${() =>
          this.change({
            extrapolationSeed: nextWithin(LIMITS.extrapolationSeed, seed),
          })}>${t('extrapolation.other')}</button>
        ${button('primary run', t('extrapolation.run'), () => this.#run())}
      </div>
      <p class="hint described" role="status">${this.#status()}</p>
      ${tested && labOf(tested)}
      <p class="hint check-note">${tested && t('extrapolation.check', checkedOf(tested))}</p>
    </div>`;
  }

  #run(): void {
    this.#running = true;
    this.#step = 0;
    this.#failure = null;
    this.#lab.send({ type: 'run', settings: this.#settings });
    this.refresh();
  }

  #receive(tested: Tested): void {
    const { seed, trained } = tested.settings;
    if (seed !== this.#settings.seed || trained !== this.#settings.trained) return; // of a run before
    this.#tested = tested;
    this.#step = tested.step;
    this.#running = tested.step < STEPS;
    if (!this.#running) this.#lab.stop(); // it holds an engine that nothing needs again
    this.refresh();
  }

  #failed(failure: Failure): void {
    this.#failure = failure;
    this.#running = false;
    this.refresh();
  }

  #status(): string {
    if (this.#failure) return t('extrapolation.failed', { reason: reasonOf(this.#failure) });
    if (this.#running) return t('extrapolation.running', { step: this.#step, steps: STEPS });
    return this.#tested ? t('extrapolation.done', { steps: STEPS, seed: this.#settings.seed }) : '';
  }

  override figure(): Promise<Figure | null> {
    return Promise.resolve(this.#tested && extrapolationFigure(this.#tested));
  }
}

function labOf(tested: Tested): TemplateResult {
  const { trained } = tested.settings;
  const beyond = numbersOf(tested);
  const words = {
    ...{ x: t('extrapolation.x'), y: t('extrapolation.y') },
    ...{ trained: t('extrapolation.shaded'), chance: t('extrapolation.chance') },
  };
  return html`<div class="lab">
    <div class="lab-main">
      ${stage('accuracy', {
        height: HEIGHT,
        label: t('extrapolation.picture', { ...beyond, trained }),
        draw: (width) => drawAccuracy(pagePen, width, tested, words),
      })}
      <ul class="plot-key">${WAYS.map((way) => keyEntry(`plot-${MARKS[way]}`, t(`extrapolation.${way}`)))}</ul>
    </div>
    <div class="lab-side">
      <p class="beyond">${t('extrapolation.beyond', { from: trained, to: TESTED - 1 })}</p>
      ${numberList(beyond, (way) => t(`extrapolation.${way}`))}
      <p class="verdict">${t('extrapolation.why')}</p>
    </div>
  </div>`;
}

function checkedOf({ parameters: { learned, sinusoidal } }: Tested) {
  const counts = { learned: whole(learned), fixed: whole(sinusoidal), steps: STEPS };
  return { ...counts, vocabulary: VOCABULARY, block: BLOCK, tested: TESTED };
}

/** Mean accuracy beyond the trained positions. */
function numbersOf({ accuracy, settings }: Tested): Record<Way, string> {
  const from = Math.ceil(settings.trained / BLOCK);
  const of = (way: Way) => percent(mean(accuracy[way].slice(from)));
  return {
    learned: of('learned'),
    clamped: of('clamped'),
    sinusoidal: of('sinusoidal'),
    rotary: of('rotary'),
  };
}

customElements.define('qkv-panel-extrapolation', ExtrapolationPanel);
