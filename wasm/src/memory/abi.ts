// The arguments of a call as words: the writer for the layout that follows from wasm/bindings/schema.js, and the
// types of what it writes.

import type { groups, operators } from '../../bindings/schema.js';
import type { Address } from './raw.js';

type Groups = typeof groups;
type Operators = typeof operators;
export type Operator = keyof Operators;

/** Where and what shape an array is. */
export interface Placed {
  readonly address: Address;
  readonly shape: readonly number[];
}

type ArrayKind = 'floats' | 'ints' | 'bytes' | 'results';
type KindOf<Field> = Field extends { kind: infer Kind } ? Kind : Field;
type MayLack<Field> =
  KindOf<Field> extends ArrayKind | 'number?' | 'whole?' | 'flag'
    ? true
    : Field extends { object: string } | { optional: true }
      ? true
      : false;

type Value<Field> =
  KindOf<Field> extends ArrayKind
    ? Placed
    : Field extends 'flag'
      ? boolean
      : Field extends { choice: readonly (infer Word)[] }
        ? Word
        : Field extends { group: infer Name extends keyof Groups }
          ? Values<Groups[Name]>
          : number;

/** What the fields hold: arrays, flags, objects and what is optional may be left out. */
type Values<Fields> = {
  readonly [Name in keyof Fields as MayLack<Fields[Name]> extends true ? never : Name]: Value<
    Fields[Name]
  >;
} & {
  readonly [Name in keyof Fields as MayLack<Fields[Name]> extends true ? Name : never]?:
    Value<Fields[Name]> | undefined;
};

/** The arguments of an operator. */
export type Arguments<Name extends Operator> = Values<Operators[Name]['fields']>;
/** The fields of a group. */
export type Group<Name extends keyof Groups> = Values<Groups[Name]>;

/** A field and its kind, as tools/abi.js has them: a list is the words of a choice, or the fields of a group. */
type Layout = readonly (readonly [name: string, code: Code])[];
type Code =
  | 'array'
  | 'number'
  | 'optional'
  | readonly string[]
  | { readonly fields: Layout; readonly isOptional: boolean };

/** A group is its name after > or, if it may be left out, after ?. */
function layoutOf(fields: Readonly<Record<string, string | readonly string[]>>): Layout {
  return Object.entries(fields).map(([name, code]) => [name, codeOf(code)]);
}
function codeOf(code: string | readonly string[]): Code {
  if (code === 'a') return 'array';
  if (code === 'n' || code === 'f') return 'number';
  if (code === 'o') return 'optional';
  if (typeof code !== 'string') return code;
  const group = QKV_ABI.groups[code.slice(1)];
  if (!group) throw new RangeError(`no group ${code}`);
  const fields = layoutOf(group);
  return { fields, isOptional: code.startsWith('?') };
}

const layouts = Object.entries(QKV_ABI.operators).map(([name, fields], index) => ({
  ...{ name, index },
  fields: layoutOf(fields),
}));
const byName = new Map(layouts.map((operator) => [operator.name, operator]));

/** The hash of the schema, which the .wasm carries too. */
export const abiHash = QKV_ABI.hash;

/** Words of 8 bytes in an array: its address and rank, and four extents. */
const arrayWords = 3;

/** Writes arguments to the block of a module, in the memory as it is now: growth takes that away. */
export class Writer {
  readonly memory: ArrayBufferLike;
  readonly #halves: Int32Array;
  readonly #words: Float64Array;
  #at = 0;

  constructor(memory: ArrayBufferLike, block: Address) {
    this.memory = memory;
    this.#halves = new Int32Array(memory, block);
    this.#words = new Float64Array(memory, block);
  }

  /** The arguments of one call, all of its operator's words and no others. Returns the number of the operator. */
  call<Name extends Operator>(operator: Name, values: Arguments<Name>): number {
    const known = byName.get(operator);
    if (!known) throw new RangeError(`no operator ${operator}`);
    this.#at = 0;
    this.#write(known.fields, values);
    return known.index;
  }

  #write(layout: Layout, values: Readonly<Record<string, unknown>> | undefined): void {
    for (const [name, code] of layout) {
      const value = values?.[name];
      if (code === 'array') this.#array(value as Placed | undefined);
      else if (code === 'number') this.#number(value === undefined ? 0 : Number(value));
      else if (code === 'optional') this.#number(value === undefined ? NaN : Number(value));
      else if ('fields' in code) {
        if (code.isOptional) this.#number(value === undefined ? 0 : 1);
        this.#write(code.fields, value as typeof values);
      } else this.#number(Math.max(code.indexOf(String(value)), 0));
    }
  }

  #number(value: number): void {
    this.#words[this.#at] = value;
    this.#at += 1;
  }

  /** Rank 0 is an array that is not given. */
  #array(array: Placed | undefined): void {
    const half = this.#at * 2;
    this.#halves[half] = array?.address ?? 0;
    this.#halves[half + 1] = array?.shape.length ?? 0;
    const shape = array?.shape ?? [];
    for (let axis = 0; axis < shape.length; axis += 1) {
      this.#halves[half + 2 + axis] = shape[axis] ?? 0;
    }
    this.#at += arrayWords;
  }
}
