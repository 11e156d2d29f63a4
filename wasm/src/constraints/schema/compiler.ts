// From a schema to rules: one for each object, array, kind of string and kind of number, and for what $ref names.

import { automatonOf } from '../builder.js';
import { utf8 } from '../encodings.js';
import { call, choice, type Expression, literal, nothing } from '../expression.js';
import { guarded } from '../guarded.js';
import type { Rules } from '../rules.js';
import { Disjoint, valuesOf } from './disjoint.js';
import { Listed } from './listed.js';
import { Schemas } from './merged.js';
import { numbersOf } from './numbers.js';
import {
  below,
  countOf,
  fn,
  isSchema,
  type Json,
  type JsonObject,
  pick,
  refuse,
  type Schema,
  schemasIn,
  schemasOf,
  textsOf,
  wrong,
} from './reading.js';
import { otherStrings, stringsOf } from './strings.js';
import { arrayOf, known, objectOf, type Spacing } from './structures.js';
import { assertionsOf, checkWords, isFree, type Type, types, typesOf } from './words.js';

/** Elements of an array that are counted, at most. */
const mostElements = 10_000;

export class Compiler {
  readonly #schemas: Schemas;
  readonly #disjoint: Disjoint;
  readonly #listed: Listed;
  readonly #rules: Rules;
  readonly #spacing: Spacing;

  constructor(root: Schema, rules: Rules, spacing: Spacing) {
    this.#schemas = new Schemas(root);
    this.#disjoint = new Disjoint(this.#schemas);
    this.#listed = new Listed(this.#schemas);
    this.#rules = rules;
    this.#spacing = spacing;
  }

  /** What a schema allows. */
  value(schema: Schema, path: string): Expression {
    if (schema === false) return nothing;
    if (schema === true) return this.#typed(types, {}, path);
    checkWords(schema, path);
    if (isFree(schema)) return this.#typed(types, {}, path);
    const values = valuesOf(schema);
    if (values) return this.#values(schema, values, path);
    if ('enum' in schema) return wrong(below(path, 'enum'), schema['enum'], 'a list of values');
    if ('$ref' in schema || 'allOf' in schema) return this.#joined(schema, path);
    const word = ['anyOf', 'oneOf'].find((each) => each in schema);
    if (word !== undefined) return this.#alternatives(schema, word, path);
    return this.#typed(typesOf(schema, path) ?? types, schema, path);
  }

