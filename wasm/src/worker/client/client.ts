// The engine as one caller has it. Callers with the same options share the workers, and each disposes what it made itself.

import { QkvError } from '../../api/errors.js';
import type {
  AsyncQkv,
  CallOptions,
  LoadModelOptions,
  ModelSource,
} from '../../api/worker-types.js';
import { isMaker, operators } from '../protocol/methods.js';
import {
  asyncDispose,
  type Caller,
  type HandleRef,
  type Method,
  type Outcome,
  remote,
} from './handles.js';
import { loadModel } from './load-model.js';
import { makeTrainer } from './remote-trainers.js';
import type { Pool } from './pool.js';

class Client implements Caller {
  readonly pool: Pool;
  readonly refs = new Set<HandleRef>();
  readonly #onEnd: () => void;
  /** What rejects each call that is under way. */
  readonly #underway = new Set<() => void>();
  #isDisposed = false;

  /** `onEnd` is called when it is disposed. */
  constructor(pool: Pool, onEnd: () => void) {
    this.pool = pool;
    this.#onEnd = onEnd;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  run(method: Method, args: readonly unknown[]): Promise<Outcome> {
    return this.#until(method.fn, () => this.pool.run(method, args));
  }

  memory(options?: CallOptions): ReturnType<Pool['memory']> {
    return this.#until('memory', () => this.pool.memory(options));
  }

  dispose(): Promise<void> {
    if (this.#isDisposed) return Promise.resolve();
    this.#isDisposed = true;
    // Workers that nobody else uses end, and with them all that is in them.
    this.#onEnd();
    for (const stop of this.#underway) stop();
    for (const { lane, id } of this.refs) void lane.discard(id);
    this.refs.clear();
    return Promise.resolve();
  }

  /** A call, unless this is disposed before its end: what it makes is then given back. */
  async #until<T extends object>(fn: string, begin: () => Promise<T>): Promise<T> {
    const gone = (): QkvError =>
      new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
    if (this.#isDisposed) throw gone();
    let stop = (): void => undefined;
    const end = new Promise<never>((_, reject) => {
      stop = () => reject(gone());
    });
    this.#underway.add(stop);
    const call = begin();
    try {
      return await Promise.race([call, end]);
    } catch (error) {
      if (this.#isDisposed) call.then(giveBack, () => undefined);
      throw error;
    } finally {
      this.#underway.delete(stop);
    }
  }
}

/** Disposes the handle that nobody gets any more. */
function giveBack(outcome: object): void {
  const { answer, lane } = outcome as Partial<Outcome>;
  if (answer?.handle) void lane?.discard(answer.handle.id);
}

/** The engine as a caller has it: functions that need no `this`, and nothing else of the pool. `onEnd` is called at its end. */
export function clientOf(pool: Pool, onEnd: () => void): AsyncQkv {
  const client = new Client(pool, onEnd);
  const dispose = (): Promise<void> => client.dispose();
  const methods: Record<PropertyKey, unknown> = {
    memory: (options?: CallOptions) => client.memory(options),
    dispose,
    [asyncDispose]: dispose,
  };
  methods['loadModel'] = (source: ModelSource | string, options?: LoadModelOptions) =>
    loadModel(client, source, options);
  const trainers =
    (method: Parameters<typeof makeTrainer>[1]) =>
    (...args: unknown[]) =>
      makeTrainer(client, method, args);
  const from = trainers('languageModel.from');
  const fromFile = trainers('languageModel.fromFile');
  methods['languageModel'] = Object.assign(trainers('languageModel'), { from, fromFile });
  methods['seq2seq'] = trainers('seq2seq');
  for (const [method, names] of Object.entries(operators)) {
    methods[method] = async (...args: unknown[]): Promise<unknown> => {
      const { answer, lane } = await client.run({ fn: method, method, names }, args);
      return answer.handle && isMaker(method)
        ? remote(method, client, lane, answer.handle)
        : answer.value;
    };
  }
  const object = { info: pool.info, ...methods, [Symbol.toStringTag]: 'AsyncQkv' };
  // The compiler holds the table to the operators of an engine.
  return object as object as AsyncQkv;
}
