// Tokens one after another.

import type { Generation } from '../../api/generation-types.js';
import type { GenerateOptions, Token } from '../../api/model-types.js';
import { type Ending, generationOf } from '../../arguments/generation.js';
import { throwIfAborted } from '../../arguments/signal.js';
import type { ModelState } from '../model-state.js';
import { checkIdle, keepOnly, sessionStateOf } from '../session.js';
import { Passes } from './passes.js';
import { breather, ownSession, readPrompt } from './prompt.js';
import { type GenerateRequest, requestOf } from './request.js';
import { Telling } from './telling.js';

async function* tokens(
  state: ModelState,
  request: GenerateRequest,
  ending: Ending,
): AsyncGenerator<Token, void, undefined> {
  const { fn, signal, prompt, sites, session } = request;
  const own = session ? undefined : ownSession(fn, state, request);
  const passes = new Passes(state, session ?? sessionStateOf(fn, state, own), request);
  const telling = new Telling(state, request);
  const breathe = breather(signal);
  /** The token that was yielded last, until the model has read it. */
  let unread: Int32Array | undefined;
  let hasBegun = false;
  const catchUp = (): void => {
    const last = unread;
    unread = undefined;
    if (last && session && passes.hasRoom) passes.read(last);
  };
  try {
    throwIfAborted(signal);
    // With readings, the token that chooses is alone in its pass, as those after it.
    const left = sites.inspect || sites.read ? 1 : Infinity;
    let ids = await readPrompt(passes, prompt, left, breathe);
    for (;;) {
      const chosen = passes.choose(ids);
      // That pass has read it.
      unread = undefined;
      hasBegun = true;
      ids = Int32Array.of(chosen.id);
      const token = telling.token(chosen, passes.isOver);
      // Not before: a tokenizer may have thrown.
      unread = ids;
      ending.reason = token.finishReason;
      yield token;
      if (token.finishReason) return;
      await breathe();
    }
  } catch (error) {
    try {
      catchUp();
    } catch {
      // What failed first is thrown.
    }
    throw error;
  } finally {
    ending.reason ??= 'aborted';
    own?.dispose();
    // What this throws reaches whoever ends the iteration.
    catchUp();
    // No token came of a prompt that was refused, or given up, on the way.
    if (session && !hasBegun) passes.forget();
  }
}

/** The tokens of a request, during which its session is nobody else's. */
async function* alone(
  state: ModelState,
  request: GenerateRequest,
  ending: Ending,
): AsyncGenerator<Token, void, undefined> {
  const { fn, session, length } = request;
  if (!session) {
    yield* tokens(state, request, ending);
    return;
  }
  checkIdle(fn, session);
  // An earlier generation may have gone on in it meanwhile.
  const isSame = session.length === length && request.kept === undefined;
  const now = isSame ? request : { ...request, ...request.again() };
  if (now.kept !== undefined) keepOnly(fn, session, now.kept);
  session.isBusy = true;
  try {
    yield* tokens(state, now, ending);
  } finally {
    session.isBusy = false;
  }
}

/** The tokens that follow a prompt; `fn` is what was called, for messages. */
export function generate(
  fn: string,
  state: ModelState,
  prompt: unknown,
  options: GenerateOptions,
): Generation<Token> {
  const request = requestOf(fn, state, prompt, options);
  const ending: Ending = {};
  return generationOf(fn, alone(state, request, ending), request.sampling.seed, ending);
}
