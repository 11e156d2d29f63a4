// Conversations: the keys and values of the tokens so far.

import { QkvError } from '../api/errors.js';
import type { Activations } from '../api/inspect-types.js';
import type { Session, SessionOptions } from '../api/model-types.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { describe, isRecord, takeOptions } from '../arguments/values.js';
import { found } from '../language/rows.js';
import { Call } from '../memory/call.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type { Address } from '../memory/raw.js';
import type { ModelState } from './model-state.js';
import { sourceOf } from './source.js';

/** What is behind a session. */
export interface SessionState {
  readonly handle: Handle;
  readonly model: ModelState;
  readonly batch: number;
  readonly capacity: number;
  /** Of keys and values of `capacity` tokens. */
  readonly bytes: number;
  /** Tokens in it. */
  length: number;
  /** Whether a generation goes on in it. */
  isBusy: boolean;
}

const all = new WeakMap<object, SessionState>();

class WasmSession implements Session {
  declare readonly capacity: number;
  declare readonly bytes: number;
  declare readonly activations?: Activations;
  readonly #state: SessionState;

  constructor(address: Address, rest: Omit<SessionState, 'handle' | 'length' | 'isBusy'>) {
    const handle = new Handle(this, rest.model.instance, address, 'destroySession');
    this.#state = { ...rest, handle, length: 0, isBusy: false };
    all.set(this, this.#state);
    for (const name of ['capacity', 'bytes'] as const) {
      Object.defineProperty(this, name, { value: rest[name], enumerable: true });
    }
  }

  get length(): number {
    return this.#state.length;
  }

  get [Symbol.toStringTag](): string {
    return 'Session';
  }

  truncate(length: number): void {
    const fn = 'Session.truncate';
    const state = this.#state;
    addressOf(fn, state);
    checkIdle(fn, state);
    checkInteger(fn, 'length', length, 0, state.length);
    keepOnly(fn, state, length);
  }

  dispose(): void {
    this.#state.handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

/** Where a session is, for a call of `fn`. */
export const addressOf = (fn: string, { handle }: SessionState): Address =>
  handle.live(fn, 'the session');

/** Refuses a session in which a generation goes on: its tokens would not be those that the session holds. */
export function checkIdle(fn: string, { isBusy }: SessionState): void {
  if (!isBusy) return;
  throw new QkvError(
    'busy',
    `${fn}: generate() still uses the session, expected one that is free: end the loop over its tokens first, or use another session`,
  );
}

/** Drops all but the first tokens. */
export function keepOnly(fn: string, state: SessionState, length: number): void {
  state.model.instance.run(fn, 'truncateSession', { session: addressOf(fn, state), length });
  state.length = length + 0; // of -0 as well
}

/** Runs what may lack memory for the tokens of a session, and says then what limits them. */
function limited<T>(
  state: Omit<SessionState, 'handle' | 'model' | 'batch'> | undefined,
  run: () => T,
): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof QkvError && error.code === 'out_of_memory')) throw error;
    const of = state ? `, at ${Math.round(state.bytes / state.capacity)} bytes each` : '';
    const { code, message } = error;
    const what = `${message}; expected fewer tokens${of}: maxTokens of generate() and capacity of session() limit them`;
    throw new QkvError(code, what, { cause: error });
  }
}

/**
 * Runs a pass, which reads `count` tokens into a session if there is one. A pass that lost a thread has read them, but not
 * rightly, so the session forgets them.
 */
export function readInto(
  fn: string,
  state: SessionState | undefined,
  count: number,
  run: () => void,
): void {
  try {
    if (state) limited(state, run);
    else run();
  } catch (error) {
    if (state && error instanceof QkvError && error.code === 'thread_lost') {
      keepOnly(fn, state, state.length);
    }
    throw error;
  }
  if (state) state.length += count;
}

/** What is behind the caller's session, which must be of this model and live. */
export function sessionStateOf(fn: string, model: ModelState, session: unknown): SessionState {
  const state = isRecord(session) ? all.get(session) : undefined;
  if (!state || state.model !== model) {
    const was = state ? 'of another model' : describe(session);
    throw new QkvError(
      'invalid_argument',
      `${fn}: session is ${was}, expected one that session() of this model made`,
    );
  }
  addressOf(fn, state);
  checkIdle(fn, state);
  return state;
}

export function createSession(fn: string, model: ModelState, given: SessionOptions): Session {
  const { maxLength } = model.spec.config;
  const names = ['batch', 'capacity', 'format', 'source', 'plain', 'read', 'edit'] as const;
  const taken = takeOptions(fn, 'options', given, names);
  const { batch = 1, capacity = maxLength, format = 'f32' } = taken;
  checkInteger(fn, 'batch', batch, 1, mostInt);
  checkInteger(fn, 'capacity', capacity, 1, maxLength);
  checkChoice(fn, 'format', format, ['f32', 'bf16', 'int8']);
  const source = sourceOf(fn, model, taken, batch);
  const sourceCapacity = source?.length ?? 0;
  const call = new Call(model.instance, fn);
  const slot = call.output('found', [2]);
  const fields = { model: model.live(fn), batch, capacity, format, sourceCapacity, found: slot };
  limited(undefined, () => {
    call.run('createSession', fields);
  });
  const address = call.made();
  const [bytes = 0] = found(call, slot);
  const session = new WasmSession(address, { model, batch, capacity, bytes });
  try {
    const activations = source && limited(undefined, () => source.run(address));
    if (activations) {
      Object.defineProperty(session, 'activations', { value: activations, enumerable: true });
    }
    return session;
  } catch (error) {
    session.dispose();
    throw error;
  }
}
