// Values that callers pass, read with care: by code that they cannot change, and each property once, so that
// what was checked is what is used.

import { QkvError } from '../api/errors.js';

export type Numbers32 = Float32Array | Uint8Array | Int32Array;

/** What a property of a prototype says of `value`, whatever `value` itself would say. */
export const reader = (prototype: object, name: PropertyKey): ((value: unknown) => unknown) => {
  const property = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
  return (value): unknown => property.get?.call(value) as unknown;
};
export const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;

/** 'Float32Array' for one of any realm, where instanceof would fail; undefined for what is no typed array. */
export const kindOf = reader(typedArray, Symbol.toStringTag) as (
  value: unknown,
) => string | undefined;
export const lengthOf = reader(typedArray, 'length') as (array: ArrayBufferView) => number;
const bufferOfArray = reader(typedArray, 'buffer') as (array: ArrayBufferView) => ArrayBufferLike;
const bufferOfDataView = reader(DataView.prototype, 'buffer') as typeof bufferOfArray;
export const bufferOf = (view: ArrayBufferView): ArrayBufferLike =>
  kindOf(view) === undefined ? bufferOfDataView(view) : bufferOfArray(view);

export const isFloat32Array = (value: unknown): value is Float32Array =>
  kindOf(value) === 'Float32Array';
export const isInt32Array = (value: unknown): value is Int32Array => kindOf(value) === 'Int32Array';
export const isUint8Array = (value: unknown): value is Uint8Array => kindOf(value) === 'Uint8Array';

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** '[object Float32Array]' without what is around it; what a getter or a proxy may throw is its own. */
export function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice(8, -1);
}

/** Where there are responses at all. */
export const isResponse = (value: unknown): value is Response =>
  typeof Response === 'function' && value instanceof Response;

const typeNames = new Map<unknown, string>([
  [null, 'null'],
  [undefined, 'undefined'],
]);

/** Longer texts than this would hide the rest of a message. */
const longest = 100;
const short = (text: string): string =>
  text.length > longest ? `${text.slice(0, longest)}...` : text;

/** Array.isArray(), which throws for a proxy that was revoked: that is no array either. */
export function isArray(value: unknown): value is unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}

/** An object that is no array, as JSON has them. One that cannot be read counts: whoever reads it says so by its name. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && !isArray(value);

/** What a value is, for a message. */
export function describe(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return short(JSON.stringify(value));
  try {
    if (Array.isArray(value)) return 'an array';
    return typeNames.get(value) ?? (typeof value === 'object' ? tagOf(value) : `a ${typeof value}`);
  } catch {
    return 'an object that cannot be read';
  }
}

const elementText = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string'
    ? String(value)
    : value === undefined
      ? ''
      : describe(value);

/** The elements of a list for a message. */
export const listText = (list: readonly unknown[]): string =>
  short(`[${list.map((value) => elementText(value)).join(',')}]`);

/** What `make` makes of so many bytes of JavaScript's memory, which may run out as well. */
export function inRoom<T>(fn: string, bytes: number, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new QkvError(
      'out_of_memory',
      `${fn}: out of memory: JavaScript could not allocate ${bytes} bytes for the numbers`,
      { cause: error },
    );
  }
}

export const newFloats = (fn: string, length: number): Float32Array<ArrayBuffer> =>
  inRoom(fn, 4 * length, () => new Float32Array(length));

/** What `read` returns; undefined where it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** What a text is as JSON; undefined for what is none. */
export const jsonIn = (text: unknown): unknown => attempt<unknown>(() => JSON.parse(String(text)));

