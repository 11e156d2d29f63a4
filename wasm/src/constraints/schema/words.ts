// The words of JSON schema (drafts 7 and 2020-12): what each is about, and which are refused.

import { below, type Json, type JsonObject, refuse, wrong } from './reading.js';

export const types = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
export type Type = (typeof types)[number];
const isType = (value: Json): value is Type => (types as readonly Json[]).includes(value);

/** Words that say something about one type alone. */
const ofType: ReadonlyMap<string, Type> = new Map(
  Object.entries({
    ...{ properties: 'object', required: 'object', additionalProperties: 'object' },
    ...{ items: 'array', prefixItems: 'array', additionalItems: 'array' },
    ...{ minItems: 'array', maxItems: 'array' },
    ...{ minLength: 'string', maxLength: 'string', pattern: 'string', format: 'string' },
    ...{ minimum: 'number', maximum: 'number' },
    ...{ exclusiveMinimum: 'number', exclusiveMaximum: 'number' },
  }),
);
/** Words about values of every type. */
const ofAll = ['type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', '$ref'];
/** Words that say nothing about values. */
const annotations: ReadonlySet<string> = new Set([
  ...['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly'],
  ...['$schema', '$id', '$comment', '$defs', 'definitions'],
  ...['contentEncoding', 'contentMediaType', 'contentSchema'],
]);
/** What can be done about words that are refused. */
const advice: ReadonlyMap<string, string> = new Map([
  ['not', 'what may come in place of what may not'],
  ['if', 'anyOf, with the condition in each of its schemas'],
  ['multipleOf', 'minimum and maximum, or the values in enum'],
  ['patternProperties', 'properties, or additionalProperties'],
  ['uniqueItems', 'items whose repetition does no harm, or properties that are true or false'],
  ['nullable', "'type': ['string', 'null'], or anyOf"],
]);

/** Whether a schema has nothing that it asks of a value. */
export const isFree = (words: JsonObject): boolean =>
  Object.keys(words).every((word) => annotations.has(word));

/** Refuses what would not be obeyed. */
export function checkWords(words: JsonObject, path: string): void {
  for (const word of Object.keys(words)) {
    if (annotations.has(word) || ofAll.includes(word) || ofType.has(word)) {
      // References would count from there.
      if (word === '$id' && path !== '#') refuse('$id', below(path, word), 'it at # alone');
      continue;
    }
    if (word === 'uniqueItems' && words[word] === false) continue;
    refuse(JSON.stringify(word), path, advice.get(word) ?? 'a schema without it');
  }
}

/** The types of `type`; undefined where it is not there. */
export function saidTypes(words: JsonObject, path: string): readonly Type[] | undefined {
  const { type } = words;
  if (type === undefined) return undefined;
  const list = (Array.isArray(type) ? type : [type]) as readonly Json[];
  if (list.length > 0 && list.every(isType)) return list;
  return wrong(below(path, 'type'), type, `${types.join(', ')}, or a list of them`);
}

/** The types that are written: those of `type`, else those that other words are about; undefined for all. */
export function typesOf(words: JsonObject, path: string): readonly Type[] | undefined {
  const said = saidTypes(words, path);
  if (said) return said;
  const meant = new Set(Object.keys(words).flatMap((word) => ofType.get(word) ?? []));
  return meant.size > 0 ? [...meant] : undefined;
}

/** Of words those about values, less these. */
export function assertionsOf(words: JsonObject, ...less: readonly string[]): JsonObject {
  const found = Object.entries(words).filter(
    ([word]) => !annotations.has(word) && !less.includes(word),
  );
  return Object.fromEntries(found);
}

/** The type of a value. */
export function typeOfValue(value: Json): Type {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'string' | 'boolean' | 'object';
}

/** Whether a value of one type may be of another. */
export const isOf = (type: Type, other: Type): boolean =>
  type === other || (type === 'integer' && other === 'number');
