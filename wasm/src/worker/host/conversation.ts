// One engine in a worker: its handles, and its calls, one after the other.

import { QkvError } from '../../api/errors.js';
import type { LoadOptions, Source } from '../../api/load-types.js';
import type { LanguageModel } from '../../api/model-types.js';
import type { Batch, Trainer } from '../../api/trainer-types.js';
import type { InitOptions, Qkv } from '../../api/types.js';
import type { WorkerModels } from '../../api/worker-types.js';
import { describe } from '../../arguments/values.js';
import { sendable } from '../protocol/sent-errors.js';
import { hold } from '../protocol/liveness.js';
import {
  type Answer,
  type CallRequest,
  descend,
  handleKey,
  isMark,
  isPlain,
  type Ready,
  rebuild,
  type SentHandle,
} from '../protocol/messages.js';
import {
  engineMakers,
  engineMethods,
  type HandleKind,
  handleKinds,
  isMaker,
  type LongMethod,
  longMethods,
  modelMakers,
  sessionMethods,
} from '../protocol/methods.js';
import { asResponse } from '../protocol/wasm.js';
import { Generation } from './generation.js';
import { Training } from './training.js';

export type Init = (options: InitOptions) => Promise<Qkv>;
export type Result = Omit<Answer, 'id'>;
type Run = (...args: unknown[]) => unknown;

interface Disposable {
  dispose(): void;
}

/** What a method of the engine, or of a model, has made. */
interface Kept {
  readonly kind: HandleKind;
  readonly handle: Disposable;
}

/** The method of this name, of an engine or of a handle of this kind. Messages may name anything. */
function methodOf(receiver: object, kind: HandleKind | undefined, method: string): Run {
  const names = kind === undefined ? engineMethods : handleKinds[kind].methods;
  if (!names.includes(method)) {
    const owner = kind === undefined ? 'an engine' : `a ${handleKinds[kind].name}`;
    throw new QkvError(
      'invalid_argument',
      `worker: ${describe(method)} is no method of ${owner}, expected one of ${names.join(', ')}`,
    );
  }
  return (...args) => {
    // 'languageModel.from' is a method of a method.
    const path = method.split('.');
    const last = path.pop() ?? method;
    const owner = path.reduce((at, name) => (at as Record<string, object>)[name] ?? at, receiver);
    return (owner as Record<string, Run>)[last]?.(...args);
  };
}

/** How many conversations have had an engine: somebody's own function may give the same to all. */
const handed = new WeakMap<Qkv, number>();

/** All that the other side does with one engine, from its start to its end. */
export class Conversation {
  readonly #name: string;
  readonly #handles = new Map<number, Kept>();
  readonly #models: WorkerModels | undefined;
  /** Calls that take long, by their numbers. */
  readonly #running = new Map<number, AbortController>();
  /** The call that runs in each session of a model; none of these promises is rejected. */
  readonly #underWay = new Map<object, Promise<unknown>>();
  #engine: Qkv | undefined;
  /** Whether nobody else has the engine: `shared: false`. */
  #isUnshared = false;
  #isOver = false;
  #release: (() => void) | undefined;
  #made = 0;

  constructor(name: string, models: WorkerModels | undefined) {
    this.#name = name;
    this.#models = models;
  }

