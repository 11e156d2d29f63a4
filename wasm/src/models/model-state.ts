// What a model has in WebAssembly memory: the object itself, and what is known of it.

import { configFields } from '../language/config.js';
import { keepHandle } from '../language/model-handles.js';
import { type NamedArray, namedArrays } from '../language/named-arrays.js';
import { found } from '../language/rows.js';
import { Call } from '../memory/call.js';
import { Handle } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';
import { keptFormats as order } from './kept.js';
import { adapterFilesOf } from './adapters/adapter-files.js';
import type { ModelSpec } from './model-spec.js';
import { textsOf } from './saved-texts.js';

export class ModelState {
  /** The caller's model, which would pass for forgotten while only its sessions are kept. */
  readonly owner: object;
  readonly instance: Instance;
  readonly spec: ModelSpec;
  readonly arrays: ReadonlyMap<string, NamedArray>;
  readonly parameterCount: number;
  readonly bytes: number;
  readonly #handle: Handle;

  /** Takes the memory of all arrays. */
  constructor(owner: object, fn: string, instance: Instance, spec: ModelSpec) {
    this.owner = owner;
    this.instance = instance;
    this.spec = spec;
    const make = new Call(instance, fn);
    const { config, format, formats = [] } = spec;
    const codes = Int32Array.from(formats, (each) => order.indexOf(each));
    const given = { name: 'formats', source: codes, shape: [codes.length] };
    make.run('createModel', {
      ...{ config: configFields(fn, make, config), format },
      ...(codes.length > 0 && { formats: make.input(given) }),
    });
    const model = make.made();
    this.#handle = new Handle(owner, instance, model, 'destroyModel');
    const call = new Call(instance, fn);
    const slot = call.output('found', [6]);
    call.run('countModel', { model, found: slot });
    const [count = 0, parameters = 0, bytes = 0] = found(call, slot);
    this.parameterCount = parameters;
    this.bytes = bytes;
    this.arrays = namedArrays(
      fn,
      instance,
      count,
      (each, index, out) => each.run('describeModelArray', { model, index, found: out }),
      3, // what they are read as: a type, rows, and the bytes of one
    );
    keepHandle(owner, {
      ...{ instance, config, arrays: this.arrays, live: (of) => this.live(of) },
      texts: (of) => textsOf(of, spec),
      adapters: adapterFilesOf(spec),
    });
  }

  /** Where the model is, for a call of `fn`. */
  live(fn: string): Address {
    return this.#handle.live(fn, 'the model');
  }

  get isAlive(): boolean {
    return this.#handle.address !== undefined;
  }

  dispose(): void {
    this.#handle.dispose();
  }

  /** Says that every array is filled. */
  finish(fn: string): void {
    this.instance.run(fn, 'finishModel', { model: this.live(fn) });
  }
}
