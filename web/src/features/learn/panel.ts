import '../../ui/plot.css';
import './style.css';
import { formatFragment } from '../../state/state';
import type { Figure } from '../../ui/export_figure';
import { Panel, type View } from '../panel';
import { changesFor, SERIES } from './page/experiments';
import { EXPERIMENTS, type Experiment, type Settings } from './shared/run_settings';
import { learnFigure } from './page/figure';
import { probeText } from './page/head_maps';
import { settingsOf, tuningOf } from './page/settings_of_state';
import { PanelView } from './page/panel_view';
import { listen } from './page/controls';
import { TEMPLATE } from './page/panel_html';
import { t } from './feature';
import { spokenOf } from './page/status_texts';
import { Training } from './page/training_client';

/** Pause between two sentences of the live region while it trains, in milliseconds. */
const SPEAKS_EVERY = 5000;
/** Pictures that move are drawn so seldom for those who do not want movement, in milliseconds. */
const CALM = 500;

/** A small model that is trained in front of the reader. */
class LearnPanel extends Panel {
  #view: View | null = null;
  #frame = 0;
  /** The timer that asks for the next news where nothing should move much. */
  #calm = 0;
  #spoken = -Infinity;
  #wasPlaying = false;
  #screen: PanelView | null = null;
  readonly training = new Training({
    onChange: () => this.#later(),
    onSaved: ({ settings, step }, bytes) => this.#open(settings, step, bytes),
  });

  protected template(): string {
    return TEMPLATE;
  }

  protected override ready(): void {
    this.#screen = new PanelView(this, {
      choose: (map) => this.change({ learnMap: this.#view?.state.learnMap === map ? null : map }),
      redraw: () => this.#later(),
    });
    const form = this.find('.learn-setup', HTMLFormElement);
    form.addEventListener('submit', (event) => event.preventDefault());
    listen(this, (patch) => this.change(patch));
    this.addEventListener('click', (event) => this.#clicked(event));
    const scrub = this.find('[name=scrub]', HTMLInputElement);
    scrub.addEventListener('input', () => this.#look(scrub.valueAsNumber));
    const text = this.find('[name=text]', HTMLTextAreaElement);
    text.addEventListener('change', () => this.change({ learnText: text.value || null }));
    const compare = this.find('[name=compare]', HTMLInputElement);
    compare.addEventListener('change', () => this.change({ learnCompare: compare.checked }));
  }

  update(view: View): void {
    this.#view = view;
    this.training.setSpeed(view.state.learnSpeed);
    const settings = this.#settings;
    if (settings) this.training.tune(settings, tuningOf(view.state, settings));
    this.#later();
  }

  get #settings(): Settings | null {
    return this.#view && settingsOf(this.#view.state, t('learn.text.own'));
  }

  // ---- drawing: once a frame at most ----

  #later(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const [view, settings, screen, { training }] = [this.#view, this.#settings, this.#screen, this];
    if (!view || !settings || !screen) return;
    screen.draw({ view, settings, training });
    this.#links(view);
    this.#speak();
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) training.drawn();
    else if (this.#calm === 0) this.#calm = window.setTimeout(() => this.#rested(), CALM);
  }

  #rested(): void {
    this.#calm = 0;
    this.training.drawn();
  }

  #links({ state }: View): void {
    if (!this.changed(state.language, state)) return;
    for (const experiment of [null, ...EXPERIMENTS]) {
      const name = `[data-experiment="${experiment ?? ''}"]`;
      const link = this.find(name, HTMLAnchorElement); // not a new one: it may have the focus
      this.setText(name, t(`learn.experimentName.${experiment ?? 'own'}`));
      link.href = formatFragment({ ...state, panel: 'learn', ...changesFor(experiment) });
      if (state.learnExperiment === experiment) link.setAttribute('aria-current', 'true');
      else link.removeAttribute('aria-current');
    }
  }

  /** When it rests, and now and then while it trains. */
  #speak(): void {
    const { current, playing } = this.training;
    const now = performance.now();
    const rested = this.#wasPlaying && !playing;
    this.#wasPlaying = playing;
    if (
      !current ||
      current.step === 0 ||
      (!rested && (!playing || now - this.#spoken < SPEAKS_EVERY))
    ) {
      return;
    }
    this.#spoken = now;
    this.setText('[data-said]', spokenOf(current));
  }

  // ---- presses ----

  #look(step: number): void {
    const last = this.training.current?.step ?? 0;
    this.training.look(step >= last ? null : step);
  }

  #clicked(event: MouseEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const link = target?.closest<HTMLElement>('[data-experiment]')?.dataset['experiment'];
    // With a key held the browser opens it elsewhere.
    if (link !== undefined && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      this.change(changesFor((link || null) as Experiment | null));
    }
    const what = target?.closest<HTMLElement>('[data-do]')?.dataset['do'];
    if (what) this.#do(what);
  }

  #do(what: string): void {
    const [settings, view, { training }] = [this.#settings, this.#view, this];
    if (!settings || !view) return;
    const { learnSpeed, learnCompare, learnSeed, learnExperiment } = view.state;
    if (what === 'play' && training.playing) training.pause();
    else if (what === 'play') training.play(settings, learnSpeed, learnCompare);
    else if (what === 'step') training.step(settings, learnCompare);
    else if (what === 'restart') training.restart(settings, learnCompare);
    else if (what === 'forget') training.forgetKept();
    else if (what === 'live') training.look(null);
    else if (what === 'open') training.save();
    else if (what === 'noise') training.learnNoise(learnSeed);
    else if (what === 'heads') {
      const tried = SERIES[learnExperiment === 'names' ? 'names' : 'overfit'];
      training.playAll(
        tried.map((part) => ({ ...settings, ...part })),
        learnSpeed,
      );
    }
  }

  /** Has the panel of trained models load a run, with the row that is shown here as its text. */
  #open(settings: Settings, step: number, bytes: Uint8Array<ArrayBuffer>): void {
    const { task, seed } = settings;
    const file = new File([bytes], `${task}-seed${seed}-step${step}.safetensors`);
    const detail = { file, text: probeText(settings) };
    this.dispatchEvent(new CustomEvent('run-opened', { bubbles: true, detail }));
  }

  override figure(): Promise<Figure | null> {
    const settings = this.#settings;
    return Promise.resolve(settings && learnFigure(this.training, settings));
  }
}

customElements.define('qkv-panel-learn', LearnPanel);
