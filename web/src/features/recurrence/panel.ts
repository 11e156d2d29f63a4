import '../../ui/plot.css';
import '../../ui/matrix/matrix.css';
import './style.css';
import { MatrixView } from '../../ui/matrix/view';
import card from '../../../../models/recurrence/card.json';
import { describeFailure } from '../../domain/describe_failure';
import { Lab } from '../../worker/panel_worker_client';
import type { Failure } from '../../domain/failure';
import type { Figure } from '../../ui/export_figure';
import { Panel, type View } from '../panel';
import { reasonOf } from '../../ui/reason';
import type { State } from '../../state/state';
import { Charts } from './page/charts';
import { recurrenceFigure } from './page/figure';
import { Maps } from './page/attention_maps';
import { KINDS, STEPS } from './shared/model_configs';
import { isMeasuring, NOTHING, recall, type LatestNews } from './page/latest_news';
import type { News, Order } from './shared/protocol';
import { saidRows } from './page/spoken_rows';
import { LONGEST_ASKED, readSource, TOKENS } from './shared/task';
import { COLUMNS, fixedTexts, tableRows, template } from './page/panel_html';
import { t } from './feature';
import { trainedFiles } from './page/trained_files';
import { spreadOfSizes } from './page/sentences';
import { setText } from '../../ui/dom';

/** The worker tells more often than anybody can read. Who asks for less motion gets two pictures a second. */
const PAUSE = 80;
const CALM = 500;
const wantsCalm = matchMedia('(prefers-reduced-motion: reduce)');

