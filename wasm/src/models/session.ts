// Conversations: the keys and values of the tokens so far.

import { QkvError } from '../api/errors.js';
import type { Activations } from '../api/inspect-types.js';
import type { Session, SessionOptions, SessionShift } from '../api/model-types.js';
import type { Input } from '../arguments/arrays.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { describe, isRecord, isUint8Array, lengthOf, takeOptions } from '../arguments/values.js';
import { found } from '../language/rows.js';
import { Call } from '../memory/call.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type { Address } from '../memory/raw.js';
import { HeldTokens } from './held-tokens.js';
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
  /** Tokens at the beginning that stay when others make room; undefined if none do. */
  keep: number | undefined;
  readonly held: HeldTokens;
}

const all = new WeakMap<object, SessionState>();

class WasmSession implements Session {
  declare readonly capacity: number;
  declare readonly bytes: number;
  declare readonly activations?: Activations;
  readonly #state: SessionState;

  constructor(address: Address, rest: Omit<SessionState, 'handle' | 'isBusy'>) {
    const handle = new Handle(this, rest.model.instance, address, 'destroySession');
    this.#state = { ...rest, handle, isBusy: false };
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

  remove(begin: number, end: number): void {
    const fn = 'Session.remove';
    const state = this.#state;
    addressOf(fn, state);
    checkIdle(fn, state);
    checkInteger(fn, 'begin', begin, 0, state.length);
    checkInteger(fn, 'end', end, begin, state.length);
    removeTokens(fn, state, begin, end);
  }

  fork(): Session {
    const fn = 'Session.fork';
    const state = this.#state;
    const session = addressOf(fn, state);
    checkIdle(fn, state);
    const call = new Call(state.model.instance, fn);
    const slot = call.output('found', [2]);
    limited(undefined, () => {
      call.run('forkSession', { session, found: slot });
    });
    return new WasmSession(call.made(), { ...state, held: state.held.copy() });
  }

  save(): Uint8Array<ArrayBuffer> {
    const state = this.#state;
    return state.held.savedWith(savedBytes('Session.save', state));
  }

  dispose(): void {
    this.#state.handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }
}

const stateOf = (session: WasmSession): SessionState => all.get(session) as SessionState;

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
  state.held.remove(state.length);
}

/** Drops tokens [begin, end); those after them move down. */
function removeTokens(fn: string, state: SessionState, begin: number, end: number): void {
  const { model } = state;
  const session = addressOf(fn, state);
  model.instance.run(fn, 'removeTokens', { model: model.live(fn), session, begin, end });
  state.length -= end - begin;
  state.held.remove(begin, end);
}

/** All that a session holds. */
function savedBytes(fn: string, state: SessionState): Uint8Array<ArrayBuffer> {
  const { model } = state;
  const session = addressOf(fn, state);
  checkIdle(fn, state);
  const measure = new Call(model.instance, fn);
  const slot = measure.output('found', [2]);
  measure.run('measureSession', { session, found: slot });
  const [bytes = 0] = found(measure, slot);
  const call = new Call(model.instance, fn);
  const words = call.output('bytes', [bytes / 4]);
  call.run('saveSession', { model: model.live(fn), session, bytes: words });
  return new Uint8Array(call.read(words).buffer);
}

/** Tokens of a row that one pass, or a prompt of several, may add. */
export const roomIn = ({ capacity, length, keep }: SessionState): number =>
  keep === undefined ? capacity - length : capacity - keep;

/**
 * Makes room for these tokens in a session that drops others for them: the older half of what follows the first `keep`, or more if
 * that is not enough. Returns how many it has dropped. What there is no room for at all is left to the core to refuse.
 */
export function makeRoom(fn: string, state: SessionState | undefined, rows: Input): number {
  if (state?.keep === undefined) return 0;
  const { capacity, keep, length, model, batch } = state;
  const ids = rows.source as Int32Array;
  const added = ids.length / batch;
  if (length + added <= capacity || keep + added > capacity) return 0;
  // A pass that is refused drops nothing.
  const last = model.spec.config.vocabulary - 1;
  ids.forEach((id, i) => checkInteger(fn, `${rows.name}[${i}]`, id, 0, last));
  const dropped = Math.max(Math.ceil((length - keep) / 2), length + added - capacity);
  removeTokens(fn, state, keep, keep + dropped);
  return dropped;
}

/** Runs what may lack memory for the tokens of a session, and says then what limits them. */
function limited<T>(state: Pick<SessionState, 'bytes' | 'capacity'> | undefined, run: () => T): T {
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
 * Runs a pass, which reads these tokens, [batch, T], into a session if there is one. A pass that lost a thread has read them, but not
 * rightly, so the session forgets them.
 */
export function readInto(
  fn: string,
  state: SessionState | undefined,
  ids: Int32Array,
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
  if (!state) return;
  state.length += ids.length / state.batch;
  state.held.add(ids);
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

/** The option `shift`: how many tokens stay. */
function keepOf(fn: string, { spec }: ModelState, given: unknown, capacity: number) {
  if (given === undefined) return undefined;
  const { keep = 0 } = takeOptions(fn, 'shift', given as SessionShift, ['keep']);
  checkInteger(fn, 'shift.keep', keep, 0, capacity - 1);
  const { positions } = spec.config;
  if (positions !== 'learned' && positions !== 'sinusoidal') return keep;
  throw new QkvError(
    'unsupported',
    `${fn}: shift is given, expected none: the model adds ${positions} positions to its stream, which tokens that move cannot change`,
  );
}

const names = [
  ...['batch', 'capacity', 'format', 'source', 'plain', 'read', 'edit', 'from', 'shift'],
] as const;

/** A session of what save() has written. */
function restoreSession(fn: string, model: ModelState, taken: SessionOptions): Session {
  const { from, capacity } = taken;
  for (const name of ['batch', 'format', 'source', 'plain', 'read', 'edit'] as const) {
    if (taken[name] === undefined) continue;
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is given with from, expected one of the two: the saved session has its own`,
    );
  }
  if (!isUint8Array(from)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: from is ${describe(from)}, expected a Uint8Array that save() of a session returned`,
    );
  }
  const { maxLength, vocabulary } = model.spec.config;
  const { held, bytes: saved } = HeldTokens.of(fn, from, vocabulary);
  if (capacity !== undefined) checkInteger(fn, 'capacity', capacity, 1, maxLength);
  const call = new Call(model.instance, fn);
  const slot = call.output('found', [8]);
  const fields = {
    model: model.live(fn),
    from: call.input({ name: 'from', shape: [lengthOf(saved)], source: saved }),
    ...{ capacity: capacity ?? 0, found: slot },
  };
  limited(undefined, () => {
    call.run('restoreSession', fields);
  });
  const address = call.made();
  const [bytes = 0, batch = 1, room = 0, length = 0] = found(call, slot);
  const known = held.ids?.length === length ? held : new HeldTokens(undefined);
  const state = { model, batch, capacity: room, bytes, length, keep: undefined, held: known };
  const session = new WasmSession(address, state);
  try {
    // Not sooner: the bytes have the capacity.
    stateOf(session).keep = keepOf(fn, model, taken.shift, room);
    return session;
  } catch (error) {
    session.dispose();
    throw error;
  }
}

export function createSession(fn: string, model: ModelState, given: SessionOptions): Session {
  const { maxLength } = model.spec.config;
  const taken = takeOptions(fn, 'options', given, names);
  if (taken.from !== undefined) return restoreSession(fn, model, taken);
  const { batch = 1, capacity = maxLength, format = 'f32' } = taken;
  checkInteger(fn, 'batch', batch, 1, mostInt);
  checkInteger(fn, 'capacity', capacity, 1, maxLength);
  checkChoice(fn, 'format', format, ['f32', 'bf16', 'int8']);
  const keep = keepOf(fn, model, taken.shift, capacity);
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
  const held = new HeldTokens(batch === 1 ? [] : undefined);
  const state = { model, batch, capacity, bytes, length: 0, keep, held };
  const session = new WasmSession(address, state);
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
