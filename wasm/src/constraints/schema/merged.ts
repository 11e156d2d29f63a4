// Several schemas that all hold for one value, as one schema.

import { describe } from '../../arguments/values.js';
import {
  below,
  isSchema,
  type Json,
  type JsonObject,
  refuse,
  type Schema,
  schemasIn,
  textOf,
  wrong,
} from './reading.js';
import { assertionsOf, checkWords, isOf, saidTypes } from './words.js';

/** References in references, at most. */
const deepest = 64;

const same = (a: Json | undefined, b: Json | undefined): boolean => textOf(a) === textOf(b);

/** The names of `properties`. */
const namesIn = ({ properties }: JsonObject): string[] => Object.keys(properties ?? {});

/** How both values of a word hold at once. */
type Merge = (a: Json, b: Json, path: string) => Json | undefined;

const numbers =
  (choose: (...of: number[]) => number): Merge =>
  (a, b) =>
    typeof a === 'number' && typeof b === 'number' ? choose(a, b) : undefined;
const both: Merge = (a, b) => ({ allOf: [a, b] });

const merges: Readonly<Record<string, Merge>> = {
  ...{ minimum: numbers(Math.max), exclusiveMinimum: numbers(Math.max) },
  ...{ maximum: numbers(Math.min), exclusiveMaximum: numbers(Math.min) },
  ...{ minLength: numbers(Math.max), minItems: numbers(Math.max) },
  ...{ maxLength: numbers(Math.min), maxItems: numbers(Math.min) },
  ...{ items: both, additionalProperties: both },
  required: (a, b) =>
    Array.isArray(a) && Array.isArray(b)
      ? [...new Set([...(a as readonly Json[]), ...(b as readonly Json[])])]
      : undefined,
  enum: (a, b) =>
    Array.isArray(a) && Array.isArray(b)
      ? (a as readonly Json[]).filter((each) => b.some((other: Json) => same(each, other)))
      : undefined,
  properties(a, b) {
    const all = Object.assign(Object.create(null) as object, a) as Record<string, Json>;
    for (const [name, schema] of Object.entries(b as JsonObject)) {
      const known = all[name];
      all[name] = known === undefined ? schema : { allOf: [known, schema] };
    }
    return all;
  },
};

/** Whether what one schema says of other names also holds for properties that the other schema names. */
function checkNames(a: JsonObject, b: JsonObject, path: string): void {
  const { additionalProperties: others = true } = a;
  const more = namesIn(b).filter((name) => !namesIn(a).includes(name));
  if (others === true || more.length === 0) return;
  refuse(
    `additionalProperties beside a schema with the property ${describe(more[0])}`,
    path,
    'all properties in one schema',
  );
}

function withType(a: JsonObject, b: JsonObject, path: string): JsonObject | false {
  const [types, others] = [saidTypes(a, path), saidTypes(b, path)];
  if (!types || !others) return {};
  const common = [
    ...types.filter((type) => others.some((other) => isOf(type, other))),
    ...others.filter((type) => types.some((other) => type !== other && isOf(type, other))),
  ];
  return common.length > 0 && { type: common };
}

/** The schema of what two schemas allow; false for nothing. */
function merged(a: JsonObject, b: JsonObject, path: string): JsonObject | false {
  checkNames(a, b, path);
  checkNames(b, a, path);
  const all: Record<string, Json> = { ...a };
  for (const [word, value] of Object.entries(b)) {
    const known = a[word];
    if (known === undefined || same(known, value)) {
      all[word] = value;
      continue;
    }
    if (word === 'type') continue;
    if (word === 'const') return false;
    const merge = merges[word];
    const isMixed = word === 'items' && ('prefixItems' in a || 'prefixItems' in b);
    const made = isMixed ? undefined : merge?.(known, value, path);
    if (made === undefined)
      refuse(`two different ${word} for one value`, path, 'one of them in a schema of its own');
    all[word] = made;
  }
  const type = withType(a, b, path);
  return type && { ...all, ...type };
}

/** Schemas of one document, whose references are known. */
export class Schemas {
  readonly #root: Schema;

  constructor(root: Schema) {
    this.#root = root;
  }

  /** What a reference means: '#', or a JSON Pointer behind it. */
  target(reference: Json | undefined, path: string): Schema {
    const at = below(path, '$ref');
    if (typeof reference !== 'string') return wrong(at, reference, 'a text');
    if (!/^#(?:\/|$)/.test(reference))
      return refuse(describe(reference), at, "'#' or a path in this schema, as '#/$defs/name'");
    let names: string[];
    try {
      names = decodeURIComponent(reference).split('/').slice(1);
    } catch {
      return wrong(at, reference, 'a JSON Pointer');
    }
    let value: Json | undefined = this.#root;
    for (const escaped of names) {
      const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const parts: ReadonlyMap<string, Json> = new Map(
        typeof value === 'object' && value ? Object.entries(value) : [],
      );
      value = parts.get(name);
    }
    return isSchema(value) ? value : wrong(at, reference, 'the path of a schema');
  }

  /** A schema without $ref and allOf: what they say is in it. */
  flat(schema: Schema, path: string, depth = 0): Schema {
    if (typeof schema === 'boolean') return schema;
    checkWords(schema, path);
    if (depth > deepest)
      refuse('references that lead to each other', path, 'a schema at their end');
    const { $ref, allOf } = schema;
    const parts = [assertionsOf(schema, '$ref', 'allOf') as Schema];
    if ($ref !== undefined) parts.push(this.flat(this.target($ref, path), path, depth + 1));
    if (allOf !== undefined) {
      schemasIn(allOf, below(path, 'allOf')).forEach((part, i) =>
        parts.push(this.flat(part, below(below(path, 'allOf'), i), depth + 1)),
      );
    }
    return this.both(parts, path);
  }

  /** What flat schemas allow all. */
  both(parts: readonly Schema[], path: string): Schema {
    return parts.reduce<Schema>((a, b) => {
      if (a === false || b === false) return false;
      if (a === true) return b;
      return b === true ? a : merged(a, b, path);
    }, true);
  }
}