/** Three models of one size that learn to say a sequence from its end, in a worker of their own. */
class RecurrencePanel extends Panel {
  #view: View | null = null;
  #known: LatestNews = NOTHING;
  /** What was asked for and has not been answered yet. */
  #waiting: 'begin' | 'load' | null = null;
  #failure = '';
  #source = '';
  #charts: Charts | null = null;
  #maps: Maps | null = null;
  #drawing = false;
  #spoken: readonly unknown[] = [];
  /** The times are all there: said when the sentences about them stand. */
  #announceCost = false;
  readonly #lab = new Lab<Order, News>('recurrence', {
    onMessage: (news) => this.#hear(news),
    onFailure: (failure) => this.#fail(failure),
  });

  protected template(): string {
    return template();
  }

  protected override ready(): void {
    const press = (name: string, action: () => void) =>
      this.find(`[data-press=${name}]`, HTMLButtonElement).addEventListener('click', action);
    press('play', () => this.#play());
    press('step', () => this.#step());
    press('load', () => void this.#load());
    press('draw', () => this.#drawDigits());
    press('measure', () => this.#measure());
    const seed = this.find('#recurrence-seed', HTMLInputElement);
    seed.addEventListener('change', () => {
      if (seed.checkValidity() && seed.value) this.change({ recurrenceSeed: Number(seed.value) });
    });
    const source = this.find('#recurrence-source', HTMLInputElement);
    source.maxLength = LONGEST_ASKED;
    source.addEventListener('input', () =>
      this.change({ recurrenceSource: readSource(source.value).join('') }),
    );
    const head = this.find('#recurrence-head', HTMLSelectElement);
    head.addEventListener('change', () => this.change({ recurrenceHead: Number(head.value) }));
    this.#charts = new Charts(this);
    this.#maps = new Maps(
      this.find('[data-map=gru_attention] qkv-matrix', MatrixView),
      this.find('[data-map=transformer] qkv-matrix', MatrixView),
    );
  }

  update(view: View): void {
    this.#view = view;
    const { recurrenceSource } = view.state;
    if (recurrenceSource !== this.#source && this.#lab.isRunning) this.#sendSource();
    this.#draw();
  }

  // ---- what the reader asks for ----

  get #state(): State | undefined {
    return this.#view?.state;
  }

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
    this.#draw();
  }

  #step(): void {
    if (this.#waiting) return;
    if (this.#isOver) this.#begin(false);
    this.#lab.send({ type: 'step' });
    this.#draw();
  }

  async #load(): Promise<void> {
    if (this.#waiting) return;
    this.#forget('load');
    this.#draw();
    try {
      const files = await trainedFiles();
      const { seed, steps } = card.models.transformer.run;
      this.#sendSource();
      this.#lab.send({ type: 'load', files, seed, steps });
    } catch (error) {
      this.#fail(describeFailure(error));
    }
  }

  #measure(): void {
    this.#failure = '';
    const begun = { type: 'timed', variant: '', part: 0, timings: [] } as const;
    this.#known = recall(this.#known, begun);
    this.#lab.send({ type: 'measure' });
    this.#draw();
  }

  /** As many digits as there are now, others. */
  #drawDigits(): void {
    const { length } = this.#state?.recurrenceSource ?? '';
    const digits = Array.from({ length: length || 1 }, () => Math.floor(Math.random() * TOKENS));
    this.change({ recurrenceSource: digits.join('') });
  }

  #forget(waiting: 'begin' | 'load'): void {
    const { timed, timings } = this.#known;
    this.#known = { ...NOTHING, timed, timings };
    this.#waiting = waiting;
    this.#failure = '';
  }

  // ---- what the worker tells ----

  #hear(news: News): void {
    const before = this.#known.progress;
    this.#known = recall(this.#known, news);
    if (news.type === 'progress') {
      this.#waiting = null;
      const begun = !before || (before.running && !news.running);
      if (begun) this.setText('[data-said]', this.#badge());
    }
    this.#announceCost ||= news.type === 'timed' && news.part === 1;
    this.#scheduleDraw();
  }

  #fail(failure: Failure): void {
    this.#waiting = null;
    this.#failure = t('recurrence.failed', { reason: reasonOf(failure) });
    if (!this.#lab.isRunning) {
      const { timed, timings } = isMeasuring(this.#known) ? NOTHING : this.#known;
      this.#known = { ...NOTHING, timed, timings };
    }
    this.setText('[data-said]', this.#failure);
    this.#scheduleDraw();
  }

  // ---- drawing ----

  #scheduleDraw(): void {
    if (this.#drawing) return;
    this.#drawing = true;
    const draw = () => {
      this.#drawing = false;
      this.#draw();
    };
    setTimeout(() => requestAnimationFrame(draw), wantsCalm.matches ? CALM : PAUSE);
  }

  #draw(): void {
    const view = this.#view;
    if (!view) return;
    const { state, look } = view;
    this.#controls(state);
    this.#table();
    this.#say(view);
    this.#charts?.draw(this.#known, look);
    if (this.#announceCost) this.setText('[data-said]', this.#charts?.costText ?? '');
    this.#announceCost = false;
  }

  #badge(): string {
    const { progress } = this.#known;
    if (this.#failure) return this.#failure;
    if (this.#waiting === 'load') return t('recurrence.badge.loading');
    if (this.#waiting) return t('recurrence.badge.waiting');
    if (!progress) return t('recurrence.badge.none');
    const { origin, seed, learners } = progress;
    const { steps } = learners.transformer;
    return t(`recurrence.badge.${origin}`, { steps, seed, all: STEPS });
  }

  #controls({ recurrenceSource, recurrenceSeed, recurrenceHead }: State): void {
    const { progress, timed } = this.#known;
    const running = progress?.running ?? false;
    const again = progress?.done && progress.origin === 'here' ? 'again' : 'play';
    const name = running ? 'pause' : this.#isOver ? again : 'resume';
    this.setText('[data-press=play]', t(`recurrence.${name}`));
    this.find('[data-press=measure]', HTMLButtonElement).disabled = isMeasuring(this.#known);
    this.setText(
      '[data-press=measure]',
      t(timed ? 'recurrence.measureAgain' : 'recurrence.measure'),
    );
    this.setText('.recurrence-badge', this.#badge());
    for (const [selector, text] of Object.entries(fixedTexts())) this.setText(selector, text);
    for (const option of this.querySelectorAll<HTMLOptionElement>('#recurrence-head option')) {
      setText(option, t('recurrence.headName', { head: Number(option.value) + 1 }));
    }
    this.find('.recurrence-badge', HTMLElement).toggleAttribute(
      'data-failed',
      this.#failure !== '',
    );
    const seed = this.find('#recurrence-seed', HTMLInputElement);
    if (document.activeElement !== seed) seed.value = String(recurrenceSeed);
    const source = this.find('#recurrence-source', HTMLInputElement);
    // What else was typed stays until the reader leaves: a cursor must not jump.
    if (readSource(source.value).join('') !== recurrenceSource) source.value = recurrenceSource;
    this.find('#recurrence-head', HTMLSelectElement).value = String(recurrenceHead);
  }

  #table(): void {
    const { progress } = this.#known;
    this.find('.recurrence-models', HTMLElement).hidden = !progress;
    if (!progress) return;
    for (const kind of KINDS) {
      tableRows(progress, kind).forEach((text, i) => {
        const cell = `[data-model=${kind}] td:nth-child(${i + 2})`;
        this.setText(cell, text);
        const label = t(`recurrence.${COLUMNS[i + 1] ?? 'model'}`);
        this.find(cell, HTMLElement).dataset['label'] = label;
      });
    }
    this.setText('.recurrence-same', t('recurrence.same', { percent: spreadOfSizes(progress) }));
  }

  #say({ state, look }: View): void {
    const { spoken } = this.#known;
    const { recurrenceSource, recurrenceHead, language } = state;
    const inputs = [spoken, recurrenceSource, recurrenceHead, language, look];
    if (inputs.every((input, i) => input === this.#spoken[i])) return;
    this.#spoken = inputs;
    // Until the answer to what was typed is there, that to what it was before stays.
    const source = spoken?.source ?? readSource(recurrenceSource);
    this.find('.said', HTMLElement).replaceChildren(...saidRows(source, spoken));
    this.find('.recurrence-reading', HTMLElement).hidden = !spoken;
    this.#maps?.draw(this, spoken, [recurrenceHead, look]);
  }

  override figure(): Promise<Figure | null> {
    return Promise.resolve(recurrenceFigure(this.#known));
  }
}

customElements.define('qkv-panel-recurrence', RecurrencePanel);
