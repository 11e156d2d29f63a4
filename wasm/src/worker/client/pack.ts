// Arguments on their way to a worker: handles become marks, arrays are copied or moved at the time of the
// call, and what cannot be sent is refused by name before anything is.

import { bufferOf, describe, tagOf } from '../../arguments/values.js';
import { plainView } from '../../arguments/views.js';
import { QkvError } from '../../api/errors.js';
import { Remote } from './handles.js';
import { descend, handleKey, isPlain, rebuild } from '../protocol/messages.js';

/** Deeper than any argument of the package, so it holds itself or is none of ours. */
const deepest = 8;

/** More than any array that is not full of holes has; to look at each hole would take minutes. */
const mostElements = 2 ** 27;

/** A handle among the arguments of a call, and what the caller calls it. */
export interface Used {
  readonly name: string;
  readonly handle: Remote;
}

/** Arguments as they are sent, and the buffers that go with them instead of a copy. */
interface Sealed {
  readonly args: readonly unknown[];
  readonly transfer: readonly ArrayBuffer[];
}

const isDetached = (buffer: ArrayBufferLike): boolean => {
  try {
    return new Uint8Array(buffer).length < 0;
  } catch {
    return true;
  }
};

const isShared = (buffer: ArrayBufferLike): boolean => tagOf(buffer) === 'SharedArrayBuffer';
const isUnshared = (buffer: ArrayBufferLike): buffer is ArrayBuffer => !isShared(buffer);

/** A page that is not isolated may have shared memory, but not send it. */
const sharesMemory = (): boolean =>
  (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;

/** The same kind of view, of another buffer. */
function viewOf(view: ArrayBufferView, buffer: ArrayBufferLike): ArrayBufferView {
  const kind = tagOf(view);
  const views = globalThis as unknown as Record<
    string,
    new (buffer: ArrayBufferLike) => ArrayBufferView
  >;
  return new (views[kind] ?? DataView)(buffer);
}

function copyOf({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBuffer {
  if (!isShared(buffer)) {
    return (buffer as ArrayBuffer).slice(byteOffset, byteOffset + byteLength);
  }
  const bytes = new Uint8Array(byteLength);
  bytes.set(new Uint8Array(buffer, byteOffset, byteLength));
  return bytes.buffer;
}

/** The elements in another buffer, without a copy and gone from here; undefined if that cannot be. */
function moved(buffer: ArrayBufferLike): ArrayBuffer | undefined {
  try {
    return structuredClone(buffer as ArrayBuffer, { transfer: [buffer as ArrayBuffer] });
  } catch {
    return undefined;
  }
}

export class Parcel {
  readonly used: Used[] = [];
  readonly #fn: string;
  readonly #args: readonly unknown[];
  readonly #plainViews = new Map<ArrayBufferView, ArrayBufferView>();

  /** Looks at the arguments; nothing is copied yet, nor moved. `names` are what messages call them. */
  constructor(fn: string, names: readonly string[], args: readonly unknown[]) {
    this.#fn = fn;
    this.#args = args.map((value, i) => {
      const name = names[i] ?? `argument ${i + 1}`;
      // Fields of options are named without them, as everywhere.
      const isOptions = name === 'options';
      const look = (part: unknown, path: string, depth: number): unknown =>
        this.#look(part, path || name, depth);
      return rebuild(value, isOptions ? '' : name, look, isOptions ? 0 : 1);
    });
  }

  /** The arguments as they are sent, in buffers that nobody else has. `mayMove` is the option `transfer`. */
  seal(mayMove: boolean): Sealed {
    const copies = new Map<ArrayBufferView, ArrayBufferView>();
    const send = (view: ArrayBufferView): ArrayBufferView => {
      if (isShared(view.buffer) && sharesMemory()) return view;
      const isAll = view.byteLength === view.buffer.byteLength;
      // What is moved is moved last: other views of the same buffer are still to be copied.
      if (!mayMove || !isAll || isShared(view.buffer)) return viewOf(view, copyOf(view));
      return view;
    };
    const views = new Set(this.#plainViews.values());
    try {
      for (const view of views) copies.set(view, send(view));
      const whole = new Map<ArrayBufferLike, ArrayBufferLike>();
      for (const view of views) {
        if (copies.get(view) !== view || isShared(view.buffer)) continue;
        // viewOf() first asks what kind it is, which a detached view still knows.
        const { buffer } = view;
        const home = whole.get(buffer) ?? moved(buffer) ?? copyOf(view);
        whole.set(buffer, home);
        copies.set(view, viewOf(view, home));
      }
    } catch (error) {
      throw new QkvError(
        'out_of_memory',
        `${this.#fn}: out of memory for a copy of the arguments (${String(error)})`,
        { cause: error },
      );
    }
    const args = this.#args.map((value) =>
      rebuild(value, '', (part) => {
        if (part instanceof Remote) return { [handleKey]: part.id };
        if (ArrayBuffer.isView(part)) return copies.get(part);
        return isPlain(part) ? descend : part;
      }),
    );
    const buffers = Array.from(copies.values(), ({ buffer }) => buffer);
    return { args, transfer: [...new Set(buffers)].filter(isUnshared) };
  }

  #look(value: unknown, path: string, depth: number): unknown {
    if (value instanceof Remote) {
      this.used.push({ name: path, handle: value });
      return value;
    }
    if (ArrayBuffer.isView(value)) {
      if (isDetached(bufferOf(value))) this.#refuse(path, `a detached ${describe(value)}`);
      return this.#plain(value);
    }
    if (isPlain(value)) {
      if (Array.isArray(value) && value.length > mostElements) {
        this.#refuse(path, `an array of ${value.length} elements`);
      }
      if (depth > deepest) this.#refuse(path, 'nested too deeply');
      return descend;
    }
    const isObject = typeof value === 'object' && value !== null;
    if (isObject && 'dispose' in value) {
      this.#refuse(path, `a ${describe(value)} of the main thread's engine`);
    }
    try {
      return isObject || typeof value === 'function' || typeof value === 'symbol'
        ? structuredClone(value)
        : value;
    } catch {
      return this.#refuse(path, describe(value));
    }
  }

  /** A view as its kind makes it, once for each: a subclass may say anything of itself. */
  #plain(view: ArrayBufferView): ArrayBufferView {
    const known = this.#plainViews.get(view) ?? plainView(view);
    this.#plainViews.set(view, known);
    return known;
  }

  #refuse(path: string, was: string): never {
    throw new QkvError(
      'invalid_argument',
      `${this.#fn}: ${path} is ${was}, expected a value that can be sent to a worker: numbers, text, arrays and ` +
        'plain objects of them, and tensors and caches of this engine',
    );
  }
}
