import '../../ui/plot.css';
import type { Failure } from '../../domain/failure';
import { mean } from '../../domain/averages';
import { sliderHtml, showSlider } from '../../ui/controls';
import type { Figure } from '../../ui/export_figure';
import { percent, whole } from '../../ui/numbers';
import { pagePen } from '../../ui/plot';
import { keyEntryHtml, plotStages, stageHtml, type PlotStage } from '../../ui/plot_stage';
import { reasonOf } from '../../ui/reason';
import { LIMITS } from '../../state/state';
import { Lab } from '../../worker/panel_worker_client';
import { Panel, type View } from '../panel';
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
class ExtrapolationPanel extends Panel {
  #settings: Settings = { seed: 1, trained: 64 };
  #tested: Tested | null = null;
  #running = false;
  #failure: Failure | null = null;
  #stage: PlotStage | null = null;
  readonly #lab = new Lab<ToExtrapolationLab, FromExtrapolationLab>('extrapolation', {
    onMessage: ({ tested }) => this.#heard(tested),
    onFailure: (failure) => this.#failed(failure),
  });

  protected template(): string {
    const [least, most] = LIMITS.extrapolationTrained;
    const entry = (way: Way) =>
      keyEntryHtml(`plot-${MARKS[way]}`, `<span data-t="extrapolation.${way}"></span>`);
    const number = (way: Way) =>
      `<div><dt data-t="extrapolation.${way}"></dt><dd data-number="${way}"></dd></div>`;
    return `
      <div class="card">
        <div class="tools-row">
          <div data-control>${sliderHtml('extrapolation-trained', 'extrapolation.trained', [Math.log2(least), Math.log2(most)])}</div>
          <button type="button" class="button other" data-control data-t="extrapolation.other"></button>
          <button type="button" class="button primary run" data-t="extrapolation.run"></button>
        </div>
        <p class="hint told" role="status"></p>
        <div class="lab" hidden>
          <div class="lab-main">
            ${stageHtml('accuracy')}
            <ul class="plot-key">${WAYS.map(entry).join('')}</ul>
          </div>
          <div class="lab-side">
            <p class="beyond"></p>
            <dl class="numbers">${WAYS.map(number).join('')}</dl>
            <p class="verdict" data-t="extrapolation.why"></p>
          </div>
        </div>
        <p class="hint check-note"></p>
      </div>`;
  }

  protected override ready(): void {
    const slider = this.find('#extrapolation-trained', HTMLInputElement);
    slider.addEventListener('input', () =>
      this.change({ extrapolationTrained: 2 ** Number(slider.value) }),
    );
    this.find('.other', HTMLElement).addEventListener('click', () => {
      const [first, last] = LIMITS.extrapolationSeed;
      const { seed } = this.#settings;
      this.change({ extrapolationSeed: seed < last ? seed + 1 : first });
    });
    this.find('.run', HTMLElement).addEventListener('click', () => this.#run());
    this.#stage = plotStages(this, ['accuracy']).accuracy;
  }

  update({ state, look }: View): void {
    const settings = settingsOf(state);
    const { seed, trained } = settings;
    if (!this.changed(seed, trained, look)) return;
    const before = this.#settings;
    this.#settings = settings;
    showSlider(this, 'extrapolation-trained', Math.log2(trained), `T = ${trained}`);
    // The reader asked for a run: it follows what the reader changes.
    const another = seed !== before.seed || trained !== before.trained;
    if (another && (this.#running || this.#tested)) this.#run();
    else this.#draw();
  }

  #run(): void {
    this.#running = true;
    this.#failure = null;
    this.#lab.send({ type: 'run', settings: this.#settings });
    this.#draw();
  }

  #heard(tested: Tested): void {
    const { seed, trained } = tested.settings;
    if (seed !== this.#settings.seed || trained !== this.#settings.trained) return; // of a run before
    this.#tested = tested;
    this.#running = tested.step < STEPS;
    if (!this.#running) this.#lab.stop(); // it holds an engine that nothing needs again
    this.#draw();
  }

  #failed(failure: Failure): void {
    this.#failure = failure;
    this.#running = false;
    this.#draw();
  }

  #status(): string {
    if (this.#failure) return t('extrapolation.failed', { reason: reasonOf(this.#failure) });
    const step = this.#tested?.step ?? 0;
    if (this.#running) return t('extrapolation.running', { step, steps: STEPS });
    return this.#tested ? t('extrapolation.done', { steps: STEPS, seed: this.#settings.seed }) : '';
  }

  #draw(): void {
    this.setText('.told', this.#status());
    const tested = this.#tested;
    this.find('.lab', HTMLElement).hidden = tested === null;
    if (!tested) return;
    const { trained } = tested.settings;
    const beyond = numbersOf(tested);
    for (const way of WAYS) this.setText(`[data-number=${way}]`, beyond[way]);
    this.setText('.beyond', t('extrapolation.beyond', { from: trained, to: TESTED }));
    const words = {
      ...{ x: t('extrapolation.x'), y: t('extrapolation.y') },
      ...{ trained: t('extrapolation.shaded'), chance: t('extrapolation.chance') },
    };
    this.#stage?.show({
      height: HEIGHT,
      label: t('extrapolation.picture', { ...beyond, trained }),
      draw: (width) => drawAccuracy(pagePen, width, tested, words),
    });
    const { learned, sinusoidal } = tested.parameters;
    const counts = { learned: whole(learned), fixed: whole(sinusoidal), steps: STEPS };
    const values = { ...counts, vocabulary: VOCABULARY, block: BLOCK, tested: TESTED };
    this.setText('.check-note', t('extrapolation.check', values));
  }

  override figure(): Promise<Figure | null> {
    return Promise.resolve(this.#tested && extrapolationFigure(this.#tested));
  }
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
