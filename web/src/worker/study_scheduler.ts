import type { Studies } from '../features/computed';
import type { AnyFeature } from '../features/frame_features';

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
    this.#work?.return(undefined);
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

  /** After a failure: to begin again with the next request. */
  drop(): void {
    this.#work?.return(undefined);
    this.#question = this.#work = null;
  }
}

/** What panels work out besides the frames, while they are on the screen. */
export class StudyDesk {
  readonly #features: Readonly<Record<string, Pick<AnyFeature, 'study'>>>;
  readonly #studies: Readonly<Record<string, Study<unknown, unknown>>>;

  constructor(features: Readonly<Record<string, Pick<AnyFeature, 'study'>>>) {
    this.#features = features;
    const studied = Object.entries(features).flatMap(([id, { study }]) =>
      study ? [[id, new Study(study.begin)]] : [],
    );
    this.#studies = Object.fromEntries(studied) as Record<string, Study<unknown, unknown>>;
  }

  /** The contents of a request, and what the frame has of it. */
  ask(requests: Answers, results: Answers): void {
    for (const [id, study] of Object.entries(this.#studies)) {
      const request = requests[id] ?? null;
      const question = this.#features[id]?.study?.question;
      const result = results[id] ?? null;
      study.ask(request === null || !question ? null : question(request, result));
    }
  }

  get busy(): boolean {
    return Object.values(this.#studies).some((study) => study.busy);
  }

  step(): Partial<Studies> | undefined {
    const news = Object.entries(this.#studies)
      .map(([id, study]) => [id, study.step()] as const)
      .filter(([, found]) => found !== undefined);
    return news.length > 0 ? Object.fromEntries(news) : undefined;
  }

  drop(): void {
    for (const study of Object.values(this.#studies)) study.drop();
  }
}

/** Of panels, by their names. */
type Answers = { readonly [id in string]?: unknown };
