// Whether no document that is written for one schema is allowed by another, as oneOf wants it. "No" means that it was not found to be so.

import {
  below,
  type Json,
  type JsonObject,
  type Schema,
  schemasIn,
  schemasOf,
  textOf,
  textsOf,
} from './reading.js';
import type { Schemas } from './merged.js';
import { isOf, saidTypes, type Type, typeOfValue, types, typesOf } from './words.js';

/** Properties in properties that are compared. */
const deepest = 8;

/** The values of `const` and `enum`; undefined for any. */
export function valuesOf(words: JsonObject): readonly Json[] | undefined {
  if ('const' in words) return [words['const'] ?? null];
  const { enum: list } = words;
  return Array.isArray(list) ? (list as readonly Json[]) : undefined;
}

const typesOfValues = (values: readonly Json[]): Type[] => values.map(typeOfValue);

/** The types that documents of both may have. */
function commonTypes(a: JsonObject, b: JsonObject): readonly Type[] {
  const [values, others] = [valuesOf(a), valuesOf(b)];
  const written = values ? typesOfValues(values) : (typesOf(a, '#') ?? types);
  const allowed = others ? typesOfValues(others) : (saidTypes(b, '#') ?? types);
  return written.filter((type) => allowed.some((other) => isOf(type, other) || isOf(other, type)));
}

/** The schemas of a word of alternatives, which are one for each document. */
const alternatives = (words: JsonObject): readonly Schema[] | undefined =>
  'anyOf' in words || 'oneOf' in words
    ? schemasIn(words['anyOf'] ?? words['oneOf'], '#')
    : undefined;

export class Disjoint {
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Whether `b` refuses all that is written for `a`. */
  are(a: Schema, b: Schema, path: string, depth = 0): boolean {
    const [left, right] = [this.#schemas.flat(a, path), this.#schemas.flat(b, path)];
    if (left === false || right === false) return true;
    if (left === true || right === true || depth > deepest) return false;
    const common = commonTypes(left, right);
    if (common.length === 0) return true;
    const [values, others] = [valuesOf(left), valuesOf(right)];
    if (values && others) {
      const texts = new Set(others.map(textOf));
      return !values.some((each) => texts.has(textOf(each)));
    }
    const [some, more] = [alternatives(left), alternatives(right)];
    if (some?.every((each) => this.are(each, right, path, depth + 1))) return true;
    if (more?.every((each) => this.are(left, each, path, depth + 1))) return true;
    const isObject = common.every((type) => type === 'object');
    return isObject && !values && !others && this.#objects(left, right, path, depth);
  }

  #objects(a: JsonObject, b: JsonObject, path: string, depth: number): boolean {
    const [own, other] = [a, b].map(({ properties }) => new Map(schemasOf(properties, path)));
    const [has, wants] = [a, b].map(({ required }) => textsOf(required, below(path, 'required')));
    if (!own || !other || !has || !wants) return false;
    const { additionalProperties: more = false } = a;
    // It wants what is never there.
    if (more === false && wants.some((name) => !own.has(name) && !has.includes(name))) return true;
    // It refuses what is always there.
    if (b['additionalProperties'] === false && has.some((name) => !other.has(name))) return true;
    return has.some((name) => {
      const [mine, yours] = [own.get(name), other.get(name)];
      return mine !== undefined && yours !== undefined && this.are(mine, yours, path, depth + 1);
    });
  }
}
