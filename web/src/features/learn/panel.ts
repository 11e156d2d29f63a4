import '../../ui/plot.css';
import './style.css';
import type { TemplateResult } from 'lit-html';
import type { Figure } from '../../ui/export_figure';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { learnFigure } from './page/figure';
import { LargeMap, probeText } from './page/head_maps';
import { panelOf } from './page/panel_view';
import { RunGuess } from './page/run_guess';
import { momentOf, type Scene } from './page/scene';
import { settingsOf, tuningOf } from './page/settings_of_state';
import { spokenOf } from './page/status_texts';
import { Training } from './page/training_client';
import type { Settings } from './shared/run_settings';
import type { LearnState } from './state';
import { t } from './feature';

/** Pause between two sentences of the live region while it trains, in milliseconds. */
const SPEAKS_EVERY = 5000;
/** Pictures that move are drawn so seldom for those who do not want movement, in milliseconds. */
const CALM = 500;

const settingsNow = (state: LearnState) => settingsOf(state, t('learn.text.own'));

/** A small model that is trained in front of the reader. */
class LearnPanel extends LitPanel {
  #view: View | null = null;
  #frame = 0;
  /** The timer that asks for the next news where nothing should move much. */
  #calm = 0;
  /** Counts what changes besides the view: the runs, the guess, and the crosshair. */
  #changes = 0;
  #spoken = -Infinity;
  #wasPlaying = false;
  #said = '';
  #large: LargeMap | null = null;
  readonly #guess = new RunGuess(() => this.#redraw());
  readonly training = new Training({
    onChange: () => this.#redraw(),
    onSaved: ({ settings, step }, bytes) => this.#open(settings, step, bytes),
  });

  override update(view: View): void {
    const { state } = view;
    const settings = settingsNow(state);
    this.#view = view;
    this.training.setSpeed(state.learnSpeed);
    this.training.tune(settings, tuningOf(state, settings));
    // Others look for its controls after the first update.
    if (this.firstChild) this.#later();
    else this.#draw();
  }

  // ---- drawing: once a frame at most ----

  #redraw(): void {
    this.#changes += 1;
    this.#later();
  }

  #later(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    if (this.#view) super.update(this.#view);
  }

  protected inputs({ state, look }: View): readonly unknown[] {
    return [state, look, this.#changes];
  }

  protected render(view: View): TemplateResult {
    this.#say();
    return panelOf(this.#scene(view));
  }

  #scene({ state, look }: View): Scene {
    return {
      ...{ state, look, settings: settingsNow(state), training: this.training },
      ...{ guess: this.#guess, said: this.#said },
      change: (patch) => this.change(patch),
      redraw: () => this.#redraw(),
    };
  }

  /** When it rests, and now and then while it trains. */
  #say(): void {
    const { current, playing } = this.training;
    const now = performance.now();
    const rested = this.#wasPlaying && !playing;
    this.#wasPlaying = playing;
    const isTime = rested || (playing && now - this.#spoken >= SPEAKS_EVERY);
    if (!current || current.step === 0 || !isTime) return;
    this.#spoken = now;
    this.#said = spokenOf(current);
  }

  protected override rendered(view: View): void {
    const { seen, snapshot, chosen } = momentOf(this.#scene(view));
    if (snapshot && chosen !== null) {
      this.#large ??= new LargeMap(this.find('.learn-large', HTMLElement));
      this.#large.draw(seen, snapshot, chosen, view.look);
    }
    if (!matchMedia('(prefers-reduced-motion: reduce)').matches) this.training.drawn();
    else if (this.#calm === 0) this.#calm = window.setTimeout(() => this.#rested(), CALM);
  }

  #rested(): void {
    this.#calm = 0;
    this.training.drawn();
  }

  /** Has the panel of trained models load a run, with the row that is shown here as its text. */
  #open(settings: Settings, step: number, bytes: Uint8Array<ArrayBuffer>): void {
    const { task, seed } = settings;
    const file = new File([bytes], `${task}-seed${seed}-step${step}.safetensors`);
    const detail = { file, text: probeText(settings) };
    this.dispatchEvent(new CustomEvent('run-opened', { bubbles: true, detail }));
  }

  override figure({ state }: View): Promise<Figure | null> {
    return Promise.resolve(learnFigure(this.training, settingsNow(state)));
  }
}

customElements.define('qkv-panel-learn', LearnPanel);
