import { attention } from './operators/attention.js';
import {
  checkInteger,
  isCountable,
  mostInt,
  shapeText,
  sizeOf,
  takeNumbers,
  takeShape,
} from './arguments/check.js';
import {
  embedding,
  entropy,
  gelu,
  headStatistics,
  layerNorm,
  learnedEncoding,
  rmsNorm,
  softmax,
} from './operators/arrays.js';
import { createBlock } from './operators/block.js';
import { createCache } from './operators/cache.js';
import { operatorIndex, writeDescriptor } from './memory/abi.js';
import { QkvError, type QkvErrorCode } from './api/errors.js';
import { bufferOf, isInt32Array, isUint8Array, kindOf } from './arguments/values.js';
import { createLayer } from './operators/layer.js';
import type { To } from './arguments/out.js';
import { sinusoidalEncoding, sinusoidalShift } from './operators/positions.js';
import { alibiSlopes, t5RelativeBias, transformerXlBias } from './operators/relative-bias.js';
import { rotaryEmbedding } from './operators/rotary.js';
import { type Address, type RawModule, textAt } from './memory/raw.js';
import { type Destroyer, Handle, WasmTensor } from './memory/tensor.js';
import type {
  ArrayInput,
  AttentionOptions,
  AttentionResult,
  EngineInfo,
  GeluOptions,
  KvCache,
  LayerNormOptions,
  MultiHeadAttention,
  MultiHeadAttentionConfig,
  MultiHeadAttentionWeights,
  NdArray,
  Qkv,
  RmsNormOptions,
  RotaryOptions,
  SinusoidalOptions,
  SoftmaxOptions,
  Tensor,
  TransformerBlock,
  TransformerBlockConfig,
  TransformerBlockWeights,
} from './api/types.js';

/** What an argument of the core is called here. */
const renamed: Readonly<Record<string, string>> = {
  causal_offsets: 'causalOffset',
  additive_mask: 'mask',
  alibi_slopes: 'bias.slopes',
};
const nameInJavaScript = (name: string): string =>
  renamed[name] ?? name.replace(/_[a-z]/g, (letter) => letter.charAt(1).toUpperCase());

/** One WebAssembly instance and everything that lives in it. */
export class Engine implements Qkv {
  readonly info: EngineInfo;
  /** Live tensors and layers. */
  handles = 0;
  #raw: RawModule | undefined;
  #onDispose: () => void;

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
  buffer(fn: string): ArrayBufferLike {
    return this.raw(fn).wasmMemory.buffer;
  }

  /** Room for the arrays of one call. */
  stage(fn: string, floats: number): Address {
    return this.room(fn, this.raw(fn)._stage(floats));
  }

  /** An address that the module made, or the error that kept it from it. */
  room(fn: string, address: Address): Address {
    if (address === 0) throw this.lastError(fn);
    return address >>> 0;
  }

