import type { TrainQkv } from 'qkv/train';
import { describeFailure } from '../../../domain/describe_failure';
import type { History } from './snapshots';
import { NoiseStudy } from './noise_study';
import type { FromWorker, Snapshot, ToWorker, Writing } from '../shared/protocol';
import { Run } from './run';
import type { Settings, Tuning } from '../shared/run_settings';

/** Training goes on for so long before anything else is listened to, in milliseconds. */
const SLICE = 12;
/** Writing costs about as much as three steps, so that it is done only so often, in milliseconds. */
const WRITES_EVERY = 2000;

export type Post = (message: FromWorker, transfer?: Transferable[]) => void;
/** Calls back after messages that wait were read, without the 4 ms that timers wait for when they follow on each other. */
export type Turn = (again: () => void) => void;

/** What the worker does: one run at a time, in slices, and news of it whenever the last ones were drawn. */
export class Session {
  readonly #qkv: TrainQkv;
  readonly #post: Post;
  readonly #soon: Turn;
  #run: Run | null = null;
  #id = 0;
  readonly #histories = new Map<number, History<Snapshot>>();
  #study: NoiseStudy | null = null;
  #playing = false;
  #until = Infinity;
  /** Milliseconds between two steps at least, and when the next may be. */
  #pace = 0;
  #next = 0;
  #drawn = true;
  /** Whether a turn of the event loop is waited for. */
  #turning = false;
  #wrote = 0;

  constructor(qkv: TrainQkv, post: Post, soon: Turn) {
    this.#qkv = qkv;
    this.#post = post;
    this.#soon = soon;
  }

  receive(message: ToWorker): void {
    switch (message.type) {
      case 'run':
        this.#begin(message.run, message.settings, message.tuning);
        break;
      case 'tune':
        this.#tune(message.tuning);
        break;
      case 'play':
        this.#play(message.perSecond, message.until);
        break;
      case 'pause':
        this.#pause();
        break;
      case 'step':
        this.#run?.step();
        this.#pause();
        break;
      case 'drawn':
        this.#drawn = true;
        break;
      case 'at':
        this.#recall(message.run, message.step);
        break;
      case 'forget':
        this.#histories.delete(message.run);
        break;
      case 'save':
        this.#save();
        break;
      case 'noise':
        this.#study = new NoiseStudy(this.#qkv, message.seed);
        break;
    }
    if (!this.#turning) this.#turn();
  }

  /** The run before it is over first: it must not go on in the place of one that could not begin. */
  #begin(id: number, settings: Settings, tuning: Tuning): void {
    this.#run?.dispose();
    this.#run = null;
    this.#playing = false;
    const run = new Run(this.#qkv, settings, tuning);
    this.#run = run;
    this.#id = id;
    this.#histories.set(id, run.history);
    this.#tell(true);
  }

  #play(perSecond: number | null, until: number | null): void {
    this.#playing = this.#run !== null;
    this.#pace = perSecond === null ? 0 : 1000 / perSecond;
    this.#next = performance.now();
    this.#until = until ?? Infinity;
  }

  /** Where it rests, nothing else would tell of it. */
  #tune(tuning: Tuning): void {
    this.#run?.tune(tuning);
    if (!this.#playing) this.#tell(true);
  }

  /** Tells how it stands even when the last news were not drawn: nothing comes after. */
  #pause(): void {
    this.#playing = false;
    this.#tell(true);
  }

  #save(): void {
    const bytes = this.#run?.file();
    if (bytes) this.#post({ type: 'saved', run: this.#id, bytes }, [bytes.buffer]);
  }

  #recall(run: number, step: number): void {
    const kept = this.#histories.get(run)?.nearest(step);
    if (kept) this.#post({ type: 'moment', run, snapshot: kept });
  }

  /** A slice, and another one after a turn of the event loop, as long as there is something to do. */
  #turn(): void {
    this.#turning = false;
    try {
      this.#slice();
    } catch (error) {
      this.#playing = false;
      this.#study = null;
      this.#post({ type: 'failed', failure: describeFailure(error) });
    }
  }

  #slice(): void {
    const begun = performance.now();
    this.#train(begun);
    this.#learnNoise(begun);
    this.#turning = this.#playing || this.#study !== null;
    if (!this.#turning) return;
    const waits = this.#playing ? this.#next - performance.now() : 0;
    if (waits < 1) this.#soon(() => this.#turn());
    else setTimeout(() => this.#turn(), Math.min(waits, 50));
  }

  #train(begun: number): void {
    const run = this.#run;
    if (!run || !this.#playing) return;
    do {
      if (performance.now() < this.#next) break;
      run.step();
      this.#next = Math.max(this.#next + this.#pace, performance.now() - 100);
      if (run.steps >= this.#until) this.#playing = false;
    } while (this.#playing && performance.now() - begun < SLICE);
    if (this.#playing) this.#tell(false);
    else this.#pause();
  }

  #tell(now: boolean): void {
    const run = this.#run;
    if (!run || (!now && !this.#drawn)) return;
    this.#drawn = false;
    const news = run.news(this.#writing(run, now));
    const transfer = [news.loss.buffer, news.accuracy.buffer];
    const { snapshot } = news;
    if (snapshot) transfer.push(snapshot.weights.buffer, snapshot.scores.buffer);
    this.#post({ type: 'news', run: this.#id, news }, transfer);
  }

  #writing(run: Run, now: boolean): Writing | null {
    const time = performance.now();
    if (!now && time - this.#wrote < WRITES_EVERY) return null;
    this.#wrote = time;
    return run.writing();
  }

  #learnNoise(begun: number): void {
    const study = this.#study;
    if (!study) return;
    while (!study.done && performance.now() - begun < 2 * SLICE) study.step();
    this.#post({ type: 'noise', news: study.news() });
    if (study.done) this.#study = null;
  }
}
