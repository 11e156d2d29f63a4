// The tokens of a generation, which the other side asks for one by one.

import type { GenerateOptions } from '../../api/model-types.js';

export class Generation {
  /** Ends the token that is under way, and with it all. */
  readonly stop = new AbortController();
  readonly #tokens: AsyncIterator<unknown>;
  readonly #session: { readonly length: number } | undefined;

  constructor(generate: (...args: unknown[]) => unknown, [prompt, options]: readonly unknown[]) {
    const own = { ...(options as GenerateOptions | undefined), signal: this.stop.signal };
    this.#session = own.session;
    this.#tokens = (generate(prompt, own) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }

  /** The session of a model that the tokens go to. */
  get session(): object | undefined {
    return this.#session;
  }

  /** The length of its session. */
  get length(): number {
    return this.#session?.length ?? 0;
  }

  next(isAborted: unknown): Promise<IteratorResult<unknown>> {
    if (isAborted === true) this.stop.abort();
    return this.#tokens.next();
  }

  dispose(): unknown {
    return this.#tokens.return?.();
  }
}
