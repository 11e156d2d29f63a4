// What stands here for a generation in a worker: its tokens, which are requested one by one.

import type { FinishReason, Generation, Token, TokenOfAll } from '../../api/model-types.js';
import type { AsyncSession } from '../../api/worker-types.js';
import { revived } from '../../arguments/activations.js';
import { type Ending, generationOf } from '../../arguments/generation.js';
import type { SentHandle } from '../protocol/messages.js';
import { type Caller, Remote } from './handles.js';
import type { Counted, Lane, Manner } from './lane.js';
import { RemoteSession } from './remote-sessions.js';

export class RemoteTokens extends Remote implements Counted {
  readonly #session: AsyncSession | undefined;

  constructor(caller: Caller, lane: Lane, { id }: SentHandle, session: AsyncSession | undefined) {
    super(caller, lane, id);
    this.#session = session;
  }

  override get kind(): string {
    return 'generation';
  }

  protected override get leaves(): readonly Counted[] {
    return [this];
  }

  /** So long is the session after each token, and after the last that is read on the way out. */
  setLength(length: number): void {
    if (this.#session instanceof RemoteSession) this.#session.setLength(length);
  }

  async next(signal: AbortSignal | undefined): Promise<IteratorResult<Token>> {
    const [fn, method, names] = ['LanguageModel.generate', 'next', ['isAborted', 'call']];
    if (!signal?.aborted) return this.call(fn, method, names, [false, { signal }], stoppable);
    try {
      // A generation whose last token has come has ended, and is not aborted any more.
      return await this.call(fn, method, names, [true]);
    } catch {
      throw signal.reason;
    }
  }
}

/** The session of a model holds the token that is chosen, unless the worker stops before: only its answer says which. */
const stoppable: Manner = { isWithheld: false, onAbort: 'wait' };

/** A generation in the worker. */
export interface Begun {
  readonly tokens: RemoteTokens;
  readonly signal: AbortSignal | undefined;
}

export function tokensOf(begun: Promise<Begun>, seed: number): Generation<Token> {
  const ending: Ending = {};
  let hasBegun = false;
  // Once it is known, the worker gets next() at once, before what the caller does next in the session.
  let known: Begun | undefined;
  begun.then((value) => (known = value)).catch(() => undefined);
  async function* tokens(): AsyncGenerator<Token, void, undefined> {
    hasBegun = true;
    try {
      const { tokens, signal } = known ?? (await begun);
      try {
        for (;;) {
          const next = await tokens.next(signal);
          if (next.done) return;
          ending.reason = next.value.finishReason;
          yield revived(next.value);
        }
      } finally {
        await tokens.dispose();
      }
    } finally {
      ending.reason ??= 'aborted';
    }
  }
  const all = tokens();
  const end = all.return.bind(all);
  all.return = async (value) => {
    // What has not begun has no `finally` to come to.
    if (!hasBegun) await begun.then(({ tokens }) => tokens.dispose()).catch(() => undefined);
    return end(value);
  };
  return generationOf('LanguageModel.generate', all, seed, ending);
}

/** The tokens of several generations, which the worker has in one. */
export async function* tokensOfAll(
  begun: Promise<Begun>,
  reasons: (FinishReason | undefined)[],
): AsyncGenerator<TokenOfAll, void, undefined> {
  try {
    for await (const token of tokensOf(begun, 0)) {
      const { index, finishReason } = token as TokenOfAll;
      if (finishReason) reasons[index] = finishReason;
      yield token as TokenOfAll;
    }
  } finally {
    reasons.forEach((reason, i) => (reasons[i] = reason ?? 'aborted'));
  }
}
