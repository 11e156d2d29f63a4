import type { Birth, Judged, News, Snapshot, Tuned, Writing } from '../shared/protocol';
import type { Settings } from '../shared/run_settings';

/** Numbers that grow in number, one for each step. */
class Series {
  #numbers = new Float32Array(1024);
  length = 0;

  add(more: Float32Array): void {
    const needed = this.length + more.length;
    if (needed > this.#numbers.length) {
      const larger = new Float32Array(2 * needed);
      larger.set(this.#numbers.subarray(0, this.length));
      this.#numbers = larger;
    }
    this.#numbers.set(more, this.length);
    this.length = needed;
  }

  get all(): Float32Array {
    return this.#numbers.subarray(0, this.length);
  }
}

/** A head that came to read in some way, with the seconds of playing that it took. */
export interface Born extends Birth {
  readonly seconds: number | null;
}

/** Everything that is known of a run, as its news came in. */
export class RunRecord {
  readonly id: number;
  readonly settings: Settings;
  readonly #loss = new Series();
  readonly #accuracy = new Series();
  readonly judged: Judged[] = [];
  readonly births: Born[] = [];
  readonly tuned: Tuned[] = [];
  step = 0;
  rate = 0;
  learningRate = 0;
  parameters = 0;
  /** Of the latest step, and of the step that is looked at. */
  latest: Snapshot | null = null;
  shown: Snapshot | null = null;
  writing: Writing | null = null;

  constructor(id: number, settings: Settings) {
    this.id = id;
    this.settings = settings;
  }

  /** Number i is of the weights after i steps, before step i + 1. */
  get loss(): Float32Array {
    return this.#loss.all;
  }

  get accuracy(): Float32Array {
    return this.#accuracy.all;
  }

  /** `seconds`: how long it has been playing; null when it went step by step. */
  add(news: News, seconds: number | null): void {
    this.#loss.add(news.loss);
    this.#accuracy.add(news.accuracy);
    this.judged.push(...news.judged);
    this.births.push(...news.births.map((birth) => ({ ...birth, seconds })));
    this.#tune(news.tuned);
    [this.step, this.rate, this.parameters] = [news.step, news.rate, news.parameters];
    this.learningRate = news.learningRate;
    this.latest = news.snapshot ?? this.latest;
    this.writing = news.writing ?? this.writing;
  }

  /** Of several tunings at one step the last one acts. */
  #tune(more: readonly Tuned[]): void {
    for (const each of more) {
      if (this.tuned.at(-1)?.step === each.step) this.tuned.pop();
      this.tuned.push(each);
    }
  }

  get lastJudged(): Judged | undefined {
    return this.judged.at(-1);
  }

  /** The judgement at a step, or the last one before it. */
  judgedAt(step: number): Judged | undefined {
    let last: Judged | undefined;
    for (const each of this.judged) if (each.step <= step) last = each;
    return last;
  }
}

/** What a run shows: its latest maps, or those of the step that is looked at. */
export const shownOf = (record: RunRecord, looked: number | null): Snapshot | null =>
  looked === null ? record.latest : (record.shown ?? record.latest);
