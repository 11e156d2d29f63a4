// Which values that a schema lists (enum, const) its other words allow. Here the schema is obeyed as the drafts say, also in what is never
// written by itself, such as other properties than those that it names.

import { acceptsBytes, type Automaton } from '../automaton.js';
import type { Schemas } from './merged.js';
import { limitsOf } from './numbers.js';
import {
  below,
  countOf,
  isJsonObject,
  isSchema,
  type Json,
  type JsonObject,
  pick,
  refuse,
  type Schema,
  schemasIn,
  schemasOf,
  textOf,
  textsOf,
  wrong,
} from './reading.js';
import { stringsOf } from './strings.js';
import { checkWords, isOf, saidTypes, typeOfValue } from './words.js';

/** Schemas in schemas that a value is held to, at most. */
const deepest = 256;

const encoder = new TextEncoder();

function isNumber(value: number, words: JsonObject, path: string): boolean {
  const { low, high } = limitsOf(words, path);
  const isAbove = !low || value > low.value || (value === low.value && !low.isOpen);
  return isAbove && (!high || value < high.value || (value === high.value && !high.isOpen));
}

/** Whether a count is within two words that may be there. */
function isCount(count: number, words: JsonObject, names: readonly string[], path: string) {
  const [least = 0, most = Infinity] = names.map((name) => countOf(words, name, path));
  return least <= count && count <= most;
}

export class Listed {
  readonly #schemas: Schemas;
  /** By their words. */
  readonly #strings = new Map<string, Automaton>();

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Whether a schema allows a value. */
  allows(value: Json, schema: Schema, path: string, depth = 0): boolean {
    if (typeof schema === 'boolean') return schema;
    if (depth > deepest)
      refuse('references that lead to each other', path, 'a schema at their end');
    checkWords(schema, path);
    const said = saidTypes(schema, path);
    const type = typeOfValue(value);
    if (said && !said.some((each) => isOf(type, each))) return false;
    const { enum: list } = schema;
    if (list !== undefined && !Array.isArray(list))
      return wrong(below(path, 'enum'), list, 'a list of values');
    const text = textOf(value);
    const isSame = (other: Json): boolean => textOf(other) === text;
    if (list?.some(isSame) === false) return false;
    if ('const' in schema && !isSame(schema['const'] ?? null)) return false;
    if (!this.#meets(value, schema, path, depth)) return false;
    if (typeof value === 'string') return this.#isString(value, schema, path);
    if (typeof value === 'number') return isNumber(value, schema, path);
    if (Array.isArray(value)) return this.#isArray(value, schema, path, depth);
    return !isJsonObject(value) || this.#isObject(value, schema, path, depth);
  }

  /** Whether a value is what other schemas want of it. */
  #meets(value: Json, schema: JsonObject, path: string, depth: number): boolean {
    const { $ref, allOf = [], anyOf, oneOf } = schema;
    /** How many alternatives allow it, and how many there are. */
    const counts = (of: Json, word: string) => {
      const all = schemasIn(of, below(path, word));
      const isMet = (each: Schema, i: number) =>
        this.allows(value, each, below(below(path, word), i), depth + 1);
      return [all.filter(isMet).length, all.length] as const;
    };
    if ($ref !== undefined) {
      const target = this.#schemas.target($ref, path);
      if (!this.allows(value, target, typeof $ref === 'string' ? $ref : path, depth + 1))
        return false;
    }
    const [met, all] = counts(allOf, 'allOf');
    if (met < all) return false;
    if (anyOf !== undefined && counts(anyOf, 'anyOf')[0] === 0) return false;
    return oneOf === undefined || counts(oneOf, 'oneOf')[0] === 1;
  }

  #isString(value: string, words: JsonObject, path: string): boolean {
    const own = pick(words, 'minLength', 'maxLength', 'pattern', 'format');
    const name = JSON.stringify(own);
    if (name === '{}') return true;
    const strings = this.#strings.get(name) ?? stringsOf(own, path);
    this.#strings.set(name, strings);
    return acceptsBytes(strings, encoder.encode(JSON.stringify(value)));
  }

  #isArray(value: readonly Json[], words: JsonObject, path: string, depth: number): boolean {
    if (!isCount(value.length, words, ['minItems', 'maxItems'], path)) return false;
    const { items, prefixItems } = words;
    // In draft 7 a list of schemas is what prefixItems is now.
    const isOld = Array.isArray(items);
    const word = isOld ? 'items' : 'prefixItems';
    const rest = isOld ? 'additionalItems' : 'items';
    const first = schemasIn((isOld ? items : prefixItems) ?? [], below(path, word));
    return value.every((each, i) => {
      const at = i < first.length ? below(below(path, word), i) : below(path, rest);
      return this.#allowsPart(each, first[i] ?? words[rest], at, depth);
    });
  }

  #isObject(value: JsonObject, words: JsonObject, path: string, depth: number): boolean {
    const own = new Map(schemasOf(words['properties'], below(path, 'properties')));
    const required = textsOf(words['required'], below(path, 'required'));
    const parts = Object.entries(value);
    if (!required.every((name) => parts.some(([other]) => other === name))) return false;
    return parts.every(([name, each]) => {
      const schema = own.get(name);
      const isOther = schema === undefined;
      const at = isOther ? 'additionalProperties' : 'properties';
      const place = isOther ? below(path, at) : below(below(path, at), name);
      return this.#allowsPart(each, schema ?? words[at], place, depth);
    });
  }

  /** Whether the schema of a part, if it has one, allows it. */
  #allowsPart(value: Json, schema: Json | undefined, path: string, depth: number): boolean {
    if (schema === undefined) return true;
    if (!isSchema(schema)) return wrong(path, schema, 'a schema');
    return this.allows(value, schema, path, depth + 1);
  }
}
