// What every generation does before its first choice: a session of its own, and the prompt in it.

import type { Session } from '../../api/model-types.js';
import { throwIfAborted } from '../../arguments/signal.js';
import { Pause } from '../../platform/pause.js';
import type { ModelState } from '../model-state.js';
import { createSession } from '../session.js';
import type { Passes } from './passes.js';
import type { GenerateRequest } from './request.js';

/** Tokens of a prompt between two turns of the event loop: as many as the core takes at once, kPieceTokens there. */
const pieceTokens = 240;

/** Lets others have a turn now and then, and throws when the signal is aborted. */
export type Breather = () => Promise<void>;

export function breather(signal: AbortSignal | undefined): Breather {
  const pause = new Pause();
  return async () => {
    await pause.maybe();
    throwIfAborted(signal);
  };
}

/** A session with room for the prompt and what may follow, of which the last token need not be read. */
export function ownSession(
  fn: string,
  state: ModelState,
  { prompt, most, source }: GenerateRequest,
): Session {
  const capacity = Math.min(state.spec.config.maxLength, prompt.length - 1 + most);
  return createSession(fn, state, { capacity, source });
}

/** Reads a prompt in pieces until at most `left` tokens are, or a piece, and returns these: at least the last. */
export async function readPrompt(
  passes: Passes,
  prompt: Int32Array,
  left: number,
  breathe: Breather,
): Promise<Int32Array> {
  let ids = prompt;
  while (ids.length > Math.min(left, pieceTokens)) {
    const count = Math.min(pieceTokens, ids.length - 1);
    passes.read(ids.subarray(0, count));
    ids = ids.subarray(count);
    await breathe();
  }
  return ids;
}
