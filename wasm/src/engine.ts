import { attention } from './attention.js';
import { checkInteger, checkNumbers, checkShape, sizeOf } from './check.js';
import { type CallWords, writeDescriptor } from './descriptor.js';
import { QkvError, type QkvErrorCode } from './error.js';
import { createLayer } from './layer.js';
import { sinusoidalEncoding, sinusoidalShift } from './positional.js';
import type { Address, RawModule } from './raw.js';
import { Handle, WasmTensor } from './tensor.js';
import type {
  ArrayInput,
  AttentionOptions,
  AttentionResult,
  EngineInfo,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  NdArray,
  Qkv,
  Tensor,
} from './types.js';

/** One WebAssembly instance and everything that lives in it. */
export class Engine implements Qkv {
  readonly info: EngineInfo;
  /** Live tensors and layers. */
  handles = 0;
  #raw: RawModule | undefined;
  readonly #onDispose: () => void;

  constructor(raw: RawModule, info: EngineInfo, onDispose: () => void) {
    this.#raw = raw;
    this.info = Object.freeze(info);
    this.#onDispose = onDispose;
  }

  get alive(): boolean {
    return this.#raw !== undefined;
  }

  /** The module, for the function named in the error if the engine is disposed. */
  raw(fn: string): RawModule {
    if (!this.#raw) {
      throw new QkvError('disposed', `${fn}: the engine is disposed, expected a live one`);
    }
    return this.#raw;
  }

  /** The memory as it is now; it is another object after every growth. */
  buffer(fn: string): ArrayBuffer {
    return this.raw(fn).wasmMemory.buffer;
  }

  /** Room for the arrays of one call. */
  stage(fn: string, floats: number): Address {
    return this.room(fn, this.raw(fn)._stage(floats));
  }

  /** An address that the module made, or the error that kept it from it. */
  room(fn: string, address: Address): Address {
    if (address === 0) throw this.#lastError(fn);
    return address >>> 0;
  }

  /** The elements, copied if they stand in this engine's memory, which growth would take away. */
  owned<T extends ArrayLike<number>>(data: T): T {
    const inside = ArrayBuffer.isView(data) && data.buffer === this.#raw?.wasmMemory.buffer;
    return inside ? (data as unknown as { slice(): T }).slice() : data;
  }

  /** Writes the descriptor of a call. */
  describe(fn: string, words: CallWords): void {
    writeDescriptor(this.buffer(fn), this.raw(fn)._descriptor(), words);
  }

  /** Throws what the core reported. */
  succeed(fn: string, code: number): void {
    if (code !== 0) throw this.#lastError(fn);
  }

  tensor(shape: readonly number[], data?: ArrayLike<number>): Tensor {
    const fn = 'tensor';
    checkShape(fn, 'the tensor', shape);
    const length = sizeOf(shape);
    checkInteger(fn, 'the number of elements', length, 0, 2 ** 30);
    if (data !== undefined) {
      checkNumbers(fn, 'data', data);
      if (data.length !== length) {
        throw new QkvError(
          'shape_mismatch',
          `${fn}: data has ${data.length} elements, expected ${length} for shape [${shape.join(',')}]`,
        );
      }
    }
    const raw = this.raw(fn);
    const own = data && this.owned(data);
    const address = this.room(fn, raw._createBuffer(Math.max(length, 1)));
    const handle = new Handle(this, address, '_destroyBuffer');
    const tensor = new WasmTensor(this, shape, length, handle);
    if (own) tensor.set(own);
    else tensor.view().fill(0);
    return tensor;
  }

  attention(
    q: ArrayInput,
    k: ArrayInput,
    v: ArrayInput,
    options: AttentionOptions = {},
  ): AttentionResult {
    return attention(this, [q, k, v], options);
  }

  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention {
    return createLayer(this, config, weights);
  }

  sinusoidalEncoding(
    length: number,
    dModel: number,
    options: Parameters<Qkv['sinusoidalEncoding']>[2] = {},
  ): NdArray {
    return sinusoidalEncoding(this, length, dModel, options);
  }

  sinusoidalShift(
    k: number,
    dModel: number,
    options: Parameters<Qkv['sinusoidalShift']>[2] = {},
  ): NdArray {
    return sinusoidalShift(this, k, dModel, options);
  }

  memory(): { heapBytes: number; usedBytes: number; handles: number } {
    return {
      heapBytes: this.buffer('memory').byteLength,
      usedBytes: this.raw('memory')._allocatedBytes(),
      handles: this.handles,
    };
  }

  dispose(): void {
    if (!this.#raw) return;
    this.#raw = undefined;
    this.handles = 0;
    this.#onDispose();
  }

  /** The core's last failure in the name of `fn`, unless its message names a function already. */
  #lastError(fn: string): QkvError {
    const raw = this.raw(fn);
    const code = this.#text(raw, raw._statusName(raw._lastCode())) as QkvErrorCode;
    // The core names its own function, whose name in JavaScript is `fn`.
    const message = this.#text(raw, raw._lastMessage()).replace(/^(?!out of memory)[\w:]+: /, '');
    return new QkvError(code, `${fn}: ${message}`);
  }

  #text(raw: RawModule, address: Address): string {
    const bytes = new Uint8Array(raw.wasmMemory.buffer, address >>> 0);
    return String.fromCharCode(...bytes.subarray(0, bytes.indexOf(0)));
  }
}
