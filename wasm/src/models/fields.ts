// The fields of a stranger's config, each read once and checked: of the JSON of a hub, of the metadata of GGUF, of ours.

import { mostInt } from '../arguments/numbers.js';
import { describe, isArray, isObject, isRecord, nearest, reading } from '../arguments/values.js';
import { refuse, refuseUnsupported } from './errors.js';
import { TextList } from './text-list.js';

export class Fields {
  /** `name` is what messages call it, `values` its fields; null is as good as nothing. */
  constructor(
    readonly name: string,
    private readonly values: ReadonlyMap<string, unknown>,
    private readonly prefix = '',
  ) {}

  static of(name: string, value: unknown): Fields {
    if (!isObject(value)) refuse(`${name} is ${describe(value)}`, 'an object');
    // By Object.entries(), which knows nothing of a prototype.
    return new Fields(name, new Map(reading('load', name, () => Object.entries(value))));
  }

  #stored(field: string): unknown {
    return this.values.get(this.prefix + field) ?? undefined;
  }

  get(field: string): unknown {
    const value = this.#stored(field);
    return TextList.is(value) ? value.all() : value;
  }

  has(field: string): boolean {
    return this.#stored(field) !== undefined;
  }

  /** Whether it is there and says that there is nothing. */
  isNull(field: string): boolean {
    return this.values.get(this.prefix + field) === null;
  }

  /** Of the fields there are, without the prefix. */
  names(): string[] {
    const all = [...this.values.keys()].filter((name) => name.startsWith(this.prefix));
    return all.map((name) => name.slice(this.prefix.length));
  }

  /** Under this prefix. */
  under(prefix: string): Fields {
    return new Fields(this.name, this.values, prefix);
  }

  /** What can be compared of a field that is an object. */
  textOf(field: string): string {
    return reading('load', this.pathOf(field), () => JSON.stringify(this.get(field)));
  }

  /** A field that is an object itself, unless it says nothing. */
  part(field: string): Fields | undefined {
    return this.isEmpty(field) ? undefined : Fields.of(this.pathOf(field), this.get(field));
  }

  pathOf(field: string): string {
    return `${this.name}.${this.prefix}${field}`;
  }

  /** The value, or what stands for one that is not there. */
  #read<T>(
    field: string,
    fallback: T | undefined,
    isRight: (value: unknown) => boolean,
    kind: string,
  ): T {
    const value = this.get(field) ?? fallback;
    if (!isRight(value)) refuse(`${this.pathOf(field)} is ${describe(value)}`, kind);
    return value as T;
  }

  /** A whole number that the core holds, at least 1 unless `least` says so. */
  count(field: string, fallback?: number, least = 1): number {
    const isRight = (value: unknown): boolean =>
      Number.isInteger(value) && Number(value) >= least && Number(value) <= mostInt;
    return this.#read(field, fallback, isRight, `a whole number of ${least} to ${mostInt}`);
  }

  /** As count(), where a list may have the same for each of so many layers. */
  perLayer(field: string, layers: number, fallback?: number): number {
    const value = this.get(field);
    if (!isArray(value)) return this.count(field, fallback);
    const all: readonly unknown[] = value;
    const path = this.pathOf(field);
    if (all.length !== layers) refuse(`${path} has ${all.length} layers`, `${layers}`);
    const other = all.find((each) => each !== all[0]);
    if (other !== undefined) {
      refuseUnsupported(
        `${path} has ${describe(all[0])} and ${describe(other)}`,
        'the same number in every layer',
      );
    }
    return new Fields(this.name, new Map([[this.prefix + field, all[0]]]), this.prefix).count(
      field,
    );
  }

  number(field: string, fallback?: number): number {
    const isRight = (value: unknown): boolean =>
      typeof value === 'number' && Number.isFinite(Math.fround(value));
    return this.#read(field, fallback, isRight, 'a number');
  }

  flag(field: string, fallback?: boolean): boolean {
    return this.#read(field, fallback, (value) => typeof value === 'boolean', 'true or false');
  }

  text(field: string, fallback?: string): string {
    return this.#read(field, fallback, (value) => typeof value === 'string', 'a text');
  }

  /** A list of numbers. */
  numbers(field: string): readonly number[] {
    const list =
      this.list(field) ?? refuse(`${this.pathOf(field)} is missing`, 'a list of numbers');
    const isRight = (value: unknown): boolean => Number.isFinite(Math.fround(Number(value)));
    const other = list.find((value) => typeof value !== 'number' || !isRight(value));
    if (other !== undefined)
      refuse(`${this.pathOf(field)} has ${describe(other)}`, 'a list of numbers');
    return list as readonly number[];
  }

  list(field: string): readonly unknown[] | undefined {
    if (!this.has(field)) return undefined;
    return this.#read<unknown[]>(field, undefined, (value) => isArray(value), 'a list');
  }

  /** A list of texts that need not be decoded; undefined for another list. */
  texts(field: string): TextList | undefined {
    const value = this.#stored(field);
    if (TextList.is(value)) return value;
    this.list(field);
    return undefined;
  }

  /** One of the words of a table, as what the table has for it. Others may be right, but change what is computed. */
  choice<T>(field: string, table: Readonly<Record<string, T>>, fallback?: string): T {
    const word = this.text(field, fallback);
    const found = new Map(Object.entries(table)).get(word);
    if (found === undefined) {
      const known = Object.keys(table);
      const meant = nearest(known, word);
      const first = meant === undefined ? '' : `${describe(meant)} or another of `;
      refuseUnsupported(
        `${this.pathOf(field)} is ${describe(word)}`,
        `${first}${known.join(', ')}`,
      );
    }
    return found;
  }

  /** Whether it says nothing: it is null, or an empty list or object. */
  isEmpty(field: string): boolean {
    const value = this.get(field);
    if (!isRecord(value)) return value === undefined;
    return reading('load', this.pathOf(field), () => Object.keys(value).length === 0);
  }

  /** What changes what is computed in a way that nothing here knows, unless it is one of these or says nothing. */
  only(field: string, ...allowed: readonly unknown[]): void {
    const value = this.get(field);
    if (this.isEmpty(field) || allowed.includes(value)) return;
    const expected = allowed.length > 0 ? allowed.map(describe).join(', ') : 'a file without it';
    refuseUnsupported(`${this.pathOf(field)} is ${describe(value)}`, expected);
  }
}

/** The first of these fields that is there. */
export const oneOf = (fields: Fields, ...names: [string, ...string[]]): string =>
  names.find((name) => fields.has(name)) ?? names[0];

/** Which of these places has a field that may stand in any of them; those that have it say the same. */
export function agreed(
  ...places: readonly (readonly [Fields | undefined, string])[]
): [Fields, string] | undefined {
  const there = places.flatMap(([of, name]) =>
    of?.has(name) ? [[of, name] as [Fields, string]] : [],
  );
  const say = ([of, name]: [Fields, string]): string =>
    `${of.pathOf(name)} is ${describe(of.get(name))}`;
  const [first] = there;
  const other = first && there.find(([of, name]) => of.get(name) !== first[0].get(first[1]));
  if (other) refuse(`${say(first)} and ${say(other)}`, 'the same in both');
  return first;
}
