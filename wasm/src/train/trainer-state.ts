// What a trainer has in WebAssembly memory: the object itself, and its arrays by name.

import { QkvError } from '../api/errors.js';
import type { OwnedArray } from '../api/types.js';
import type { Input } from '../arguments/arrays.js';
import { sizeOf } from '../arguments/shapes.js';
import { describe } from '../arguments/values.js';
import { type NamedArray, namedArrays } from '../language/named-arrays.js';
import { found, take } from '../language/rows.js';
import type { Arguments } from '../memory/abi.js';
import { Call } from '../memory/call.js';
import { Handle } from '../memory/handle.js';
import type { Instance } from '../memory/instance.js';
import type { Address } from '../memory/raw.js';

/** Which of the arrays that belong to a trained one. */
export type Part = Arguments<'readArray'>['part'];

/** A model whose weights a trainer reads where they are, kept as long as the trainer. */
export interface BaseModel {
  readonly model: object;
  readonly arrays: ReadonlyMap<string, NamedArray>;
  /** Refuses once the model is disposed. */
  live(fn: string): unknown;
}

/** The core's object and what is known of it. */
export class TrainerState {
  /** The caller's trainer, which would pass for forgotten while only its model is kept. */
  readonly owner: object;
  readonly instance: Instance;
  readonly arrays: ReadonlyMap<string, NamedArray>;
  readonly parameterCount: number;
  steps = 0;
  readonly #handle: Handle;
  readonly base: BaseModel | undefined;

  constructor(owner: object, fn: string, instance: Instance, address: Address, base?: BaseModel) {
    this.owner = owner;
    this.instance = instance;
    this.base = base;
    this.#handle = new Handle(owner, instance, address, 'destroyTrainer');
    const call = new Call(instance, fn);
    const slot = call.output('found', [4]);
    call.run('countTrainer', { trainer: address, found: slot });
    const [count = 0, parameters = 0] = found(call, slot);
    this.parameterCount = parameters;
    this.arrays = namedArrays(fn, instance, count, (each, index, out) =>
      each.run('describeArray', { trainer: address, index, found: out }),
    );
  }

  /** Where the trainer is, for a call of `fn`. */
  live(fn: string): Address {
    this.base?.live(fn);
    return this.#handle.live(fn, 'the trainer');
  }

  dispose(): void {
    this.#handle.dispose();
  }

  /** The array of this name. */
  named(fn: string, name: string): NamedArray {
    const trained = this.arrays.get(name);
    if (trained) return trained;
    const expected = [...this.arrays.keys()].join(', ');
    throw new QkvError(
      'invalid_argument',
      `${fn}: name is ${describe(name)}, expected one of ${expected}`,
    );
  }

  read(fn: string, name: string, part: Part): OwnedArray {
    const { index, shape } = this.named(fn, name);
    const call = new Call(this.instance, fn);
    const out = call.output('out', shape);
    call.run('readArray', { trainer: this.live(fn), index, part, out });
    return take(call, out);
  }

  /** Array `index` of the model under adapters, with these added. */
  readMerged(fn: string, { index, shape }: NamedArray): OwnedArray {
    const call = new Call(this.instance, fn);
    const out = call.output('out', shape);
    call.run('readMergedArray', { trainer: this.live(fn), index, out });
    return take(call, out);
  }

  /** `room` is a block to copy through, where a call must not ask for memory. */
  write(fn: string, name: string, part: Part, x: Input, room?: (floats: number) => Address): void {
    const call = new Call(this.instance, fn);
    const { index } = this.named(fn, name);
    const fields = { trainer: this.live(fn), index, part, x: call.input(x) };
    call.run('writeArray', fields, room);
  }

  /** As write(). */
  setSteps(fn: string, steps: number, room: (floats: number) => Address): void {
    new Call(this.instance, fn).run('setTrainerSteps', { trainer: this.live(fn), steps }, room);
    this.steps = steps;
  }

  /** Most numbers of an array. */
  get largest(): number {
    // Not as arguments of one call: of those the stack holds some hundred thousand.
    let most = 0;
    for (const { shape } of this.arrays.values()) most = Math.max(most, sizeOf(shape));
    return most;
  }
}
