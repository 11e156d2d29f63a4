// The arguments of a call as words: the writer for the layout that follows from wasm/bindings/schema.js, and the
// types of what it writes. Those of qkv/models, qkv/train and qkv/spectra are known here by their types alone.

import type { groups, operators } from '../../bindings/schema.js';
import type * as models from '../../bindings/models/schema.js';
import type * as spectra from '../../bindings/spectra/schema.js';
import type * as train from '../../bindings/train/schema.js';
import type { Address } from './raw.js';

type Groups = typeof groups & typeof models.groups & typeof train.groups;
type Operators = typeof operators &
  typeof models.operators &
  typeof train.operators &
  typeof spectra.operators;
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
    | Value<Fields[Name]>
    | undefined;
};

/** The arguments of an operator. */
export type Arguments<Name extends Operator> = Values<Operators[Name]['fields']>;
/** The fields of a group. */
export type Group<Name extends keyof Groups> = Values<Groups[Name]>;

/** What a field is: a list is the words of a choice. */
type Code =
  | 'array'
  | 'number'
  | readonly string[]
  | { readonly layout: Layout; readonly isOptional: boolean };

/** Where the fields of a record go, in words of 8 bytes from its beginning. */
interface Layout {
  readonly fields: ReadonlyMap<string, { readonly at: number; readonly code: Code }>;
  /** The words of a record in which nothing is given. */
  readonly blank: Float64Array;
}

/** Words in an array: its address and rank, and four extents. */
const arrayWords = 3;

/** What tools/abi.js wrote of a record: the code of each field. */
type WrittenRecord = Readonly<Record<string, string | readonly string[]>>;
type WrittenRecords = Readonly<Record<string, WrittenRecord>>;

/** What it wrote of a schema, or of a part of one. */
export interface WrittenAbi {
  readonly hash: string;
  /** The number of the first operator, of a part. */
  readonly first?: number;
  readonly groups: WrittenRecords;
  readonly operators: WrittenRecords;
}

/** The code of a field and its words where it is not given. */
function fieldOf(
  code: string | readonly string[],
  groups: WrittenRecords,
): [Code, readonly number[]] {
  if (code === 'a') return ['array', Array<number>(arrayWords).fill(0)];
  if (code === 'n' || code === 'f') return ['number', [0]];
  if (code === 'o') return ['number', [NaN]];
  if (typeof code !== 'string') return [code, [0]];
  // A group is its name after > or, if it may be left out, after ?: a word says then whether it is there.
  const group = groups[code.slice(1)];
  if (!group) throw new RangeError(`no group ${code}`);
  const layout = layoutOf(group, groups);
  const isOptional = code.startsWith('?');
  return [{ layout, isOptional }, isOptional ? [0, ...layout.blank] : [...layout.blank]];
}

function layoutOf(record: WrittenRecord, groups: WrittenRecords): Layout {
  const fields = new Map<string, { at: number; code: Code }>();
  const blank: number[] = [];
  for (const [name, kind] of Object.entries(record)) {
    const [code, words] = fieldOf(kind, groups);
    fields.set(name, { at: blank.length, code });
    blank.push(...words);
  }
  return { fields, blank: Float64Array.from(blank) };
}

/** The operators of a module: the number of each and the layout of its arguments. */
export interface Abi {
  /** The hash of the schema, which the .wasm carries too. */
  readonly hash: string;
  /** Those that are known so far: qkv/models adds its own when it meets an engine. */
  readonly operators: Map<string, { readonly index: number; readonly layout: Layout }>;
}

export const readAbi = ({ hash, first = 0, groups, operators }: WrittenAbi): Abi => ({
  hash,
  operators: new Map(
    Object.entries(operators).map(([name, record], i) => [
      name,
      { index: first + i, layout: layoutOf(record, groups) },
    ]),
  ),
});

/** That of the operators which every program has. */
export const written: WrittenAbi = QKV_ABI;

/** Writes arguments to the block of a module, in the memory as it is now: growth takes that away. */
export class Writer {
  readonly memory: ArrayBufferLike;
  readonly #abi: Abi;
  readonly #halves: Int32Array;
  readonly #words: Float64Array;

  constructor(of: Abi, memory: ArrayBufferLike, block: Address) {
    this.memory = memory;
    this.#abi = of;
    this.#halves = new Int32Array(memory, block);
    this.#words = new Float64Array(memory, block);
  }

  /** The arguments of one call, all of its operator's words and no others. Returns the number of the operator. */
  call<Name extends Operator>(operator: Name, values: Arguments<Name>): number {
    const known = this.#abi.operators.get(operator);
    if (!known) throw new RangeError(`no operator ${operator}`);
    this.#words.set(known.layout.blank);
    this.#write(known.layout, values, 0);
    return known.index;
  }

  /** Writes what is given over the blank record that begins at this word: most calls give few of the fields. */
  #write({ fields }: Layout, values: Readonly<Record<string, unknown>>, begin: number): void {
    for (const name in values) {
      const value = values[name];
      const field = value === undefined ? undefined : fields.get(name);
      if (!field) continue;
      const { code } = field;
      const at = begin + field.at;
      if (code === 'array') this.#array(value as Placed, at);
      else if (code === 'number') this.#words[at] = Number(value);
      else if ('layout' in code) {
        if (code.isOptional) this.#words[at] = 1;
        this.#write(code.layout, value as typeof values, code.isOptional ? at + 1 : at);
      } else this.#words[at] = Math.max(code.indexOf(String(value)), 0);
    }
  }

  #array({ address, shape }: Placed, at: number): void {
    const halves = this.#halves;
    halves[at * 2] = address;
    halves[at * 2 + 1] = shape.length;
    for (let axis = 0; axis < shape.length; axis += 1) {
      halves[at * 2 + 2 + axis] = shape[axis] ?? 0;
    }
  }
}