  async start(init: Init, options: InitOptions, watched: boolean): Promise<Ready> {
    const engine = await init(asResponse(options));
    handed.set(engine, (handed.get(engine) ?? 0) + 1);
    this.#engine = engine;
    this.#isUnshared = options.shared === false;
    if (watched && !this.#isOver) this.#release = await hold(this.#name);
    if (this.#isOver) this.#letGo();
    return { info: engine.info, lock: this.#release !== undefined };
  }

  /** Gives back what it made, also what is still to come of start(). */
  end(): void {
    this.#isOver = true;
    for (const id of this.#running.keys()) this.abort(id);
    for (const { handle } of this.#handles.values()) handle.dispose();
    this.#handles.clear();
    this.#letGo();
  }

  /** A shared engine stays: the worker's owner may have got the same from init(). */
  #letGo(): void {
    const engine = this.#engine;
    this.#engine = undefined;
    if (engine && this.#isUnshared && handed.get(engine) === 1) engine.dispose();
    this.#release?.();
  }

  /** Ends a call that takes long. */
  abort(id: number): void {
    this.#running.get(id)?.abort();
  }

  /** Runs a call, after those in the same session that were made before. */
  run(call: CallRequest, onProgress: (progress: unknown) => void): Result | Promise<Result> {
    const session = this.#sessionOf(call);
    const before = session && this.#underWay.get(session);
    const kept = call.target === undefined ? undefined : this.#handles.get(call.target)?.handle;
    // It may be stopped before its turn.
    if (before && kept instanceof Generation) this.#running.set(call.id, kept.stop);
    const result = before
      ? before.then(() => this.#run(call, onProgress))
      : this.#run(call, onProgress);
    if (!session || !(result instanceof Promise)) return result;
    const over = result.finally(() => {
      this.#running.delete(call.id);
      if (this.#underWay.get(session) === over) this.#underWay.delete(session);
    });
    this.#underWay.set(session, over);
    return result;
  }

  /** The session of a model that a call is about. */
  #sessionOf({ method, target, args }: CallRequest): object | undefined {
    const sessionAt = (id: number): object | undefined => {
      const { kind, handle } = this.#handles.get(id) ?? {};
      if (handle instanceof Generation) return handle.session;
      return kind === 'session' ? handle : undefined;
    };
    const own = target === undefined ? undefined : sessionAt(target);
    // Only tokens take turns: without any under way nobody waits.
    if (own || this.#underWay.size === 0 || target === undefined) return own;
    // Messages may have anything.
    const options: unknown = Array.isArray(args) ? args[1] : undefined;
    const mark = isPlain(options) ? (options as { session?: unknown }).session : undefined;
    return sessionMethods.includes(method) && isMark(mark) ? sessionAt(mark[handleKey]) : undefined;
  }

  #run(
    { id, method, target, args }: CallRequest,
    onProgress: (progress: unknown) => void,
  ): Result | Promise<Result> {
    const caches: { readonly length: number }[] = [];
    const find = (number: number): Kept => {
      const kept = this.#handles.get(number);
      if (!kept) {
        const message = `${method}: a handle is of another engine, expected one of this engine`;
        throw new QkvError('invalid_argument', message);
      }
      const { kind, handle } = kept;
      if (handleKinds[kind].isCounted)
        caches.push(handle as unknown as { readonly length: number });
      return kept;
    };
    const lengths = (): number[] => caches.map(({ length }) => length);
    const failed = (error: unknown): Result => ({
      error: sendable(method, error),
      lengths: lengths(),
    });
    try {
      const kept = target === undefined ? undefined : find(target);
      const call = methodOf(kept?.handle ?? this.#started(), kept?.kind, method);
      const given = args.map((value) =>
        rebuild(value, '', (part) => {
          if (isMark(part)) return find(part[handleKey]).handle;
          return isPlain(part) ? descend : part;
        }),
      );
      const made = kept ? modelMakers[method] : isMaker(method) ? engineMakers[method] : undefined;
      const finish = (value: unknown): Result => {
        if (!made) return { value, lengths: lengths() };
        const handle =
          made === 'trainer'
            ? new Training(value as Trainer<object, Batch>)
            : (value as Disposable);
        return { handle: this.#keep(made, handle), lengths: lengths() };
      };
      if (made === 'trainer') this.#checkTrains(method);
      const value =
        made === 'model' && !kept
          ? this.#load(id, given, onProgress)
          : made === 'generation'
            ? new Generation(call, given)
            : kept && longMethods[method] !== undefined
              ? this.#stoppable(id, call, given, longMethods[method], onProgress)
              : call(...given);
      if (method === 'dispose' && target !== undefined) this.#handles.delete(target);
      if (!(value instanceof Promise)) return finish(value);
      if (kept?.handle instanceof Generation) this.#running.set(id, kept.handle.stop);
      return value.then(finish, failed).finally(() => this.#running.delete(id));
    } catch (error) {
      return failed(error);
    }
  }

  async #load(
    id: number,
    [source, options]: readonly unknown[],
    onProgress: (progress: unknown) => void,
  ): Promise<LanguageModel> {
    if (!this.#models) {
      throw new QkvError(
        'unsupported',
        'loadModel: the worker has no models, expected init({ models: true }), or serve(self, init, models) with qkv/models',
      );
    }
    const running = new AbortController();
    this.#running.set(id, running);
    const { signal } = running;
    const own = { ...(options as LoadOptions | undefined), signal, onProgress };
    const model = await this.#models.load(this.#started(), source as Source, own);
    // Somebody's own function may not look at the signal, and nobody is left who would dispose what it made.
    if (signal.aborted) model.dispose();
    return model;
  }

  /** What takes long, which the other side may stop. */
  #stoppable(
    id: number,
    run: Run,
    given: readonly unknown[],
    { at, hasProgress }: LongMethod,
    onProgress: (progress: unknown) => void,
  ): unknown {
    const running = new AbortController();
    this.#running.set(id, running);
    const args = [...given];
    args[at] = {
      ...(given[at] as object | undefined),
      signal: running.signal,
      ...(hasProgress && { onProgress }),
    };
    return run(...args);
  }

  /** The engine is one of `qkv/train`. */
  #checkTrains(method: string): void {
    if ('languageModel' in this.#started()) return;
    throw new QkvError(
      'unsupported',
      `${method}: the worker cannot train, expected init({ train: true }), or serve(self, init) with init of qkv/train`,
    );
  }

  #started(): Qkv {
    if (this.#engine) return this.#engine;
    throw new QkvError(
      'invalid_argument',
      'worker: the engine has not loaded, expected init first',
    );
  }

  #keep(kind: HandleKind, handle: Disposable): SentHandle {
    const id = this.#made++;
    this.#handles.set(id, { kind, handle });
    const { fields } = handleKinds[kind];
    const from = handle as unknown as Record<string, unknown>;
    if (fields) {
      const about = Object.fromEntries(fields.map((name) => [name, from[name]]));
      const { length } = handle as Partial<SentHandle>;
      return { id, about, ...(length !== undefined && { length }) };
    }
    const { shape, capacity } = handle as Partial<SentHandle>;
    return { id, ...(shape && { shape }), ...(capacity !== undefined && { capacity }) };
  }
}
