// The workers behind an engine: which of them a call goes to, and what comes of it.

import { checkBoolean, checkInteger } from '../../arguments/numbers.js';
import { checkSignal } from '../../arguments/signal.js';
import { reading, takeOptions } from '../../arguments/values.js';
import { QkvError } from '../../api/errors.js';
import type { Qkv } from '../../api/types.js';
import type { AsyncEngineInfo, CallOptions } from '../../api/worker-types.js';
import { isCounted, type Method, type Outcome } from './handles.js';
import type { Lane } from './lane.js';
import { Parcel, type Used } from './pack.js';
import { fieldsOf, isPlain } from '../protocol/messages.js';
import { isMaker } from '../protocol/methods.js';

type Routing = CallOptions & { worker?: number };

/** The options of every call, taken out of the arguments. */
function splitOptions(
  { fn, method, names }: Method,
  args: readonly unknown[],
): [Routing, unknown[]] {
  const rest = [...args];
  const at = names.findIndex((name) => name === 'call' || name === 'options');
  const given = args[at];
  const isCall = names[at] === 'call';
  const known = ['signal', 'transfer', ...(isMaker(method) ? ['worker'] : [])];
  if (isCall) rest.splice(at, 1);
  if (given === undefined) return [{}, rest];
  const own = isCall
    ? Object.entries(takeOptions(fn, 'options', given, known))
    : reading(fn, 'options', () =>
        isPlain(given) && !Array.isArray(given) ? fieldsOf(given) : undefined,
      );
  if (!own) return [{}, rest];
  const routing = Object.fromEntries(own.filter(([name]) => known.includes(name))) as Routing;
  if (!isCall) rest[at] = Object.fromEntries(own.filter(([name]) => !known.includes(name)));
  checkSignal(fn, routing.signal);
  checkBoolean(fn, 'transfer', routing.transfer);
  return [routing, rest];
}

export class Pool {
  readonly info: AsyncEngineInfo;
  readonly #lanes: readonly Lane[];
  readonly #onEnd: () => void;
  /** Calls that any worker may run, and will as soon as it is idle. */
  readonly #waiting: ((lane: Lane) => void)[] = [];
  #disposed = false;

  constructor(lanes: readonly Lane[], info: AsyncEngineInfo, onEnd: () => void) {
    this.#lanes = lanes;
    this.info = Object.freeze(info);
    this.#onEnd = onEnd;
    for (const lane of lanes) {
      lane.onIdle = () => this.#waiting.shift()?.(lane);
      lane.onEnd = () => {
        const live = lanes.filter(({ alive }) => alive);
        if (live.length > 1) return;
        // The last worker queues calls itself; if there is none, the lane says why there is no answer.
        for (const send of this.#waiting.splice(0)) send(live[0] ?? lane);
        if (live.length === 0) onEnd();
      };
    }
  }

  /** Runs a method in the worker that it belongs to. All of it up to the sending happens at once. */
  async run(method: Method, args: readonly unknown[]): Promise<Outcome> {
    const { fn, target, manner } = method;
    this.#checkAlive(fn);
    const [{ signal, transfer = false, worker }, given] = splitOptions(method, args);
    if (signal?.aborted) throw signal.reason;
    const parcel = this.#parcel(method, given);
    const own: Used[] = target ? [{ name: 'this', handle: target }] : [];
    const used = [...own, ...parcel.used];
    const lane = this.#laneOf(method, used, worker);
    const caches = used.map(({ handle }) => handle).filter(isCounted);
    // Where nothing can run any more, nothing shall be lost.
    const runs = lane ? lane.alive : this.#lanes.some(({ alive }) => alive);
    const sealed = parcel.seal(transfer && runs);
    const call = { method: method.method, target: target?.id, args: sealed.args };
    const options = { ...manner, signal, caches, transfer: sealed.transfer };
    const send = async (to: Lane): Promise<Outcome> => ({
      answer: await to.ask(fn, call, options),
      lane: to,
    });
    return lane ? send(lane) : this.#whenIdle(signal, send);
  }

  async memory(options?: CallOptions): Promise<ReturnType<Qkv['memory']>> {
    const method = { fn: 'memory', method: 'memory', names: ['call'] };
    this.#checkAlive('memory');
    const [{ signal }] = splitOptions(method, [options]);
    if (signal?.aborted) throw signal.reason;
    const live = this.#lanes.filter(({ alive }) => alive);
    const answers = (live.length > 0 ? live : this.#lanes).map((lane) =>
      lane.ask('memory', { method: 'memory', target: undefined, args: [] }, { signal }),
    );
    const sum = { heapBytes: 0, usedBytes: 0, handles: 0 };
    for (const { value } of await Promise.all(answers)) {
      const part = value as typeof sum;
      sum.heapBytes += part.heapBytes;
      sum.usedBytes += part.usedBytes;
      sum.handles += part.handles;
    }
    return sum;
  }

  dispose(): void {
    this.#disposed = true;
    for (const lane of this.#lanes) lane.dispose();
    this.#onEnd();
  }

  #checkAlive(fn: string): void {
    if (this.#disposed) {
      throw new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
    }
  }

  #parcel({ fn, names }: Method, args: readonly unknown[]): Parcel {
    try {
      return new Parcel(fn, names, args);
    } catch (error) {
      if (error instanceof QkvError) throw error;
      throw new QkvError(
        'invalid_argument',
        `${fn}: the arguments cannot be read (${String(error)}), expected plain ones`,
        { cause: error },
      );
    }
  }

  /** Where the handles are, or the worker that the options name; undefined if any will do. */
  #laneOf(
    { fn, method }: Method,
    used: readonly Used[],
    worker: number | undefined,
  ): Lane | undefined {
    const lanes = this.#lanes;
    if (worker !== undefined) checkInteger(fn, 'worker', worker, 0, lanes.length - 1);
    const named = used.map(({ name, handle }) => ({ name, lane: handle.laneFor(this, fn, name) }));
    const wanted = lanes[worker ?? (isMaker(method) ? 0 : -1)];
    if (wanted && worker !== undefined) named.push({ name: 'the option', lane: wanted });
    const [first, ...others] = named;
    const other = others.find(({ lane }) => lane !== first?.lane);
    if (first && other) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${first.name} is in worker ${first.lane.index} and ${other.name} in worker ` +
          `${other.lane.index}, expected the same; choose it with the option worker`,
      );
    }
    return first?.lane ?? wanted;
  }

  /** Sends to a worker that is idle, or to the first that will be. */
  #whenIdle<T>(signal: AbortSignal | undefined, send: (lane: Lane) => Promise<T>): Promise<T> {
    const live = this.#lanes.filter(({ alive }) => alive);
    // Alone, a worker may as well queue its calls itself; where all have ended, any of them says so.
    const lane =
      live.find(({ busy, isShared }) => busy === 0 && !isShared) ??
      live.find(({ busy }) => busy === 0) ??
      (live.length > 1 ? undefined : (live[0] ?? this.#lanes[0]));
    if (lane) return send(lane);
    return new Promise((resolve, reject) => {
      const begin = (to: Lane): void => {
        signal?.removeEventListener('abort', abort);
        resolve(send(to));
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1);
        signal?.removeEventListener('abort', abort);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort);
      this.#waiting.push(begin);
    });
  }
}
