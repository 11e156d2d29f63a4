// The worker's side: runs what it is asked on an engine of its own, one call after the other.

import { QkvError } from '../../api/errors.js';
import type { GenerateOptions, LanguageModel, LoadOptions, Source } from '../../api/model-types.js';
import type { InitOptions, Qkv } from '../../api/types.js';
import type { WorkerModels, WorkerPort } from '../../api/worker-types.js';
import { describe } from '../../arguments/values.js';
import { listen, post } from '../../platform/ports.js';
import { sendable } from '../protocol/errors.js';
import { hold } from '../protocol/liveness.js';
import {
  type Answer,
  buffersOf,
  type CallRequest,
  descend,
  everyone,
  handleKey,
  type InitRequest,
  isMaker,
  isMark,
  isOurs,
  isPlain,
  key,
  type Kind,
  type Ready,
  rebuild,
  type Request,
  type SentHandle,
} from '../protocol/messages.js';
import { engineMethods, handleMethods, handleNames, modelMakers } from '../protocol/methods.js';
import { asResponse } from '../protocol/wasm.js';

type Init = (options: InitOptions) => Promise<Qkv>;
type Result = Omit<Answer, 'id'>;
type Run = (...args: unknown[]) => unknown;

interface Disposable {
  dispose(): void;
}

/** What a method of the engine, or of a model, has made. */
interface Kept {
  readonly maker: Kind;
  readonly handle: Disposable;
}

/** Tokens as they are asked for. */
class Tokens implements Disposable {
  /** Ends the token that is under way, and with it all. */
  readonly stop = new AbortController();
  readonly #tokens: AsyncIterator<unknown>;
  readonly #session: { readonly length: number } | undefined;

  constructor(generate: Run, [prompt, options]: readonly unknown[]) {
    const own = { ...(options as GenerateOptions | undefined), signal: this.stop.signal };
    this.#session = own.session;
    this.#tokens = (generate(prompt, own) as AsyncIterable<unknown>)[Symbol.asyncIterator]();
  }

  get session(): object | undefined {
    return this.#session;
  }

