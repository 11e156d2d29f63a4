// A schema as plain data: a copy, so that no code of the caller runs later, and what a word has is what was checked.

import { QkvError } from '../../api/errors.js';
import { describe, isArray, isOptions, isRecord, reading } from '../../arguments/values.js';

export const fn = 'jsonSchema';

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json;
}
export type Schema = boolean | JsonObject;

export const isSchema = (value: Json | undefined): value is Schema =>
  typeof value === 'boolean' || isJsonObject(value);
export const isJsonObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Those of some words that are there. */
export const pick = (words: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (name in words ? [[name, words[name] as Json]] : [])));

/** A text that equal values have in common: of objects the order of properties does not matter. */
export const textOf = (value: Json | undefined): string =>
  JSON.stringify(value, (_, part: Json) =>
    isJsonObject(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** A schema that cannot be obeyed. */
export function refuse(what: string, path: string, expected: string): never {
  throw new QkvError(
    'unsupported',
    `${fn}: the schema has ${what} at ${path}, expected ${expected}`,
  );
}

/** A word whose value means nothing. */
export function wrong(path: string, value: Json | undefined, expected: string): never {
  throw new QkvError(
    'invalid_argument',
    `${fn}: the schema has ${describe(value)} at ${path}, expected ${expected}`,
  );
}

/** A part of a path: as JSON Pointer writes it. */
export const below = (path: string, name: string | number): string =>
  `${path}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;

/** Objects without a prototype, so that "__proto__" is a name like others. */
const newObject = (): Record<string, Json> => Object.create(null) as Record<string, Json>;

function copied(path: string, value: unknown): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isRecord(value)) {
    if (isArray(value)) {
      const { length } = value;
      return Array.from({ length }, (_, i) => copied(below(path, i), value[i]));
    }
    if (reading(fn, 'schema', () => isOptions(value))) {
      const object = newObject();
      for (const [name, part] of reading(fn, 'schema', () => Object.entries(value)))
        if (part !== undefined) object[name] = copied(below(path, name), part);
      return object;
    }
  }
  throw new QkvError(
    'invalid_argument',
    `${fn}: the schema has ${describe(value)} at ${path}, expected what JSON can have`,
  );
}

/** A copy of a schema. */
export function copyOf(value: unknown): Schema {
  const copy = copied('#', value);
  return isSchema(copy) ? copy : wrong('#', copy, 'an object, true or false');
}

/** A word that is a list of schemas. */
export function schemasIn(value: Json | undefined, path: string): readonly Schema[] {
  const list: readonly Json[] | undefined = Array.isArray(value) ? value : undefined;
  if (list?.every(isSchema)) return list;
  return wrong(path, value, 'a list of schemas');
}

/** A word that has schemas by their names. */
export function schemasOf(value: Json | undefined, path: string): [name: string, of: Schema][] {
  if (value === undefined) return [];
  if (!isJsonObject(value)) return wrong(path, value, 'an object of schemas');
  return Object.entries(value).map(([name, part]) => [
    name,
    isSchema(part) ? part : wrong(below(path, name), part, 'a schema'),
  ]);
}

/** A word that is a list of texts. */
export function textsOf(value: Json | undefined, path: string): readonly string[] {
  if (value === undefined) return [];
  const list: readonly Json[] | undefined = Array.isArray(value) ? value : undefined;
  if (list?.every((each): each is string => typeof each === 'string')) return list;
  return wrong(path, value, 'a list of texts');
}

/** A word that is a number of something, or undefined. */
export function countOf(words: JsonObject, name: string, path: string): number | undefined {
  const value = words[name];
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  return wrong(below(path, name), value, 'a whole number that is not negative');
}
