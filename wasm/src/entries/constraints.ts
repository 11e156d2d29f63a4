/**
 * Constraints of what a model of `qkv/models` generates: {@link regularExpression} and {@link jsonSchema} make plain data, which
 * `generate` and `chat` take as the option `constraint`, here and in a worker.
 * @module qkv/constraints
 */
import type { Constraint, JsonSchemaOptions } from '../api/constraint-types.js';
import * as schemas from '../constraints/json-schema.js';
import * as expressions from '../constraints/regular-expression.js';

export { QkvError, type QkvErrorCode } from '../api/errors.js';
export type * from '../api/constraint-types.js';

/**
 * Texts that a regular expression matches from beginning to end, whether or not it has `^` and `$` there. It is read with the flag `u`,
 * by code points, unless it has the flag `v`; so is a RegExp without either. The flags `i` and `s` are obeyed; `g`, `y` and `d`, which do
 * not change which texts match, are ignored.
 *
 * Not everything of the syntax describes the texts alone: lookahead, lookbehind, references to groups, `\b` and `\B` are refused, and so
 * is the flag `m` beside `^` or `$`.
 *
 * @throws {@link QkvError} `invalid_argument` for what is no pattern, or matches no text; `unsupported` names what cannot be followed, and its
 * position, or says that the automaton would have more than 100,000 states
 */
export const regularExpression = (pattern: string | RegExp): Constraint =>
  expressions.regularExpression(pattern);

/**
 * Documents that a JSON schema allows, in the words of the drafts 7 and 2020-12. Nothing is written that the schema refuses; of what it
 * allows some is not written:
 *
 * - properties come in the order of `properties`, each once; others only where `additionalProperties` is given
 * - elements after those of `prefixItems` come only where `items` is given, or `minItems` asks for them
 * - a schema without `type` is for the types that its words are about
 * - letters are written as `JSON.stringify` does; `pattern` and lengths are about what they stand for
 * - numbers have at most 15 digits, and two of an exponent; with limits no exponent
 *
 * Known are `type`, `enum`, `const`, `properties`, `required`, `additionalProperties`, `items`, `prefixItems`, `additionalItems`, `minItems`,
 * `maxItems`, `minLength`, `maxLength`, `pattern`, `format` (`date`, `time`, `date-time`, `uuid`, `ipv4`), `minimum`, `maximum`,
 * `exclusiveMinimum`, `exclusiveMaximum`, `anyOf`, `oneOf` where the alternatives differ in type, values or required properties, `allOf` of
 * schemas that can be one, `$ref` inside the schema, and words that only describe. Any other is refused by its name and path.
 *
 * @throws {@link QkvError} `unsupported` for what is not obeyed here, `invalid_argument` for what is no schema, or allows nothing
 */
export const jsonSchema = (schema: boolean | object, options?: JsonSchemaOptions): Constraint =>
  schemas.jsonSchema(schema, options);
