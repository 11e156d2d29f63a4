// From init() options to a pool that runs. Calls with the same options share one, as with `qkv`.

import { checkBoolean, checkInteger } from '../../arguments/numbers.js';
import { checkSignal } from '../../arguments/signal.js';
import { copiedOptions, describe, listOf, reading } from '../../arguments/values.js';
import { isPort } from '../../platform/ports.js';
import { QkvError } from '../../api/errors.js';
import { identity } from '../../arguments/identity.js';
import type { InitOptions } from '../../api/types.js';
import type { AsyncInitOptions, AsyncQkv, WorkerPort } from '../../api/worker-types.js';
import { textOf } from '../protocol/sent-errors.js';
import { Lane } from './lane.js';
import { clientOf } from './client.js';
import { Pool } from './pool.js';
import { movedTo, remedy, type Script, spawn, whereabouts } from './spawn.js';
import { portable } from '../protocol/wasm.js';

const mostWorkers = 256;
const defaultTimeout = 60_000;

interface StartOptions {
  /** Given workers; none if they are to be started. */
  readonly ports: readonly WorkerPort[] | undefined;
  readonly count: number;
  readonly timeout: number;
  /** What workers that are started run. */
  readonly script: Script;
  /** Options of the engines, which this side passes on unread. */
  readonly engine: InitOptions;
}

const invalid = (message: string): QkvError => new QkvError('invalid_argument', `init: ${message}`);

function checkPorts(worker: unknown): readonly WorkerPort[] {
  const ports = listOf('init', 'worker', worker, mostWorkers) ?? [worker];
  const wrong = reading('init', 'worker', () => ports.find((port) => !isPort(port)));
  if (ports.length === 0 || wrong !== undefined || ports.includes(undefined)) {
    const was = ports.length === 0 ? 'an empty array' : describe(wrong);
    throw invalid(`worker is ${was}, expected a Worker, a MessagePort or an array of them`);
  }
  if (new Set(ports).size < ports.length) {
    throw invalid('worker names one port twice, expected each once');
  }
  return ports as readonly WorkerPort[];
}

function checkOptions(
  options: AsyncInitOptions,
): StartOptions & { signal: AbortSignal | undefined } {
  // Which keys there may be, beyond those here, the engine knows.
  const taken = copiedOptions('init', options);
  const { workers, worker, timeout = defaultTimeout, signal, models, train, ...engine } = taken;
  if (worker !== undefined && workers !== undefined) {
    throw invalid('workers and worker are both given, expected one of them');
  }
  if (workers !== undefined) checkInteger('init', 'workers', workers, 1, mostWorkers);
  if (typeof timeout !== 'number' || !(timeout > 0)) {
    throw invalid(`timeout is ${describe(timeout)}, expected milliseconds above 0`);
  }
  checkSignal('init', signal);
  checkBoolean('init', 'models', models);
  checkBoolean('init', 'train', train);
  if (models && worker !== undefined) {
    throw invalid(
      'models and worker are both given, expected serve(self, init, models) in the worker',
    );
  }
  if (train && worker !== undefined) {
    throw invalid(
      'train and worker are both given, expected serve(self, init) with init of qkv/train in the worker',
    );
  }
  const ports = worker === undefined ? undefined : checkPorts(worker);
  const script = train ? 'train-host' : models ? 'models-host' : 'worker-host';
  return { ports, count: ports?.length ?? workers ?? 1, timeout, engine, signal, script };
}

function keyOf({ ports, count, timeout, engine, script }: StartOptions): string {
  // An option that says what is the default anyway must not make another engine.
  const { variant = 'auto', deterministic = false, ...others } = engine;
  const parts = Object.entries({ variant, deterministic, ...others })
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]: [string, unknown]) => {
      if (value instanceof URL) return [name, value.href];
      return [
        name,
        typeof value === 'object' && value !== null ? `#${identity(value)}` : String(value),
      ];
    });
  return JSON.stringify([ports?.map(identity) ?? count, timeout, script, parts]);
}

function startLane(
  index: number,
  port: WorkerPort | undefined,
  script: Script,
  moved: URL | undefined,
): Lane {
  if (port) return new Lane(index, port, { owned: false, name: describe(port) });
  const name = whereabouts(script);
  try {
    return new Lane(index, spawn(script, moved), { owned: true, name });
  } catch (error) {
    throw new QkvError(
      'load_failed',
      `init: the worker (${name}) could not be started (${textOf(error)}), expected one that runs; ` +
        remedy,
      { cause: error },
    );
  }
}

/** One load, for all callers with the same options: how many wait for it or use it, and how it is given up. */
class Start {
  readonly pool: Promise<Pool>;
  #users = 0;
  #loaded: Pool | undefined;
  #isGivenUp = false;
  readonly #lanes: Lane[] = [];
  readonly #forget: () => void;

  constructor(plan: StartOptions, forget: () => void) {
    this.#forget = forget;
    this.pool = this.#load(plan, forget);
    this.pool.then((pool) => (this.#loaded = pool)).catch(forget);
  }

  enter(): void {
    this.#users += 1;
  }

  /** Ends the workers, if nobody else waits for them or uses them. */
  leave(): void {
    this.#users -= 1;
    if (this.#users > 0) return;
    this.#forget();
    this.#isGivenUp = true;
    if (this.#loaded) this.#loaded.dispose();
    else for (const lane of this.#lanes) lane.dispose();
  }

  async #load(
    { ports, count, timeout, engine, script }: StartOptions,
    forget: () => void,
  ): Promise<Pool> {
    const lanes = this.#lanes;
    try {
      const moved = ports ? undefined : await movedTo(script);
      if (this.#isGivenUp) throw invalid('every init() that waited for it was aborted');
      for (let i = 0; i < count; i += 1) lanes.push(startLane(i, ports?.[i], script, moved));
      const options = await portable(engine);
      const [first] = await Promise.all(lanes.map((lane) => lane.start(options, timeout)));
      if (!first) throw invalid('no worker was started, expected at least one');
      return new Pool(lanes, { ...first.info, workers: lanes.length }, forget);
    } catch (error) {
      for (const lane of lanes) lane.dispose();
      if (error instanceof QkvError) throw error;
      const message = `init: wasm could not be loaded (${describe(error)}), expected an address, bytes or a response`;
      throw new QkvError('invalid_argument', message, { cause: error });
    }
  }
}

const starts = new Map<string, Start>();

/** An engine for these options, on the workers of an earlier call with the same ones, or on new ones. */
export async function start(options: AsyncInitOptions): Promise<AsyncQkv> {
  const plan = checkOptions(options);
  const { signal } = plan;
  if (signal?.aborted) throw signal.reason;
  const key = reading('init', 'options', () => keyOf(plan));
  const isShared = plan.engine.shared !== false;
  const forget = (): void => {
    if (starts.get(key) === own) starts.delete(key);
  };
  const own: Start = (isShared ? starts.get(key) : undefined) ?? new Start(plan, forget);
  if (isShared) starts.set(key, own);
  own.enter();
  let stop: (() => void) | undefined;
  const given = new Promise<never>((_, reject) => {
    stop = () => {
      own.leave();
      reject(signal?.reason as Error);
    };
    signal?.addEventListener('abort', stop);
  });
  try {
    // One that was aborted has left, whatever came first.
    const pool = await Promise.race([given, own.pool]);
    return signal?.aborted ? await given : clientOf(pool, () => own.leave());
  } finally {
    if (stop) signal?.removeEventListener('abort', stop);
  }
}
