// Conversations: the keys and values of the tokens so far.

import { QkvError } from '../api/errors.js';
import type { Session, SessionOptions } from '../api/model-types.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { describe, isRecord, takeOptions } from '../arguments/values.js';
import { found } from '../language/rows.js';
import { Call } from '../memory/call.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type { Address } from '../memory/raw.js';
import type { ModelState } from './model-state.js';

/** What is behind a session. */
export interface Held {
  readonly handle: Handle;
  readonly model: ModelState;
  readonly batch: number;
  readonly capacity: number;
  /** Of keys and values of `capacity` tokens. */
  readonly bytes: number;
  /** Tokens that are held. */
  length: number;
  /** Whether a generation goes on in it. */
  isBusy: boolean;
}

const all = new WeakMap<object, Held>();

class WasmSession implements Session {
  declare readonly capacity: number;
  declare readonly bytes: number;
  readonly #held: Held;

  constructor(address: Address, rest: Omit<Held, 'handle' | 'length' | 'isBusy'>) {
    const handle = new Handle(this, rest.model.instance, address, 'destroySession');
    this.#held = { ...rest, handle, length: 0, isBusy: false };
    all.set(this, this.#held);
    for (const name of ['capacity', 'bytes'] as const) {
      Object.defineProperty(this, name, { value: rest[name], enumerable: true });
    }
  }

  get length(): number {
    return this.#held.length;
  }

  get [Symbol.toStringTag](): string {
    return 'Session';
  }

  truncate(length: number): void {
    const fn = 'Session.truncate';
    const held = this.#held;
    addressOf(fn, held);
    checkIdle(fn, held);
    checkInteger(fn, 'length', length, 0, held.length);
    keepOnly(fn, held, length);
  }

  dispose(): void {
    this.#held.handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

/** Where a session is, for a call of `fn`. */
export const addressOf = (fn: string, { handle }: Held): Address => handle.live(fn, 'the session');

/** Refuses a session in which a generation goes on: what that has told would not be what the session holds. */
export function checkIdle(fn: string, { isBusy }: Held): void {
  if (!isBusy) return;
  throw new QkvError(
    'busy',
    `${fn}: the session is in use by a generation, expected one that is not: end the loop over its tokens first, or use another session`,
  );
}

/** Drops all but the first tokens. */
export function keepOnly(fn: string, held: Held, length: number): void {
  held.model.instance.run(fn, 'truncateSession', { session: addressOf(fn, held), length });
  held.length = length + 0; // of -0 as well
}

/** Runs what may lack memory for the tokens of a session, and says then what limits them. */
function limited<T>(held: Omit<Held, 'handle' | 'model' | 'batch'> | undefined, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof QkvError && error.code === 'out_of_memory')) throw error;
    const of = held ? `, at ${Math.round(held.bytes / held.capacity)} bytes each` : '';
    const { code, message } = error;
    const what = `${message}; expected fewer tokens${of}: maxTokens of generate() and capacity of session() limit them`;
    throw new QkvError(code, what, { cause: error });
  }
}

/**
 * Runs a pass, which reads `count` tokens into a session if there is one. A pass that lost a thread has read them, but not
 * rightly, so the session forgets them.
 */
export function readInto(fn: string, held: Held | undefined, count: number, run: () => void): void {
  try {
    if (held) limited(held, run);
    else run();
  } catch (error) {
    if (held && error instanceof QkvError && error.code === 'thread_lost') {
      keepOnly(fn, held, held.length);
    }
    throw error;
  }
  if (held) held.length += count;
}

/** What is behind the caller's session, which must be of this model and live. */
export function heldBy(fn: string, model: ModelState, session: unknown): Held {
  const held = isRecord(session) ? all.get(session) : undefined;
  if (!held || held.model !== model) {
    const was = held ? 'of another model' : describe(session);
    throw new QkvError(
      'invalid_argument',
      `${fn}: session is ${was}, expected one that session() of this model made`,
    );
  }
  addressOf(fn, held);
  checkIdle(fn, held);
  return held;
}

export function createSession(fn: string, model: ModelState, given: SessionOptions): Session {
  const { maxLength } = model.plan.config;
  const names = ['batch', 'capacity', 'format'];
  const taken = takeOptions(fn, 'options', given, names);
  const { batch = 1, capacity = maxLength, format = 'f32' } = taken;
  checkInteger(fn, 'batch', batch, 1, mostInt);
  checkInteger(fn, 'capacity', capacity, 1, maxLength);
  checkChoice(fn, 'format', format, ['f32', 'bf16']);
  const call = new Call(model.instance, fn);
  const slot = call.output('found', [2]);
  const fields = { model: model.live(fn), batch, capacity, format, found: slot };
  limited(undefined, () => {
    call.run('createSession', fields);
  });
  const address = call.made();
  const [bytes = 0] = found(call, slot);
  return new WasmSession(address, { model, batch, capacity, bytes });
}
