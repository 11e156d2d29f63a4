// Puts rows of weights into a model, through blocks of WebAssembly memory.

import type { Group } from '../memory/abi.js';
import type { Arguments, Placed } from '../memory/abi.js';
import { Handle } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import type { ModelState } from './model-state.js';

/** Bytes of the block to begin with. */
const usual = 2 ** 20;
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

/** Memory for arrays of calls, made larger if it has to be. */
class Room {
  readonly #instance: Instance;
  readonly #least: number;
  #block: Handle | undefined;
  #bytes = 0;

  constructor(instance: Instance, least: number) {
    this.#instance = instance;
    this.#least = least;
  }

  /** Where it is; what was there stays, if it is large enough. */
  take(fn: string, bytes: number): Address {
    const instance = this.#instance;
    if (!this.#block || bytes > this.#bytes) {
      this.dispose();
      this.#bytes = Math.max(bytes, this.#least);
      // Scales are float16 and may be odd in number; of half a float too few nobody would hear.
      const block = instance.room(fn, instance.raw(fn)._createBuffer(Math.ceil(this.#bytes / 4)));
      this.#block = new Handle(this, instance, block, 'block');
    }
    return instance.raw(fn)._bufferData(this.#block.live(fn, 'the engine'));
  }

  dispose(): void {
    this.#block?.dispose();
    this.#block = undefined;
  }
}

export class Filler {
  readonly #fn: string;
  readonly #state: ModelState;
  readonly #rows: Room;
  readonly #scales: Room;

  constructor(fn: string, state: ModelState) {
    this.#fn = fn;
    this.#state = state;
    this.#rows = new Room(state.instance, usual);
    this.#scales = new Room(state.instance, 0);
  }

  /**
   * So many bytes of the memory, for rows that put() then need not copy. The next call gives them again; any other call of the engine may
   * take them away.
   */
  room(size: number): Uint8Array {
    const at = this.#rows.take(this.#fn, size);
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
    // Rows first: room for scales may make the memory grow, and take away the array that the rows are in.
    const data = this.#place(fn, this.#rows, bytes);
    const ofScales = scales?.subarray(0, scaleBytes(rows));
    instance.run(fn, 'fillModel', {
      ...{ model: this.#state.live(fn), index: array.index, type, count, rowBytes, layout, data },
      scales: ofScales && this.#place(fn, this.#scales, ofScales),
      ...{ scaleStride: scaleRowBytes / 2, plus, factor },
    });
  }

  dispose(): void {
    this.#rows.dispose();
    this.#scales.dispose();
  }

  /** Where these bytes are in the memory, in which they may be already. */
  #place(fn: string, room: Room, bytes: Uint8Array): Placed {
    const { instance } = this.#state;
    const shape = [bytes.length];
    if (bytes.buffer === instance.buffer(fn)) return { address: bytes.byteOffset, shape };
    const address = room.take(fn, bytes.length);
    new Uint8Array(instance.buffer(fn)).set(bytes, address);
    return { address, shape };
  }
}
