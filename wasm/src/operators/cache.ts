import { Call } from '../memory/call.js';
import { checkArray, checkInteger, type Input, mostInt, shapeText } from '../arguments/check.js';
import type { Engine } from '../engine.js';
import { QkvError } from '../api/errors.js';
import { isRecord, takeOptions } from '../arguments/values.js';
import { checkValues, coreShape, expectedText, headsShape, type HeadsShape } from '../arguments/heads.js';
import { disposeSymbol, forgotten, Handle } from '../memory/tensor.js';
import type { ArrayInput, KvCache, NdArray, Qkv } from '../api/types.js';

type CacheOptions = Parameters<Qkv['kvCache']>[0];

export function createCache(engine: Engine, options: CacheOptions): KvCache {
  const fn = 'kvCache';
  engine.raw(fn);
  const names = ['batch', 'numKvHeads', 'capacity', 'dK', 'dV'];
  const {
    batch = 1,
    numKvHeads,
    capacity,
    dK,
    dV = dK,
  } = takeOptions(fn, 'options', options, names);
  const config = { batch, numKvHeads, capacity, dK, dV };
  for (const [name, value] of Object.entries(config)) {
    checkInteger(fn, name, value, name === 'capacity' ? 0 : 1, mostInt);
  }
  const call = new Call(engine, fn);
  call.run('createCache', config);
  return new WasmKvCache(engine, config, new Handle(engine, call.handle(), 'destroyCache'));
}

export class WasmKvCache implements KvCache {
  readonly capacity: number;
  readonly #engine: Engine;
  readonly #config: Required<CacheOptions>;
  readonly #handle: Handle;
  #length = 0;

  /** Whether it is one itself: a proxy or an heir of one has no memory. */
  static is(value: unknown): value is WasmKvCache {
    return isRecord(value) && #handle in value;
  }

  constructor(engine: Engine, config: Required<CacheOptions>, handle: Handle) {
    this.#engine = engine;
    this.#config = config;
    this.#handle = handle;
    this.capacity = config.capacity;
    forgotten.register(this, handle, this);
  }

  get length(): number {
    return this.#length;
  }

  get [Symbol.toStringTag](): string {
    return 'KvCache';
  }

  /** Throws unless the cache is alive and of this engine. */
  check(engine: Engine, fn: string): void {
    if (engine !== this.#engine) {
      throw new QkvError(
        'invalid_argument',
        `${fn}: cache is of another engine, expected one of this engine`,
      );
    }
    this.address(fn);
  }

  /** Where it is. Asked for last: until then a getter of the caller may have disposed it. */
  address(fn: string): number {
    const { address } = this.#handle;
    if (address === undefined) {
      throw new QkvError('disposed', `${fn}: cache is disposed, expected a live one`);
    }
    return address;
  }

  /** The core has appended so many tokens. */
  grow(tokens: number): void {
    this.#length += tokens;
  }

  append(keys: ArrayInput, values: ArrayInput): void {
    const fn = 'KvCache.append';
    this.check(this.#engine, fn);
    const { numKvHeads, dK, dV } = this.#config;
    const k = checkArray(fn, 'keys', keys);
    const v = checkArray(fn, 'values', values);
    const ks = headsShape(fn, k, numKvHeads, 'numKvHeads');
    const vs = headsShape(fn, v, numKvHeads, 'numKvHeads');
    this.#checkWidth(fn, k, ks, dK);
    this.#checkWidth(fn, v, vs, dV);
    checkValues(fn, k, ks, v, vs);
    const call = new Call(this.#engine, fn);
    call.input('k', k, coreShape(ks));
    call.input('v', v, coreShape(vs));
    call.run('appendCache', { cache: this.address(fn), numKvHeads });
    this.grow(ks.tokens);
  }

  keys(): NdArray {
    return this.#read('KvCache.keys', 'k', this.#config.dK);
  }

  values(): NdArray {
    return this.#read('KvCache.values', 'v', this.#config.dV);
  }

  truncate(length: number): void {
    const fn = 'KvCache.truncate';
    this.check(this.#engine, fn);
    checkInteger(fn, 'length', length, 0, this.#length);
    new Call(this.#engine, fn).run('truncateCache', { cache: this.address(fn), length });
    this.#length = length;
  }

  dispose(): void {
    forgotten.unregister(this);
    this.#handle.dispose();
  }

  [disposeSymbol](): void {
    this.dispose();
  }

  /** Keys or values are of the batch and the width that the cache was made for. */
  #checkWidth(fn: string, input: Input, form: HeadsShape, width: number): void {
    const { batch, numKvHeads } = this.#config;
    if (form.batch === batch && form.width === width) return;
    const columns = String(form.split ? numKvHeads * width : width);
    const expected = { batch, heads: String(numKvHeads), tokens: '*', width: columns };
    throw new QkvError(
      'shape_mismatch',
      `${fn}: ${input.name} is ${shapeText(input.shape)}, expected ${expectedText(input, form, expected)}`,
    );
  }

  #read(fn: string, name: 'k' | 'v', width: number): NdArray {
    this.check(this.#engine, fn);
    const { batch, numKvHeads } = this.#config;
    const shape = [batch, numKvHeads, this.#length, width];
    const call = new Call(this.#engine, fn);
    call.output(name, shape);
    call.run('readCache', { cache: this.address(fn) });
    return { data: call.read(name), shape };
  }
}