  /** The elements, copied if they stand in this engine's memory, which growth would take away. */
  owned<T extends ArrayLike<number>>(data: T): T {
    if (kindOf(data) === undefined) return data;
    const view = data as unknown as ArrayBufferView;
    if (bufferOf(view) !== this.#raw?.wasmMemory.buffer) return data;
    // Not by slice(), which a subclass may have its own of.
    const copy = isInt32Array(data)
      ? new Int32Array(data)
      : isUint8Array(data)
        ? new Uint8Array(data)
        : new Float32Array(data);
    return copy as ArrayLike<number> as T;
  }

  /**
   * Lets `work` make a block of its own and gives it back at once: the staging block would keep the
   * size of the largest weights for good.
   */
  withRoom(fn: string, work: (room: (floats: number) => Address) => void): void {
    const raw = this.raw(fn);
    let block: Address = 0;
    try {
      work((floats) => {
        block = this.room(fn, raw._createBuffer(floats));
        return raw._bufferData(block) >>> 0;
      });
    } finally {
      if (block !== 0) raw._destroyBuffer(block);
    }
  }

  /** Frees what a handle stands for; nothing to do once the engine is disposed. */
  destroy(destroyer: Destroyer, handle: Address): void {
    if (!this.#raw) return;
    if (destroyer === 'block') {
      this.#raw._destroyBuffer(handle);
      return;
    }
    writeDescriptor(this.buffer(destroyer), this.#raw._descriptor() >>> 0, [], { handle });
    this.#raw._run(operatorIndex[destroyer]);
  }

  tensor(givenShape: readonly number[], data?: ArrayLike<number>): Tensor {
    const fn = 'tensor';
    this.raw(fn);
    const shape = takeShape(fn, 'the tensor', givenShape);
    const length = sizeOf(shape);
    checkInteger(fn, 'the number of elements', length, 0, 2 ** 30);
    if (!isCountable(shape)) {
      throw new QkvError(
        'out_of_range',
        `${fn}: the shape is ${shapeText(shape)}, expected extents whose product is at most ${mostInt} ` +
          'but for those that are 0',
      );
    }
    const own =
      data === undefined
        ? undefined
        : this.owned(
            takeNumbers(fn, 'data', data, [length, `${length} for shape ${shapeText(shape)}`]),
          );
    const address = this.room(fn, this.raw(fn)._createBuffer(Math.max(length, 1)));
    const tensor = new WasmTensor(this, shape, length, new Handle(this, address, 'block'));
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

  kvCache(options: Parameters<Qkv['kvCache']>[0]): KvCache {
    return createCache(this, options);
  }

  multiHeadAttention(
    config: MultiHeadAttentionConfig,
    weights: MultiHeadAttentionWeights,
  ): MultiHeadAttention {
    return createLayer(this, config, weights);
  }

  transformerBlock(
    config: TransformerBlockConfig,
    weights: TransformerBlockWeights,
  ): TransformerBlock {
    return createBlock(this, config, weights);
  }

  sinusoidalEncoding(length: number, dModel: number, options: To<SinusoidalOptions> = {}): NdArray {
    return sinusoidalEncoding(this, length, dModel, options);
  }

  sinusoidalShift(
    k: number,
    dModel: number,
    options: Parameters<Qkv['sinusoidalShift']>[2] = {},
  ): NdArray {
    return sinusoidalShift(this, k, dModel, options);
  }

  rotaryEmbedding(x: ArrayInput, options: To<RotaryOptions> = {}): NdArray {
    return rotaryEmbedding(this, x, options);
  }

  alibiSlopes(numHeads: number): Float32Array {
    return alibiSlopes(this, numHeads);
  }

  t5RelativeBias(
    table: NdArray,
    queryLength: number,
    keyLength: number,
    options: Parameters<Qkv['t5RelativeBias']>[3] = {},
  ): NdArray {
    return t5RelativeBias(this, table, [queryLength, keyLength], options);
  }

  transformerXlBias(q: ArrayInput, r: NdArray, v: NdArray): NdArray {
    return transformerXlBias(this, q, r, v);
  }

  learnedEncoding(
    table: NdArray,
    length: number,
    options: Parameters<Qkv['learnedEncoding']>[2] = {},
  ): NdArray {
    return learnedEncoding(this, table, length, options);
  }

  layerNorm(x: ArrayInput, options: To<LayerNormOptions> = {}): NdArray {
    return layerNorm(this, x, options);
  }

  rmsNorm(x: ArrayInput, options: To<RmsNormOptions> = {}): NdArray {
    return rmsNorm(this, x, options);
  }

  gelu(x: ArrayInput, options: To<GeluOptions> = {}): NdArray {
    return gelu(this, x, options);
  }

  softmax(x: ArrayInput, options: To<SoftmaxOptions> = {}): NdArray {
    return softmax(this, x, options);
  }

  embedding(table: NdArray, ids: Int32Array): NdArray {
    return embedding(this, table, ids);
  }

  entropy(weights: ArrayInput): NdArray {
    return entropy(this, weights);
  }

  headStatistics(weights: ArrayInput): ReturnType<Qkv['headStatistics']> {
    return headStatistics(this, weights);
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
    // It knows the module, for the threads' sake, and would keep the memory as long as this object.
    this.#onDispose = () => undefined;
  }

  /** The core's last failure, in the name of `fn`. */
  lastError(fn: string): QkvError {
    const raw = this.raw(fn);
    const code = textAt(raw, raw._statusName(raw._lastCode())) as QkvErrorCode;
    // The core names its own function, whose name in JavaScript is `fn`, and its own arguments.
    const message = textAt(raw, raw._lastMessage())
      .replace(/^(?!out of memory)[\w:]+: /, '')
      .replace(/^(?:attention\.)?rotary: /, 'rotary.')
      .replace(/\b[a-z]+\d?(?:_[a-z]+)+/g, nameInJavaScript)
      .replace(/ is -?nan\b/, ' is NaN')
      .replace(/\binf\b/, 'Infinity');
    return new QkvError(code, `${fn}: ${message}`);
  }
}
