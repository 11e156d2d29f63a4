// Puts rows of weights into a model, through one block of WebAssembly memory.

import type { Arguments, Group } from '../memory/abi.js';
import { Handle } from '../memory/handle.js';
import type { Address } from '../memory/raw.js';
import type { ModelState } from './model-state.js';

/** Bytes of the block to begin with. */
const usual = 2 ** 20;
/** Every array of a call begins at a multiple of so many bytes. */
const alignment = 64;

/** Rows of one array, at any address of JavaScript's memory. */
interface RowsOfArray {
  readonly name: string;
  readonly type: Arguments<'fillModel'>['type'];
  readonly bytes: Uint8Array;
  readonly count: number;
  readonly rowBytes: number;
  readonly layout: Group<'linearWeights'>['layout'];
  /** float16, of the first row on. */
  readonly scales?: Uint8Array | undefined;
  readonly scaleRowBytes?: number | undefined;
  readonly plus?: number;
  readonly factor?: number;
}

/** Bytes of the scales of rows; with the inputs in rows, 32 of them share theirs. */
function scaleBytes({ scales, scaleRowBytes = 0, layout, count }: RowsOfArray): number {
  const rows = layout === 'in_out' ? Math.ceil(count / 32) : count;
  return scales ? Math.min(rows * scaleRowBytes, scales.length) : 0;
}

export class Filler {
  readonly #fn: string;
  readonly #state: ModelState;
  #block: Handle | undefined;
  #bytes = 0;

  constructor(fn: string, state: ModelState) {
    this.#fn = fn;
    this.#state = state;
  }

  /**
   * So many bytes of the block, for rows without scales, which put() then need not copy. The next call gives them again; any other call of the
   * engine may take them away.
   */
  room(size: number): Uint8Array {
    const at = this.#room(this.#fn, size);
    return new Uint8Array(this.#state.instance.buffer(this.#fn), at, size);
  }

  /** Gives an array its next rows. */
  put(rows: RowsOfArray): void {
    const { name, type, bytes, count, rowBytes, layout, scales, scaleRowBytes = 0 } = rows;
    const { plus = 0, factor = 1 } = rows;
    // Messages tell which array it was.
    const fn = `${this.#fn}: ${name}`;
    const { instance, arrays } = this.#state;
    const array = arrays.get(name);
    if (!array) throw new RangeError(`no array ${name}`);
    const isThere = !scales && bytes.buffer === instance.buffer(fn);
    const scalesAt = Math.ceil(bytes.length / alignment) * alignment;
    const ofScales = scaleBytes(rows);
    const address = isThere ? bytes.byteOffset : this.#room(fn, scalesAt + ofScales);
    if (!isThere) {
      const memory = new Uint8Array(instance.buffer(fn));
      memory.set(bytes, address);
      if (scales) memory.set(scales.subarray(0, ofScales), address + scalesAt);
    }
    instance.run(fn, 'fillModel', {
      ...{ model: this.#state.live(fn), index: array.index, type, count, rowBytes, layout },
      data: { address, shape: [bytes.length] },
      scales: scales && { address: address + scalesAt, shape: [ofScales] },
      ...{ scaleStride: scaleRowBytes / 2, plus, factor },
    });
  }

  dispose(): void {
    this.#block?.dispose();
    this.#block = undefined;
  }

  /** Where the block is, made larger if it has to be. */
  #room(fn: string, bytes: number): Address {
    const { instance } = this.#state;
    if (!this.#block || bytes > this.#bytes) {
      this.dispose();
      this.#bytes = Math.max(bytes, usual);
      // Scales are float16 and may be odd in number; of half a float too few nobody would hear.
      const floats = Math.ceil(this.#bytes / 4);
      const block = instance.room(fn, instance.raw(fn)._createBuffer(floats));
      this.#block = new Handle(this, instance, block, 'block');
    }
    return instance.raw(fn)._bufferData(this.#block.live(fn, 'the engine'));
  }
}
