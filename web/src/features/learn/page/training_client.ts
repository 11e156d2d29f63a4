import { Lab } from '../../../worker/panel_worker_client';
import type { Failure, LabFailed } from '../../../domain/failure';
import type { FromWorker, News, NoiseNews, ToWorker } from '../shared/protocol';
import { RunRecord } from './run_record';
import { sameSettings, sameTuning, taskCalled } from './settings_of_state';
import type { Settings, Speed, Tuning } from '../shared/run_settings';

/** Runs beside the one that trains: as many as there are colours for. */
const MOST_KEPT = 3;

const perSecondOf = (speed: Speed) => (speed === 'full' ? null : Number(speed));

export interface TrainingListener {
  /** Something is to be drawn anew; `drawn` is to be called when it was. */
  onChange(): void;
  /** A run was requested as a file, and this is it. */
  onSaved(record: RunRecord, bytes: Uint8Array<ArrayBuffer>): void;
}

/** The runs of the panel and the worker that trains them. Nothing is started before the first press. */
export class Training {
  readonly #lab: Lab<ToWorker, Exclude<FromWorker, LabFailed>>;
  readonly #listener: TrainingListener;
  current: RunRecord | null = null;
  /** Runs of before that stay on the curves; the last one is A. */
  kept: readonly RunRecord[] = [];
  playing = false;
  failure: Failure | null = null;
  noise: NoiseNews | null = null;
  noiseRuns = false;
  /** The step that is looked at; null: the latest. */
  looked: number | null = null;
  /** Settings that wait for their turn. */
  #queue: Settings[] = [];
  #speed: Speed = '25';
  /** What runs begin with, and what acts on the one that trains. */
  #tuning: Tuning = { rate: 1, batch: 32, dropout: 0 };
  #acting = this.#tuning;
  #lastId = 0;
  #played = 0;
  #since: number | null = null;
  /** Whether the worker that had the run is gone: what it reported is still there, but it cannot go on. */
  #lost = false;
  #mustSayDrawn = false;
  /** Where the worker stops by itself. */
  #until = Infinity;
  /** Moments that were requested and have not come, by run: the step, and the one that is wanted by now. */
  readonly #moments = new Map<number, { readonly sent: number; wanted: number }>();

  constructor(listener: TrainingListener) {
    this.#listener = listener;
    this.#lab = new Lab('learn', {
      onMessage: (message) => this.#receive(message),
      onFailure: (failure) => {
        this.failure = failure;
        this.#stopClock();
        [this.playing, this.noiseRuns, this.#queue] = [false, false, []];
        [this.#lost, this.#mustSayDrawn] = [true, false];
        this.#moments.clear();
        listener.onChange();
      },
    });
  }

  /** Whether the run is one of several that were begun together, whose settings differ. */
  inSeries = false;

  get queued(): number {
    return this.#queue.length;
  }

  /** The seconds that the run has been playing. */
  get seconds(): number {
    const now = this.#since === null ? 0 : performance.now() - this.#since;
    return (this.#played + now) / 1000;
  }

  /** Whether this is what is being trained, or was. */
  isOf(settings: Settings): boolean {
    return this.current !== null && sameSettings(this.current.settings, settings);
  }

  // ---- presses ----

  play(settings: Settings, speed: Speed, keep: boolean): void {
    this.#since = performance.now(); // what the press costs belongs to it
    if (!this.isOf(settings) || this.#lost) this.#begin(settings, this.#before(keep));
    this.#go(speed);
  }

  /** One run after the other, all of them kept. */
  playAll(all: readonly Settings[], speed: Speed): void {
    const [first, ...rest] = all;
    if (!first) return;
    this.#since = performance.now();
    this.#begin(first, []);
    this.#queue = rest;
    this.inSeries = true;
    this.#go(speed);
  }

  #go(speed: Speed): void {
    this.#speed = speed;
    this.playing = true;
    this.looked = null;
    this.#play();
    this.#listener.onChange();
  }

  #play(): void {
    const { current } = this;
    if (!current) return;
    const { budget } = taskCalled(current.settings.task, current.settings.text).defaults;
    this.#until = (Math.floor(current.step / budget) + 1) * budget;
    this.#lab.send({ type: 'play', perSecond: perSecondOf(this.#speed), until: this.#until });
  }

