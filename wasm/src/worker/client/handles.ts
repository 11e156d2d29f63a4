// What stands here for a tensor, cache, layer or block that lives in a worker.

import { QkvError } from '../../api/errors.js';
import type {
  AttentionResult,
  Exactly,
  NewArray,
  OwnedArray,
  ResultOf,
  Shape4,
  Unsaid,
} from '../../api/types.js';
import type {
  AsyncArrayInput,
  AsyncBlockOptions,
  AsyncDestination,
  AsyncKvCache,
  AsyncLinearLayer,
  AsyncMultiHeadAttention,
  AsyncTensor,
  AsyncTransformerBlock,
  CallOptions,
} from '../../api/worker-types.js';
import type { Counted, Lane, Manner } from './lane.js';
import type { Answer, SentHandle } from '../protocol/messages.js';
import type { Maker } from '../protocol/methods.js';

/** Symbol.asyncDispose, also where the engine does not have it yet. */
export const asyncDispose: typeof Symbol.asyncDispose =
  Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as typeof Symbol.asyncDispose);

/** The net, not the plan: frees what was dropped without dispose(), when the collector notices. As in memory/handle.ts not all have it. */
const { FinalizationRegistry: Registry } = globalThis as Partial<typeof globalThis>;
const forgotten =
  Registry &&
  new Registry<{ ref: HandleRef; all: Set<HandleRef> }>(({ ref, all }) => {
    if (all.delete(ref)) void ref.lane.discard(ref.id);
  });

/** A method, of a handle if there is a target. */
export interface Method {
  /** What messages call it. */
  readonly fn: string;
  readonly method: string;
  readonly names: readonly string[];
  readonly target?: Remote;
  readonly manner?: Manner;
}

/** What a handle stands for: this object of that worker. */
export interface HandleRef {
  readonly lane: Lane;
  readonly id: number;
}

/** What a worker has answered, and which. */
export interface Outcome {
  readonly answer: Answer;
  readonly lane: Lane;
}

/** The engine that a handle is of: what runs its methods. */
export interface Caller {
  /** The workers, which several engines may share. */
  readonly pool: object;
  readonly isDisposed: boolean;
  /** What its live handles stand for. */
  readonly refs: Set<HandleRef>;
  run(method: Method, args: readonly unknown[]): Promise<Outcome>;
}

export abstract class Remote {
  /** For messages. */
  abstract get kind(): string;
  readonly #caller: Caller;
  readonly #lane: Lane;
  readonly #id: number;
  readonly #ref: HandleRef;
  #gone: Promise<void> | undefined;

