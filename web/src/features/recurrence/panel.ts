import '../../ui/plot.css';
import '../../ui/matrix/matrix.css';
import './style.css';
import { html, nothing, type TemplateResult } from 'lit-html';
import { MatrixView } from '../../ui/matrix/view';
import card from '../../../../models/recurrence/card.json';
import { describeFailure } from '../../domain/describe_failure';
import { Lab } from '../../worker/panel_worker_client';
import type { Failure } from '../../domain/failure';
import type { Figure } from '../../ui/export_figure';
import { options, typedText, withValue } from '../../ui/lit/controls';
import { PaintedMatrix } from '../../ui/matrix/painted_matrix';
import { LitPanel } from '../lit_panel';
import type { View } from '../panel';
import { reasonOf } from '../../ui/reason';
import type { State } from '../../state/state';
import { accuracyChart, costChart, costSentences, reachChart } from './page/charts';
import { recurrenceFigure } from './page/figure';
import { headOf, MAPPED, showMap, type Mapped } from './page/attention_maps';
import { HEADS, KINDS, SEEDS, STEPS, TRAINED_KB } from './shared/model_configs';
import { isMeasuring, NOTHING, recall, type LatestNews } from './page/latest_news';
import type { News, Order } from './shared/protocol';
import { saidRows } from './page/spoken_rows';
import { LONGEST_TESTED, readSource, TOKENS } from './shared/task';
import { LAYER_HEADS, WIDTH } from './shared/timing_settings';
import { entryOf, modelTable } from './page/model_table';
import { t } from './feature';
import { trainedFiles } from './page/trained_files';
import { mirrorWords, nameOf } from './page/sentences';

/** The worker tells more often than anybody can read. Who asks for less motion gets two pictures a second. */
const PAUSE = 80;
const CALM = 500;
const wantsCalm = matchMedia('(prefers-reduced-motion: reduce)');

const digitsOf = (text: string) => readSource(text).join('');

const press = (name: string, words: string, act: () => void, disabled = false) =>
  html`<button type="button" class="button" data-press=${name} ?disabled=${disabled} @click=${act}>${words}</button>`;