/** Reads what runs code of the caller: a getter, a proxy. What that throws is reported with the name of the argument. */
export function reading<T>(fn: string, name: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // Not even that may be readable.
    const why = attempt(() => String(error)) ?? 'no reason given';
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} cannot be read (${short(why)}), expected plain values`,
      { cause: error },
    );
  }
}

/** A copy of an array, holes as undefined; undefined for anything else, and for more than `most` elements. */
export function listOf(
  fn: string,
  name: string,
  value: unknown,
  most: number,
): unknown[] | undefined {
  if (!isRecord(value)) return undefined;
  return reading(fn, name, () => {
    if (!Array.isArray(value)) return undefined;
    // Not by its own methods, and not by its length, which a proxy may change.
    const { length: count } = value;
    if (count > most) return undefined;
    return Array.from({ length: count }, (_, i) => value[i] as unknown);
  });
}

/** An object with named properties: no array, map, promise or the like, whose keys would all be ignored. */
export const isOptions = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && tagOf(value) === 'Object';

/** What `read` makes of an options object; undefined for anything else. */
export const fromOptions = <T, R>(
  fn: string,
  name: string,
  value: T,
  read: (options: T & Record<string, unknown>) => R,
): R | undefined => reading(fn, name, () => (isOptions(value) ? read(value) : undefined));

/** What `read` makes of an options object. Anything else is refused. */
export function readOptions<T, R extends object>(
  fn: string,
  name: string,
  value: T,
  read: (options: T) => R,
): R {
  const found = fromOptions(fn, name, value, read);
  if (!found) {
    throw new QkvError(
      'invalid_argument',
      `${fn}: ${name} is ${describe(value)}, expected an object`,
    );
  }
  return found;
}

/** A copy of an options object, inherited ones too, whatever its keys are. */
export const copiedOptions = <T extends object>(fn: string, value: T): T =>
  readOptions(fn, 'options', value, (options) => {
    const copy: Partial<T> = {};
    for (const name in options) copy[name] = options[name];
    return copy as T;
  });

/** The keys of every member of a union. */
type KeysOf<T> = T extends unknown ? Extract<keyof T, string> : never;

/**
 * What a list of names must be beside a list to be all options of T and no others. The compiler's error names what it lacks, or
 * what T has not. Lists and types of any string are not compared.
 */
type AllOptions<T, Name extends string> = string extends Name | KeysOf<T>
  ? unknown
  : [Exclude<KeysOf<T>, Name>] extends [never]
    ? [Exclude<Name, KeysOf<T>>] extends [never]
      ? unknown
      : { readonly noSuchOption: Exclude<Name, KeysOf<T>> }
    : { readonly missingOption: Exclude<KeysOf<T>, Name> };

/**
 * A copy of an options object. It has no key but these, which are all keys of its type: a misspelt option would otherwise be
 * silently ignored.
 */
export function takeOptions<T, const Name extends string>(
  fn: string,
  name: string,
  value: T,
  names: readonly Name[] & AllOptions<NonNullable<T>, Name>,
): NonNullable<T> {
  const known: readonly string[] = names;
  const keys = readOptions(fn, name, value, (options) => Object.keys(options as object));
  for (const key of keys) {
    if (!known.includes(key)) {
      const meant = nearest(known, key);
      throw new QkvError(
        'invalid_argument',
        `${fn}: ${name} has the unknown key '${short(key)}', expected ` +
          (meant === undefined ? known.join(', ') : `'${meant}' or another of ${known.join(', ')}`),
      );
    }
  }
  // By name, because options may be inherited.
  const taken: Record<string, unknown> = {};
  reading(fn, name, () => {
    for (const key of known) {
      const part = (value as Record<string, unknown>)[key];
      if (part !== undefined) taken[key] = part;
    }
  });
  return taken as NonNullable<T>;
}

/** Which of the known names is likely to be meant by another one. */
export const nearest = (known: readonly string[], name: string): string | undefined =>
  known.find((candidate) => isMisspelt(candidate, name)) ??
  known.filter((candidate) => isWithin(candidate, name)).sort(byLength)[0];

const byLength = (a: string, b: string): number => b.length - a.length;

/** Whether `key` is what others call `name`: `is_causal`, `num_heads`, `attn_mask`, `max_new_tokens`. */
function isWithin(name: string, key: string): boolean {
  const [a = '', b = ''] = [name, key].map((text) => text.toLowerCase().replace(/[^a-z]/g, ''));
  if (a.length < 4) return a === b;
  const isMost = 3 * a.length >= 2 * b.length && new RegExp(a.split('').join('.*')).test(b);
  return isMost || b.startsWith(a) || b.endsWith(a);
}

/** Whether `key` is `name` but for two letters that are wrong, missing, too many or in another case. */
function isMisspelt(name: string, key: string): boolean {
  if (key.length > name.length + 2) return false;
  const [a, b] = [name.toLowerCase(), key.toLowerCase()];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (above[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      row[j] = Math.min(replaced, (above[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
    }
  }
  return (row[b.length] ?? 0) <= Math.min(2, a.length / 3);
}
