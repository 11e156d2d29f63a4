import { QkvError } from '../api/errors.js';
import type {
  ArrayInput,
  AttentionOptions,
  KvCache,
  OwnedArray,
  Qkv,
  Shape4,
} from '../api/types.js';
import { checkArray, type Input } from '../arguments/arrays.js';
import {
  checkValues,
  coreShape,
  expectedText,
  headsShape,
  type HeadsShape,
} from '../arguments/heads.js';
import { checkChoice, checkInteger, mostInt } from '../arguments/numbers.js';
import { isCache, register } from '../arguments/genuine.js';
import { shapeText } from '../arguments/shapes.js';
import { takeOptions } from '../arguments/values.js';
import { Call } from '../memory/call.js';
import { disposeSymbol, Handle } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';

type CacheOptions = Parameters<Qkv['kvCache']>[0];
type CacheSizes = Required<Omit<CacheOptions, 'format'>>;

/** What a cache is made of. */
interface State {
  readonly handle: Handle;
  readonly config: CacheSizes;
  /** Tokens that are held. */
  length: number;
}

/** Not a private field that others ask for: what older engines need for that is larger. */
const states = new WeakMap<KvCache, State>();

function stateOf(cache: KvCache): State {
  const state = states.get(cache);
  if (!state) throw new TypeError('not a cache');
  return state;
}

class WasmKvCache implements KvCache {
  declare readonly capacity: number;
  readonly #state: State;

  constructor(instance: Instance, config: CacheSizes, address: Address) {
    const handle = new Handle(this, instance, address, 'destroyCache');
    this.#state = { handle, config, length: 0 };
    Object.defineProperty(this, 'capacity', { value: config.capacity, enumerable: true });
    states.set(this, this.#state);
    register(this, 'cache');
  }

  get length(): number {
    return this.#state.length;
  }

  get [Symbol.toStringTag](): string {
    return 'KvCache';
  }

  append(keys: ArrayInput, values: ArrayInput): void {
    const fn = 'KvCache.append';
    const { config, handle } = this.#state;
    const { numKvHeads, dK, dV } = config;
    cacheAddress(fn, this);
    const k = checkArray(fn, 'keys', keys);
    const v = checkArray(fn, 'values', values);
    const ks = headsShape(fn, k, numKvHeads, 'numKvHeads');
    const vs = headsShape(fn, v, numKvHeads, 'numKvHeads');
    this.#checkWidth(fn, k, ks, dK);
    this.#checkWidth(fn, v, vs, dV);
    checkValues(fn, k, ks, v, vs);
    const call = new Call(handle.instance, fn);
    const given = {
      cache: cacheAddress(fn, this),
      keys: call.input(k, coreShape(ks)),
      values: call.input(v, coreShape(vs)),
      numKvHeads,
    };
    appending(fn, this, ks.tokens, () => call.run('appendCache', given));
  }

  keys(): OwnedArray<Shape4> {
    return this.#read('keys', this.#state.config.dK);
  }

  values(): OwnedArray<Shape4> {
    return this.#read('values', this.#state.config.dV);
  }

  truncate(length: number): void {
    const fn = 'KvCache.truncate';
    cacheAddress(fn, this);
    checkInteger(fn, 'length', length, 0, this.length);
    keepOnly(fn, this, length);
  }

  dispose(): void {
    this.#state.handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** Keys or values are of the batch and the width that the cache was made for. */
  #checkWidth(fn: string, input: Input, form: HeadsShape, width: number): void {
    const { batch, numKvHeads } = this.#state.config;
    if (form.batch === batch && form.width === width) return;
    const columns = String(form.split ? numKvHeads * width : width);
    const expected = { batch, heads: String(numKvHeads), tokens: '*', width: columns };
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${input.name} is ${shapeText(input.shape)}, expected ${expectedText(input, form, expected)}`,
    );
  }

  #read(name: 'keys' | 'values', width: number): OwnedArray<Shape4> {
    const fn = `KvCache.${name}`;
    const { config, handle, length } = this.#state;
    const cache = cacheAddress(fn, this);
    const shape: Shape4 = [config.batch, config.numKvHeads, length, width];
    const call = new Call(handle.instance, fn);
    const slot = call.output(name, shape);
    if (name === 'keys') call.run('readKeys', { cache, keys: slot });
    else call.run('readValues', { cache, values: slot });
    return { data: call.read(slot), shape };
  }
}

/** Where the cache is. */
export const cacheAddress = (fn: string, cache: KvCache): Address =>
  stateOf(cache).handle.live(fn, 'cache');

/** The cache of a call, checked to be of this engine and alive before anything else is done with it. */
export function cacheOf(
  instance: Instance,
  fn: string,
  { cache }: AttentionOptions,
): KvCache | undefined {
  if (!isCache(cache)) return undefined;
  const { handle } = stateOf(cache);
  if (handle.address !== undefined && !instance.sharesMemoryWith(handle.instance)) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: cache is of another engine, expected one of this engine`,
    );
  }
  cacheAddress(fn, cache);
  return cache;
}

/** Drops all but the first tokens. */
function keepOnly(fn: string, cache: KvCache, length: number): void {
  const state = stateOf(cache);
  const { instance } = state.handle;
  instance.run(fn, 'truncateCache', { cache: cacheAddress(fn, cache), length });
  state.length = length;
}

/**
 * Runs a call in which the core appends `count` tokens to a cache, if there is one. A call that lost a thread has
 * appended them, but the cache forgets them, so that the call may be made again.
 */
export function appending(
  fn: string,
  cache: KvCache | undefined,
  count: number,
  run: () => void,
): void {
  try {
    run();
  } catch (error) {
    if (cache && (error as QkvError).code === 'thread_lost') keepOnly(fn, cache, cache.length);
    throw error;
  }
  if (cache) stateOf(cache).length += count;
}

export function kvCache(instance: Instance, options: CacheOptions): KvCache {
  const fn = 'kvCache';
  const names = ['batch', 'numKvHeads', 'capacity', 'dK', 'dV', 'format'] as const;
  const {
    batch = 1,
    numKvHeads,
    capacity,
    dK,
    dV = dK,
    format = 'f32',
  } = takeOptions(fn, 'options', options, names);
  const config = { batch, numKvHeads, capacity, dK, dV };
  for (const [name, value] of Object.entries(config)) {
    checkInteger(fn, name, value, name === 'capacity' ? 0 : 1, mostInt);
  }
  checkChoice(fn, 'format', format, ['f32', 'bf16', 'int8']);
  const call = new Call(instance, fn);
  call.run('createCache', { ...config, format });
  return new WasmKvCache(instance, config, call.made());
}