  constructor(caller: Caller, lane: Lane, id: number) {
    this.#caller = caller;
    this.#lane = lane;
    this.#id = id;
    this.#ref = { lane, id };
    caller.refs.add(this.#ref);
    forgotten?.register(this, { ref: this.#ref, all: caller.refs }, this);
  }

  get worker(): number {
    return this.#lane.index;
  }

  get id(): number {
    return this.#id;
  }

  /** What has another length once this is disposed. */
  protected get leaves(): readonly Counted[] {
    return [];
  }

  /** The worker it lives in, for a call to one of these workers. */
  laneFor(pool: object, fn: string, name: string): Lane {
    if (pool !== this.#caller.pool) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} is a ${this.kind} of another engine, expected one of this engine`,
      );
    }
    if (this.#gone || this.#caller.isDisposed) {
      throw new QkvError(
        'disposed',
        `${fn}: ${name} is a disposed ${this.kind}, expected a live one`,
      );
    }
    return this.#lane;
  }

  dispose(): Promise<void> {
    if (!this.#gone) {
      forgotten?.unregister(this);
      // Not a second time after the engine.
      const isLive = this.#caller.refs.delete(this.#ref);
      this.#gone = isLive ? this.#lane.discard(this.#id, this.leaves) : Promise.resolve();
    }
    return this.#gone;
  }

  [asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /** Calls the method of this name. `fn` is what messages call it. */
  protected async call<T>(
    fn: string,
    method: string,
    names: readonly string[],
    args: readonly unknown[],
    manner: Manner = {},
  ): Promise<T> {
    const { answer } = await this.#caller.run({ fn, method, names, target: this, manner }, args);
    return answer.value as T;
  }

  /** Calls a method that makes another handle. */
  protected async make<T>(
    method: Method,
    args: readonly unknown[],
    build: (caller: Caller, lane: Lane, sent: SentHandle) => T,
  ): Promise<T> {
    const { answer } = await this.#caller.run({ ...method, target: this }, args);
    if (!answer.handle) throw new TypeError('no handle');
    return build(this.#caller, this.#lane, answer.handle);
  }
}

class RemoteTensor extends Remote implements AsyncTensor {
  readonly shape: readonly number[];

  constructor(caller: Caller, lane: Lane, { id, shape = [] }: SentHandle) {
    super(caller, lane, id);
    this.shape = Object.freeze([...shape]);
  }

  override get kind(): string {
    return 'tensor';
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncTensor';
  }

  toNdArray(options?: CallOptions): Promise<OwnedArray> {
    return this.call('Tensor.toNdArray', 'toNdArray', ['call'], [options]);
  }

  set(data: ArrayLike<number>, options?: CallOptions): Promise<void> {
    return this.call('Tensor.set', 'set', ['data', 'call'], [data, options]);
  }
}

class RemoteCache extends Remote implements AsyncKvCache, Counted {
  readonly capacity: number;
  #length = 0;

  constructor(caller: Caller, lane: Lane, { id, capacity = 0 }: SentHandle) {
    super(caller, lane, id);
    this.capacity = capacity;
  }

  override get kind(): string {
    return 'cache';
  }

  get length(): number {
    return this.#length;
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncKvCache';
  }

  setLength(length: number): void {
    this.#length = length;
  }

  append(keys: AsyncArrayInput, values: AsyncArrayInput, options?: CallOptions): Promise<void> {
    return this.call(
      'KvCache.append',
      'append',
      ['keys', 'values', 'call'],
      [...[keys, values, options]],
    );
  }

  keys(options?: CallOptions): Promise<OwnedArray<Shape4>> {
    return this.call('KvCache.keys', 'keys', ['call'], [options]);
  }

  values(options?: CallOptions): Promise<OwnedArray<Shape4>> {
    return this.call('KvCache.values', 'values', ['call'], [options]);
  }

  truncate(length: number, options?: CallOptions): Promise<void> {
    return this.call('KvCache.truncate', 'truncate', ['length', 'call'], [length, options]);
  }
}

class RemoteLayer extends Remote implements AsyncMultiHeadAttention, AsyncTransformerBlock {
  readonly #kind: 'layer' | 'block';

  constructor(caller: Caller, lane: Lane, { id }: SentHandle, kind: 'layer' | 'block') {
    super(caller, lane, id);
    this.#kind = kind;
  }

  override get kind(): string {
    return this.#kind;
  }

  get [Symbol.toStringTag](): string {
    return this.#kind === 'layer' ? 'AsyncMultiHeadAttention' : 'AsyncTransformerBlock';
  }

  forward<O extends Exactly<O, AsyncBlockOptions> = Unsaid<AsyncBlockOptions>>(
    x: AsyncArrayInput,
    options?: O,
  ): Promise<ResultOf<O>>;
  forward(x: AsyncArrayInput, options?: AsyncBlockOptions): Promise<AttentionResult> {
    return this.call('forward', 'forward', ['x', 'options'], [x, options]);
  }
}

class RemoteLinear extends Remote implements AsyncLinearLayer {
  override get kind(): string {
    return 'layer';
  }

  get [Symbol.toStringTag](): string {
    return 'AsyncLinearLayer';
  }

  forward(x: AsyncArrayInput, options: CallOptions & AsyncDestination): Promise<void>;
  forward(x: AsyncArrayInput, options?: CallOptions & NewArray): Promise<OwnedArray>;
  forward(x: AsyncArrayInput, options?: CallOptions): Promise<unknown> {
    return this.call('forward', 'forward', ['x', 'options'], [x, options]);
  }
}

/** The handle that a method of the engine has made in a worker. */
export function remote(method: Maker, caller: Caller, lane: Lane, sent: SentHandle): Remote {
  if (method === 'tensor') return new RemoteTensor(caller, lane, sent);
  if (method === 'kvCache') return new RemoteCache(caller, lane, sent);
  if (method === 'linearLayer') return new RemoteLinear(caller, lane, sent.id);
  return new RemoteLayer(caller, lane, sent, method === 'transformerBlock' ? 'block' : 'layer');
}

export const isCounted = (handle: unknown): handle is Remote & Counted =>
  handle instanceof Remote && 'setLength' in handle;

/** Fields of a handle that do not change, as the worker described them. */
export function fix(object: object, { about = {} }: SentHandle): void {
  for (const [name, value] of Object.entries(about)) {
    Object.defineProperty(object, name, { value: Object.freeze(value), enumerable: true });
  }
}