/** Three models of one size that learn to say a sequence from its end, in a worker of their own. */
class RecurrencePanel extends LitPanel {
  #state: State | null = null;
  #known: LatestNews = NOTHING;
  /** What was requested and has not been answered yet. */
  #waiting: 'begin' | 'load' | null = null;
  /** Whether the worker is still to say that it has begun with other models: until then it tells of those of before. */
  #isStale = false;
  #failure: Failure | null = null;
  #source = '';
  #drawing = false;
  /** What a live region has read out last. */
  #said = '';
  #maps: readonly (readonly [Mapped, PaintedMatrix])[] = [];
  /** What they were last given. */
  #painted: readonly unknown[] = [];
  readonly #lab = new Lab<Order, News>('recurrence', {
    onMessage: (news) => this.#hear(news),
    onFailure: (failure) => this.#fail(failure),
  });

  override update(view: View): void {
    this.#state = view.state;
    if (view.state.recurrenceSource !== this.#source && this.#lab.isRunning) this.#sendSource();
    super.update(view);
  }

  // ---- what the reader asks for ----

  #sendSource(): void {
    this.#source = this.#state?.recurrenceSource ?? '';
    this.#lab.send({ type: 'source', source: readSource(this.#source) });
  }

  /** Whether what is there cannot be gone on with: nothing, weights of files, another seed, or a run that is over. */
  get #isOver(): boolean {
    const { progress } = this.#known;
    if (!progress || progress.done) return true;
    return progress.seed !== this.#state?.recurrenceSeed;
  }

  #begin(running: boolean): void {
    this.#forget('begin');
    this.#sendSource();
    this.#lab.send({ type: 'begin', seed: this.#state?.recurrenceSeed ?? 1, running });
  }

  #play(): void {
    if (this.#waiting) return;
    if (this.#known.progress?.running) this.#lab.send({ type: 'pause' });
    else if (this.#isOver) this.#begin(true);
    else this.#lab.send({ type: 'play' });
    this.refresh();
  }

  #step(): void {
    if (this.#waiting) return;
    if (this.#isOver) this.#begin(false);
    this.#lab.send({ type: 'step' });
    this.refresh();
  }

  async #load(): Promise<void> {
    if (this.#waiting) return;
    this.#waiting = 'load';
    this.#failure = null;
    this.refresh();
    try {
      const files = await trainedFiles();
      const { seed, steps } = card.models.transformer.run;
      this.#forget('load'); // not before: without files the models of before stay
      this.#sendSource();
      this.#lab.send({ type: 'load', files, seed, steps });
      this.refresh();
    } catch (error) {
      this.#fail(describeFailure(error));
    }
  }

  #measure(): void {
    this.#failure = null;
    const begun = { type: 'timed', variant: '', part: 0, timings: [] } as const;
    this.#known = recall(this.#known, begun);
    this.#lab.send({ type: 'measure' });
    this.refresh();
  }

  /** As many digits as there are now, others. */
  #drawDigits(): void {
    const { length } = this.#state?.recurrenceSource ?? '';
    const digits = Array.from({ length: length || 1 }, () => Math.floor(Math.random() * TOKENS));
    this.change({ recurrenceSource: digits.join('') });
  }

  /** Gives up the models of before; times are of no model, and stay. */
  #forget(waiting: 'begin' | 'load'): void {
    const { timed, timings } = this.#known;
    this.#known = { ...NOTHING, timed, timings };
    this.#waiting = waiting;
    this.#isStale = true;
    this.#failure = null;
  }

  // ---- what the worker tells ----

  #hear(news: News): void {
    if (news.type === 'begun') {
      this.#waiting = null;
      this.#isStale = false;
      return;
    }
    if (this.#isStale && news.type !== 'timed') return;
    const before = this.#known.progress;
    this.#known = recall(this.#known, news);
    if (news.type === 'progress') {
      const begun = !before || (before.running && !news.running);
      if (begun) this.#said = this.#badge();
    }
    if (news.type === 'timed' && news.part === 1) this.#said = costSentences(this.#known).join('');
    this.#scheduleDraw();
  }

  #fail(failure: Failure): void {
    this.#waiting = null;
    this.#isStale = false;
    this.#failure = failure;
    if (!this.#lab.isRunning) {
      const { timed, timings } = isMeasuring(this.#known) ? NOTHING : this.#known;
      this.#known = { ...NOTHING, timed, timings };
    }
    this.#said = this.#badge();
    this.#scheduleDraw();
  }

  #scheduleDraw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    const draw = () => {
      this.#drawing = false;
      this.refresh();
    };
    setTimeout(() => requestAnimationFrame(draw), wantsCalm.matches ? CALM : PAUSE);
  }

  // ---- drawing ----

  protected inputs({ state, look }: View): readonly unknown[] {
    return [state.recurrenceSource, state.recurrenceSeed, state.recurrenceHead, look];
  }

  protected render({ state, look }: View): TemplateResult {
    const known = this.#known;
    const { progress } = known;
    return html`<div class="card">
      ${this.#tools(state)}
      <p class="recurrence-badge" ?data-failed=${this.#failure !== null}>${this.#badge()}</p>
      <div class="recurrence-models" ?hidden=${!progress}>${progress && modelTable(progress)}</div>
      ${this.#reading(state)}
      <div class="recurrence-learned" ?hidden=${!progress}>
        <div class="recurrence-charts">${accuracyChart(known, look)}${reachChart(known, look)}</div>
        <ul class="plot-key">${KINDS.map((kind) => html`<li>${entryOf(kind)}</li>`)}</ul>
      </div>
      ${costChart(known, look, this.#costTools())}
      <p class="visually-hidden" role="status" data-said>${this.#said}</p>
    </div>`;
  }

  #badge(): string {
    const { progress } = this.#known;
    if (this.#failure) return t('recurrence.failed', { reason: reasonOf(this.#failure) });
    if (this.#waiting === 'load') return t('recurrence.badge.loading');
    if (this.#waiting) return t('recurrence.badge.waiting');
    if (!progress) return t('recurrence.badge.none');
    const { origin, seed, learners } = progress;
    const { steps } = learners.transformer;
    return t(`recurrence.badge.${origin}`, { steps, seed, all: STEPS });
  }

  #tools({ recurrenceSeed }: State): TemplateResult {
    const { progress } = this.#known;
    const again = progress?.done && progress.origin === 'here' ? 'again' : 'play';
    const play = progress?.running ? 'pause' : this.#isOver ? again : 'resume';
    // What is no seed stays until the reader leaves the box.
    const take = ({ currentTarget }: Event) => {
      const box = currentTarget as HTMLInputElement;
      if (box.checkValidity() && box.value) this.change({ recurrenceSeed: Number(box.value) });
    };
    return html`<div class="tools-row recurrence-tools">
      ${press('play', t(`recurrence.${play}`), () => this.#play())}
      ${press('step', t('recurrence.step'), () => this.#step())}
      ${press('load', t('recurrence.load', { size: TRAINED_KB }), () => void this.#load())}
      <div class="control seed" data-control>
        <label for="recurrence-seed">${t('recurrence.seed')}</label>
        <input id="recurrence-seed" type="number" min=${SEEDS[0]} max=${SEEDS[1]} step="1"
          @change=${take} @blur=${() => this.refresh()} ${typedText(String(recurrenceSeed))}>
      </div>
    </div>`;
  }

  #reading({ recurrenceSource, recurrenceHead }: State): TemplateResult {
    const { spoken } = this.#known;
    // Until the answer to what was typed is there, that to what it was before stays.
    const source = spoken?.source ?? readSource(recurrenceSource);
    const take = (text: string) => this.change({ recurrenceSource: digitsOf(text) });
    // What else is typed between digits stays in the box; other digits are written there at any time.
    const typed = typedText(recurrenceSource, digitsOf, true);
    return html`<section class="recurrence-part">
      <div class="tools-row recurrence-tools" data-control>
        <div class="control recurrence-source">
          <label for="recurrence-source">${t('recurrence.source')}</label>
          <input id="recurrence-source" class="text-box" type="text" inputmode="numeric" autocomplete="off" spellcheck="false" maxlength=${LONGEST_TESTED}
            @input=${withValue(take)} ${typed}>
        </div>
        ${press('draw', t('recurrence.draw'), () => this.#drawDigits())}
      </div>
      <div class="said" role="group" aria-label=${t('recurrence.saidLabel')}>${saidRows(source, spoken)}</div>
      <div class="recurrence-reading" ?hidden=${!spoken}>
        <p class="hint">${t('recurrence.saidNote')}</p>
        <h3>${t('recurrence.maps')}</h3>
        <p>${t('recurrence.mapsIntro')}</p>
        <div class="recurrence-maps">${MAPPED.map((kind) => this.#map(kind, recurrenceHead))}</div>
      </div>
    </section>`;
  }

  #map(kind: Mapped, chosen: number): TemplateResult {
    const { spoken } = this.#known;
    const head = headOf(kind, chosen);
    const words = spoken && mirrorWords(kind, spoken.source, spoken.said[kind], head);
    return html`<div data-map=${kind}>
      <h4><span>${nameOf(kind)}</span>${kind === 'transformer' ? this.#heads(chosen) : nothing}</h4>
      <qkv-matrix></qkv-matrix><p class="hint">${words}</p></div>`;
  }

  #heads(chosen: number): TemplateResult {
    const take = (value: string) => this.change({ recurrenceHead: Number(value) });
    const heads = Array.from(
      { length: HEADS },
      (_, head) => [String(head), t('recurrence.headName', { head: head + 1 })] as const,
    );
    return html`<select id="recurrence-head" aria-label=${t('recurrence.head')} data-control @change=${withValue(take)}>${options(heads, String(chosen))}</select>`;
  }

  #costTools(): TemplateResult {
    const { timed } = this.#known;
    const measuring = isMeasuring(this.#known);
    const name = t(timed ? 'recurrence.measureAgain' : 'recurrence.measure');
    const percent = Math.floor(100 * (timed?.part ?? 0));
    return html`<p class="recurrence-cost-intro">${t('recurrence.costIntro', { width: WIDTH, heads: LAYER_HEADS })}</p>
      <div class="tools-row">${press('measure', name, () => this.#measure(), measuring)}
        <output class="recurrence-measuring">${measuring ? t('recurrence.measuring', { percent }) : ''}</output></div>`;
  }

  protected override rendered({ state: { recurrenceHead }, look }: View): void {
    const { spoken } = this.#known;
    if (this.#maps.length === 0) this.#maps = MAPPED.map((kind) => [kind, this.#matrixOf(kind)]);
    const inputs = [spoken, recurrenceHead, look];
    if (inputs.every((input, i) => input === this.#painted[i])) return;
    this.#painted = inputs;
    for (const [kind, matrix] of this.#maps) {
      if (spoken) showMap(matrix, kind, spoken, [recurrenceHead, look]);
      else matrix.hide();
    }
  }

  #matrixOf(kind: Mapped): PaintedMatrix {
    return new PaintedMatrix(this.find(`[data-map=${kind}] qkv-matrix`, MatrixView));
  }

  override figure(): Promise<Figure | null> {
    return Promise.resolve(recurrenceFigure(this.#known));
  }
}

customElements.define('qkv-panel-recurrence', RecurrencePanel);
