// Batches of a run on their way to its worker: taken from what the caller gave, one by one, when the worker asks.

import { QkvError } from '../../api/errors.js';
import type { BatchSource } from '../../api/worker-train-types.js';
import { describe } from '../../arguments/values.js';

/** Gives the batch of a step; undefined after the last. */
type Next<Given> = (step: number) => Given | undefined | Promise<Given | undefined>;

/** What makes the iterator of an iterable of either kind. A text is one of letters, and none of batches. */
function makerOf<Given>(
  source: Iterable<Given> | AsyncIterable<Given>,
): (() => Iterator<Given> | AsyncIterator<Given>) | undefined {
  if (typeof source !== 'object' || source === null) return undefined;
  const { [Symbol.asyncIterator]: inTurns, [Symbol.iterator]: atOnce } = source as Partial<
    AsyncIterable<Given> & Iterable<Given>
  >;
  const make: unknown = inTurns ?? atOnce;
  if (typeof make !== 'function') return undefined;
  return () => Reflect.apply(make, source, []) as Iterator<Given> | AsyncIterator<Given>;
}

/** What gives the batches of a source that is no array, and what ends it. */
export function sourceOf<Given>(
  fn: string,
  source: Exclude<BatchSource<Given>, readonly Given[]>,
): { next: Next<Given>; end: () => void } {
  if (typeof source === 'function') return { next: source, end: () => undefined };
  const make = makerOf(source);
  if (!make) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: batches is ${describe(source)}, expected an array of batches, an iterable or a function`,
    );
  }
  const all = make();
  let isOver = false;
  return {
    next: async () => {
      const result = await all.next();
      isOver = result.done === true;
      return result.done ? undefined : result.value;
    },
    end: () => {
      // What its own end throws, at once or later, nobody is left to hear.
      if (!isOver) void (async () => all.return?.())().catch(() => undefined);
    },
  };
}

/** Sends batches in the order in which they are wanted. */
export class Feeding<Given> {
  readonly #next: Next<Given>;
  readonly #send: (batch: Given | undefined) => Promise<unknown>;
  readonly #failed: (error: unknown) => void;
  #last: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(
    next: Next<Given>,
    send: (batch: Given | undefined) => Promise<unknown>,
    failed: (error: unknown) => void,
  ) {
    this.#next = next;
    this.#send = send;
    this.#failed = failed;
  }

  /** The worker wants the batch of this step. */
  want(step: number): void {
    this.#last = this.#last.then(() => this.#give(step));
  }

  /** The run is over: nothing is requested or sent any more. */
  end(): void {
    this.#isOver = true;
  }

  async #give(step: number): Promise<void> {
    if (this.#isOver) return;
    try {
      const batch = await this.#next(step);
      // Sent to another run it would be a batch of that one.
      if (this.#isOver) return;
      if (batch === undefined) this.#isOver = true;
      await this.#send(batch);
    } catch (error) {
      this.#isOver = true;
      this.#failed(error);
    }
  }
}