  setSpeed(speed: Speed): void {
    if (speed === this.#speed) return;
    this.#speed = speed;
    if (this.playing) this.#play();
  }

  /** Acts on runs that begin, and from its next step on on the one that trains, if it is of these settings or one of a series. */
  tune(settings: Settings, tuning: Tuning): void {
    this.#tuning = tuning;
    const { current } = this;
    if (!current || this.#lost || sameTuning(tuning, this.#acting)) return;
    if (!this.isOf(settings) && !(this.inSeries && current.settings.task === settings.task)) return;
    this.#acting = tuning;
    this.#lab.send({ type: 'tune', tuning });
  }

  pause(): void {
    this.#queue = [];
    if (this.playing) this.#lab.send({ type: 'pause' });
    this.#stopClock();
    this.playing = false;
    this.#listener.onChange();
  }

  step(settings: Settings, keep: boolean): void {
    this.#queue = [];
    if (!this.isOf(settings) || this.#lost) this.#begin(settings, this.#before(keep));
    this.#stopClock();
    this.playing = false;
    this.looked = null;
    this.#lab.send({ type: 'step' });
    this.#listener.onChange();
  }

  /** Back to the first weights of these settings. With another tuning it is another run, beside which the one before may stay. */
  restart(settings: Settings, keep: boolean): void {
    this.#queue = [];
    this.#stopClock();
    this.playing = false;
    const isOther = this.current?.tuned.some((tuned) => !sameTuning(tuned, this.#tuning)) ?? false;
    this.#begin(settings, keep && isOther ? this.#before(true) : this.kept);
    this.#listener.onChange();
  }

  /** What stays beside a new run: the run before it, if that is wanted and it has made a step. */
  #before(keep: boolean): readonly RunRecord[] {
    if (!keep) return [];
    const { current } = this;
    return current && current.step > 0 ? [current] : this.kept.slice(-1);
  }

  #begin(settings: Settings, kept: readonly RunRecord[]): void {
    for (const old of [...this.kept, ...(this.current ? [this.current] : [])]) {
      if (!kept.includes(old)) this.#forget(old.id);
    }
    this.kept = kept;
    this.inSeries = false;
    this.current = new RunRecord(++this.#lastId, settings);
    this.failure = null;
    this.#lost = false;
    this.looked = null;
    this.#played = 0;
    if (this.#since !== null) this.#since = performance.now();
    this.#acting = this.#tuning;
    this.#lab.send({ type: 'run', run: this.current.id, settings, tuning: this.#tuning });
  }

  #forget(run: number): void {
    if (this.#lab.isRunning) this.#lab.send({ type: 'forget', run });
  }

  forgetKept(): void {
    for (const { id } of this.kept) this.#forget(id);
    this.kept = [];
    this.#listener.onChange();
  }

  /** Asks for the run that trains as a file. */
  save(): void {
    if (this.#lab.isRunning && !this.#lost) this.#lab.send({ type: 'save' });
  }

  learnNoise(seed: number): void {
    this.noiseRuns = true;
    this.failure = null;
    this.#lab.send({ type: 'noise', seed });
    this.#listener.onChange();
  }

  /** Shows the maps of another step; null: of the latest. */
  look(step: number | null): void {
    this.looked = step;
    if (step !== null && this.current) this.#ask(this.current, step);
    this.#listener.onChange();
  }

  /** The maps of a run at a step, as soon as they are there; one request for each run at a time. */
  #ask(record: RunRecord, step: number): void {
    if (!this.#lab.isRunning) return;
    const moment = this.#moments.get(record.id);
    if (moment) moment.wanted = step;
    else {
      this.#moments.set(record.id, { sent: step, wanted: step });
      this.#lab.send({ type: 'at', run: record.id, step });
    }
  }

  // ---- what comes of it ----

  #receive(message: Exclude<FromWorker, LabFailed>): void {
    if (message.type === 'news') this.#take(message.run, message.news);
    else if (message.type === 'moment') this.#recall(message.run, message.snapshot);
    else if (message.type === 'saved') this.#saved(message.run, message.bytes);
    else {
      this.noise = message.news;
      this.noiseRuns = !message.news.done;
    }
    this.#listener.onChange();
  }

  #take(run: number, news: News): void {
    this.#mustSayDrawn = true;
    const record = this.current;
    if (record?.id !== run) return; // of a run that was replaced meanwhile
    record.add(news, this.#since === null ? null : this.seconds);
    const kept = this.kept.at(-1);
    if (kept) this.#ask(kept, this.looked ?? record.step);
    if (this.playing && news.step >= this.#until) this.#ended();
  }

  /** It has made its steps: the next settings of the queue, if there are any. */
  #ended(): void {
    this.#stopClock();
    this.playing = false;
    const next = this.#queue.shift();
    if (!next) return;
    this.#since = performance.now();
    this.#begin(next, [...this.kept, ...(this.current ? [this.current] : [])].slice(-MOST_KEPT));
    this.inSeries = true;
    this.playing = true;
    this.#play();
  }

  #saved(run: number, bytes: Uint8Array<ArrayBuffer>): void {
    if (this.current?.id === run) this.#listener.onSaved(this.current, bytes);
  }

  #recall(run: number, snapshot: NonNullable<RunRecord['shown']>): void {
    const moment = this.#moments.get(run);
    this.#moments.delete(run);
    const record = [this.current, ...this.kept].find((each) => each?.id === run);
    if (!record) return;
    record.shown = snapshot;
    if (moment && moment.wanted !== moment.sent) this.#ask(record, moment.wanted);
  }

  /** The worker sends the next news when the last ones were drawn. */
  drawn(): void {
    if (!this.#mustSayDrawn) return;
    this.#mustSayDrawn = false;
    this.#lab.send({ type: 'drawn' });
  }

  #stopClock(): void {
    if (this.#since !== null) this.#played += performance.now() - this.#since;
    this.#since = null;
  }
}