  /** Of its session. */
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

/** Kinds whose lengths go back with every answer. */
const counted: readonly Kind[] = ['kvCache', 'session', 'tokens'];

const about: Readonly<Partial<Record<Kind, readonly string[]>>> = {
  loadModel: [
    ...['config', 'parameterCount', 'bytes', 'format', 'tokenizerProblem'],
    ...['pooling', 'ignored'],
  ],
  session: ['capacity', 'bytes'],
};

/** The method of this name, of an engine or of what `maker` makes. Messages may name anything. */
function methodOf(receiver: object, maker: Kind | undefined, method: string): Run {
  const names = maker === undefined ? engineMethods : handleMethods[maker];
  if (!names.includes(method)) {
    const owner = maker === undefined ? 'an engine' : `a ${handleNames[maker]}`;
    throw new QkvError(
      'invalid_argument',
      `worker: ${describe(method)} is no method of ${owner}, expected one of ${names.join(', ')}`,
    );
  }
  const methods = receiver as Record<string, Run>;
  return (...args) => methods[method]?.(...args);
}

/** How many sessions have had an engine: somebody's own function may give the same to all. */
const handed = new WeakMap<Qkv, number>();

/** One engine's conversation. */
class Session {
  readonly #name: string;
  readonly #handles = new Map<number, Kept>();
  readonly #models: WorkerModels | undefined;
  /** Calls that take long, by their numbers. */
  readonly #running = new Map<number, AbortController>();
  /** What goes on in the sessions of models, and ends without an error. */
  readonly #underWay = new Map<object, Promise<unknown>>();
  #engine: Qkv | undefined;
  /** Whether the engine was asked for as one that nobody shares. */
  #isOwn = false;
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
    this.#isOwn = options.shared === false;
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
    if (engine && this.#isOwn && handed.get(engine) === 1) engine.dispose();
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
    // It may be told to end before its turn.
    if (before && kept instanceof Tokens) this.#running.set(call.id, kept.stop);
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
      const { maker, handle } = this.#handles.get(id) ?? {};
      if (handle instanceof Tokens) return handle.session;
      return maker === 'session' ? handle : undefined;
    };
    const own = target === undefined ? undefined : sessionAt(target);
    // Only tokens take turns: without any under way nobody waits.
    if (own || this.#underWay.size === 0 || target === undefined) return own;
    // Messages may have anything.
    const options: unknown = Array.isArray(args) ? args[1] : undefined;
    const mark = isPlain(options) ? (options as { session?: unknown }).session : undefined;
    return ['forward', 'generate'].includes(method) && isMark(mark)
      ? sessionAt(mark[handleKey])
      : undefined;
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
      const { maker, handle } = kept;
      if (counted.includes(maker)) caches.push(handle as unknown as { readonly length: number });
      return kept;
    };
    const lengths = (): number[] => caches.map(({ length }) => length);
    const failed = (error: unknown): Result => ({
      error: sendable(method, error),
      lengths: lengths(),
    });
    try {
      const kept = target === undefined ? undefined : find(target);
      const call = methodOf(kept?.handle ?? this.#started(), kept?.maker, method);
      const given = args.map((value) =>
        rebuild(value, '', (part) => {
          if (isMark(part)) return find(part[handleKey]).handle;
          return isPlain(part) ? descend : part;
        }),
      );
      const made = kept ? modelMakers[method] : isMaker(method) ? method : undefined;
      const finish = (value: unknown): Result => {
        if (!made) return { value, lengths: lengths() };
        return { handle: this.#keep(made, value), lengths: lengths() };
      };
      const value =
        made === 'loadModel'
          ? this.#load(id, given, onProgress)
          : made === 'tokens'
            ? new Tokens(call, given)
            : call(...given);
      if (method === 'dispose' && target !== undefined) this.#handles.delete(target);
      if (!(value instanceof Promise)) return finish(value);
      if (kept?.handle instanceof Tokens) this.#running.set(id, kept.handle.stop);
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

  #started(): Qkv {
    if (this.#engine) return this.#engine;
    throw new QkvError(
      'invalid_argument',
      'worker: the engine has not loaded, expected init first',
    );
  }

  #keep(maker: Kind, made: unknown): SentHandle {
    const id = this.#made++;
    const handle = made as Disposable;
    this.#handles.set(id, { maker, handle });
    const fields = about[maker];
    const from = handle as unknown as Record<string, unknown>;
    if (fields) return { id, about: Object.fromEntries(fields.map((name) => [name, from[name]])) };
    const { shape, capacity } = handle as Partial<SentHandle>;
    return { id, ...(shape && { shape }), ...(capacity !== undefined && { capacity }) };
  }
}

/** Those who are listening already; a second time they would answer twice. */
const serving = new WeakSet<WorkerPort>();

export function host(port: WorkerPort, init: Init, models?: WorkerModels): void {
  if (serving.has(port)) return;
  serving.add(port);
  const sessions = new Map<string, Session>();

  const reply = (name: string, id: number, result: Result): void => {
    try {
      post(port, { [key]: name, id, ...result }, buffersOf(result.value));
    } catch (error) {
      post(port, { [key]: name, id, lengths: result.lengths, error: sendable('answer', error) });
    }
  };

  const start = (name: string, ask: InitRequest): void => {
    // It is sent again to those who say hello.
    if (sessions.has(name)) return;
    const session = new Session(name, models);
    sessions.set(name, session);
    session.start(init, ask.init, ask.watched).then(
      (ready) => reply(name, ask.id, { ready, lengths: [] }),
      (error: unknown) => {
        sessions.delete(name);
        reply(name, ask.id, { error: sendable('init', error), lengths: [] });
      },
    );
  };

  listen(port, 'message', (message) => {
    if (!isOurs(message)) return;
    const name = message[key];
    const request = message as Request;
    const session = sessions.get(name);
    if ('init' in request) start(name, request);
    else if ('method' in request) {
      const { id } = request;
      const onProgress = (progress: unknown): void => post(port, { [key]: name, id, progress });
      const result = session?.run(request, onProgress);
      if (result instanceof Promise) void result.then((later) => reply(name, id, later));
      else if (result) reply(name, id, result);
    } else if ('abort' in request) session?.abort(request.abort);
    else if ('end' in request) {
      session?.end();
      sessions.delete(name);
    }
  });
  listen(port, 'messageerror', () => post(port, { [key]: everyone, unreadable: true }));
  post(port, { [key]: everyone, hello: true });
}
