// The worker's side: runs what it is asked on an engine of its own, one call after the other.

import { QkvError } from '../../api/errors.js';
import type { InitOptions, KvCache, Qkv } from '../../api/types.js';
import type { WorkerPort } from '../../api/worker-types.js';
import { describe } from '../../arguments/values.js';
import { listen, post } from '../../platform/ports.js';
import { sendable } from '../protocol/errors.js';
import { hold } from '../protocol/liveness.js';
import {
  type Answer,
  type Ask,
  buffersOf,
  descend,
  everyone,
  handleKey,
  isMaker,
  isMark,
  isOurs,
  isPlain,
  key,
  type Maker,
  type Ready,
  rebuild,
  type Request,
  type SentHandle,
} from '../protocol/messages.js';
import { engineMethods, handleMethods, handleNames } from '../protocol/methods.js';
import { asResponse } from '../protocol/wasm.js';

type Init = (options: InitOptions) => Promise<Qkv>;
type Call = Extract<Ask, { method: string }>;
type Result = Omit<Answer, 'id'>;

interface Disposable {
  dispose(): void;
}

/** What a method of the engine has made. */
interface Kept {
  readonly maker: Maker;
  readonly handle: Disposable;
}

/** The method of this name, of an engine or of what `maker` makes. Messages may name anything. */
function methodOf(
  receiver: object,
  maker: Maker | undefined,
  method: string,
): (...args: unknown[]) => unknown {
  const names = maker === undefined ? engineMethods : handleMethods[maker];
  if (!names.includes(method)) {
    const owner = maker === undefined ? 'an engine' : `a ${handleNames[maker]}`;
    throw new QkvError(
      'invalid_argument',
      `worker: ${describe(method)} is no method of ${owner}, expected one of ${names.join(', ')}`,
    );
  }
  const methods = receiver as Record<string, (...args: unknown[]) => unknown>;
  return (...args) => methods[method]?.(...args);
}

/** One engine's conversation. */
class Session {
  readonly #name: string;
  readonly #handles = new Map<number, Kept>();
  #engine: Qkv | undefined;
  #release: (() => void) | undefined;
  #made = 0;

  constructor(name: string) {
    this.#name = name;
  }

  async start(init: Init, options: InitOptions, watched: boolean): Promise<Ready> {
    this.#engine = await init(asResponse(options));
    if (watched) this.#release = await hold(this.#name);
    return { info: this.#engine.info, lock: this.#release !== undefined };
  }

  /** Gives back what it made. The engine stays: the worker's owner may have got the same from init(). */
  end(): void {
    for (const { handle } of this.#handles.values()) handle.dispose();
    this.#handles.clear();
    this.#release?.();
  }

  run({ method, target, args }: Call): Result {
    const caches: KvCache[] = [];
    const find = (id: number): Kept => {
      const kept = this.#handles.get(id);
      if (!kept) {
        const message = `${method}: a handle is of another engine, expected one of this engine`;
        throw new QkvError('invalid_argument', message);
      }
      if (kept.maker === 'kvCache') caches.push(kept.handle as KvCache);
      return kept;
    };
    const lengths = (): number[] => caches.map(({ length }) => length);
    try {
      const kept = target === undefined ? undefined : find(target);
      const call = methodOf(kept?.handle ?? this.#started(), kept?.maker, method);
      const given = args.map((value) =>
        rebuild(value, '', (part) => {
          if (isMark(part)) return find(part[handleKey]).handle;
          return isPlain(part) ? descend : part;
        }),
      );
      const value = call(...given);
      if (method === 'dispose' && target !== undefined) this.#handles.delete(target);
      if (!isMaker(method)) return { value, lengths: lengths() };
      return { handle: this.#keep(method, value as Disposable), lengths: lengths() };
    } catch (error) {
      return { error: sendable(method, error), lengths: lengths() };
    }
  }

  #started(): Qkv {
    if (this.#engine) return this.#engine;
    throw new QkvError(
      'invalid_argument',
      'worker: the engine has not loaded, expected init first',
    );
  }

  #keep(maker: Maker, handle: Disposable): SentHandle {
    const id = this.#made++;
    this.#handles.set(id, { maker, handle });
    const { shape, capacity } = handle as Partial<SentHandle>;
    return { id, ...(shape && { shape }), ...(capacity !== undefined && { capacity }) };
  }
}

/** Those who are listening already; a second time they would answer twice. */
const serving = new WeakSet<WorkerPort>();

export function host(port: WorkerPort, init: Init): void {
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

  const start = (name: string, ask: Extract<Ask, { init: InitOptions }>): void => {
    // It is sent again to those who say hello.
    if (sessions.has(name)) return;
    const session = new Session(name);
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
      if (session) reply(name, request.id, session.run(request));
    } else if ('end' in request) {
      session?.end();
      sessions.delete(name);
    }
  });
  listen(port, 'messageerror', () => post(port, { [key]: everyone, unreadable: true }));
  post(port, { [key]: everyone, hello: true });
}