  #rule(name: string, path: string, make: () => Expression): Expression {
    const rule = this.#rules.of(name, () =>
      guarded(`${fn}: the schema at ${path}`, () => automatonOf(make(), utf8)),
    );
    return call(rule);
  }

  /** A schema with references, or of several that all hold. */
  #joined(schema: JsonObject, path: string): Expression {
    const { $ref, allOf } = schema;
    const others = Object.keys(assertionsOf(schema, '$ref', 'allOf')).length;
    if ($ref !== undefined && others === 0 && allOf === undefined) {
      const target = this.#schemas.target($ref, path);
      const at = typeof $ref === 'string' ? $ref : path;
      return this.#rule(`$ref ${at}`, at, () => this.value(target, at));
    }
    const at = below(path, 'allOf');
    const list = allOf === undefined ? [] : schemasIn(allOf, at);
    const [only] = list;
    if ($ref === undefined && others === 0 && list.length === 1 && only !== undefined)
      return this.value(only, below(at, 0));
    return this.value(this.#schemas.flat(schema, path), path);
  }

  #alternatives(schema: JsonObject, word: string, path: string): Expression {
    const at = below(path, word);
    const list = schemasIn(schema[word], at);
    const others = assertionsOf(schema, word);
    const isAlone = Object.keys(others).length === 0;
    const all = list.map((each, i) =>
      isAlone
        ? each
        : this.#schemas.both([others, this.#schemas.flat(each, below(at, i))], below(at, i)),
    );
    if (word === 'oneOf') this.#checkDisjoint(all, list, at);
    return choice(all.map((each, i) => this.value(each, below(at, i))));
  }

  #checkDisjoint(written: readonly Schema[], allowed: readonly Schema[], path: string): void {
    written.forEach((a, i) => {
      allowed.forEach((b, k) => {
        if (i === k || this.#disjoint.are(a, b, path)) return;
        refuse(
          `alternatives ${i} and ${k} that may allow the same document`,
          path,
          'ones that differ in type, in values (const, enum), or in a required property; or anyOf',
        );
      });
    });
  }

  /** Values that are listed, as far as the other words allow them. */
  #values(schema: JsonObject, values: readonly Json[], path: string): Expression {
    const kept = values.filter((value) => this.#listed.allows(value, schema, path));
    return choice(kept.map((value) => known(this.#spacing, value)));
  }

  #typed(said: readonly Type[], words: JsonObject, path: string): Expression {
    const isNumber = said.includes('number');
    const list = new Set(said.filter((type) => type !== 'integer' || !isNumber));
    return choice([...list].map((type) => this.#ofType(type, words, path)));
  }

  #ofType(type: Type, words: JsonObject, path: string): Expression {
    switch (type) {
      case 'null':
        return literal('null');
      case 'boolean':
        return choice([literal('true'), literal('false')]);
      case 'integer':
      case 'number': {
        const own = pick(words, 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum');
        return this.#rule(`${type} ${JSON.stringify(own)}`, path, () =>
          numbersOf(own, type === 'integer', path),
        );
      }
      case 'string': {
        const own = pick(words, 'minLength', 'maxLength', 'pattern', 'format');
        const name = `string ${JSON.stringify(own)}`;
        return call(this.#rules.of(name, () => stringsOf(own, path)));
      }
      case 'array': {
        const own = pick(words, 'items', 'prefixItems', 'additionalItems', 'minItems', 'maxItems');
        return this.#rule(`array ${JSON.stringify(own)}`, path, () => this.#array(own, path));
      }
      default: {
        const own = pick(words, 'properties', 'required', 'additionalProperties');
        // What has none of them is any object.
        const object = Object.keys(own).length > 0 ? own : { additionalProperties: true };
        return this.#rule(`object ${JSON.stringify(object)}`, path, () =>
          this.#object(object, path),
        );
      }
    }
  }

  #object(words: JsonObject, path: string): Expression {
    const required = textsOf(words['required'], below(path, 'required'));
    const properties = schemasOf(words['properties'], below(path, 'properties'));
    const { additionalProperties: others } = words;
    if (others !== undefined && !isSchema(others))
      return wrong(below(path, 'additionalProperties'), others, 'a schema');
    const names = new Set(properties.map(([name]) => name));
    // What is required and has no schema is as others are.
    const more = [...new Set(required)].filter((name) => !names.has(name));
    const all = [
      ...properties.map(([name, schema]) => [name, schema, below(path, 'properties')] as const),
      ...more.map((name) => [name, others ?? true, below(path, 'required')] as const),
    ];
    const written = all.map(([name, schema, at]) => ({
      name: literal(JSON.stringify(name)),
      value: this.value(schema, below(at, name)),
      isRequired: required.includes(name),
    }));
    if (others === undefined || others === false)
      return objectOf(this.#spacing, written, undefined);
    const taken = all.map(([name]) => name).sort();
    const name = `name ${JSON.stringify(taken)}`;
    return objectOf(this.#spacing, written, {
      name: call(this.#rules.of(name, () => otherStrings(taken))),
      value: this.value(others, below(path, 'additionalProperties')),
    });
  }

  #array(words: JsonObject, path: string): Expression {
    const { items, prefixItems } = words;
    // In draft 7 a list of schemas is what prefixItems is now.
    const isOld = Array.isArray(items);
    const list = isOld ? items : prefixItems;
    const word = isOld ? 'items' : 'prefixItems';
    const rest = isOld ? 'additionalItems' : 'items';
    const others = words[rest];
    if (others !== undefined && !isSchema(others))
      return wrong(below(path, rest), others, 'a schema');
    const first = list === undefined ? [] : schemasIn(list, below(path, word));
    const least = countOf(words, 'minItems', path) ?? 0;
    const most = countOf(words, 'maxItems', path) ?? Infinity;
    for (const [name, count] of [
      ['minItems', least],
      ['maxItems', most],
    ] as const)
      if (count !== Infinity && count > mostElements)
        refuse(`${name} of ${count}`, path, `at most ${mostElements}`);
    if (least > most) return nothing;
    // After elements that have a schema each there are others if the schema says which, or how many.
    const more = others ?? (first.length === 0 || least > first.length ? true : false);
    return arrayOf(this.#spacing, {
      first: first.map((each, i) => this.value(each, below(below(path, word), i))),
      rest: more === false ? undefined : this.value(more, below(path, rest)),
      ...{ least, most },
    });
  }
}
