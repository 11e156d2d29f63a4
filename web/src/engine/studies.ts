import type { Qkv } from 'qkv';
import type { Studies, StudyRequests } from './protocol';
import { temperatureStudy, type RowScores } from './temperature';
import { widthStudy } from './widths';

type Work<Answer> = Generator<Answer | undefined, undefined>;

/**
 * One question at a time: another one drops what was under way, none puts it aside, and the same again
 * goes on with it, or has been answered already.
 */
class Study<Question, Answer> {
  readonly #begin: (question: Question) => Work<Answer>;
  #question: Question | null = null;
  #work: Work<Answer> | null = null;
  #wanted = false;

  constructor(begin: (question: Question) => Work<Answer>) {
    this.#begin = begin;
  }

  ask(question: Question | null): void {
    this.#wanted = question !== null;
    if (question === null || question === this.#question) return;
    this.#question = question;
    this.#work = this.#begin(question);
  }

  get busy(): boolean {
    return this.#wanted && this.#work !== null;
  }

  /** A little of the work; what is known by then, if that is news. */
  step(): Answer | undefined {
    if (!this.busy) return undefined;
    const { done, value } = this.#work?.next() ?? {};
    if (done) this.#work = null;
    return value;
  }

  /** After a failure: to begin again when it is asked again. */
  drop(): void {
    this.#question = this.#work = null;
  }
}

/** What panels work out besides the frames, while they are on the screen. */
export class StudyDesk {
  readonly #temperature: Study<RowScores, Studies['temperature']>;
  readonly #widths: Study<number, Studies['widths']>;

  constructor(qkv: Qkv) {
    this.#temperature = new Study((row) => temperatureStudy(qkv, row));
    this.#widths = new Study((sample) => widthStudy(qkv, sample));
  }

  /** `row`: the scores behind the frame, if the temperature is being studied. */
  ask({ widths }: StudyRequests, row: RowScores | null): void {
    this.#temperature.ask(row);
    this.#widths.ask(widths);
  }

  get busy(): boolean {
    return this.#temperature.busy || this.#widths.busy;
  }

  step(): Partial<Studies> | undefined {
    const temperature = this.#temperature.step();
    const widths = this.#widths.step();
    if (!temperature && !widths) return undefined;
    return { ...(temperature && { temperature }), ...(widths && { widths }) };
  }

  drop(): void {
    this.#temperature.drop();
    this.#widths.drop();
  }
}
