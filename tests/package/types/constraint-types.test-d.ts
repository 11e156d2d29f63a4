// The types of qkv/constraints, checked by the compiler alone: what a schema and an expression may be, and what comes of them.
import { jsonSchema, QkvError, regularExpression } from 'qkv/constraints';
import type { Constraint, ConstraintRule, JsonSchemaOptions } from 'qkv/constraints';
import type { GenerateOptions } from 'qkv/models';

interface Schema {
  type: string;
}
declare const schema: Schema;

/** What each function takes, and returns. */
export function returns(): unknown[] {
  const options: Required<JsonSchemaOptions> = { whitespace: 'free' };
  const constraint: Constraint = jsonSchema({ type: 'object' }, options);
  const more = [
    jsonSchema(schema),
    jsonSchema(true),
    regularExpression(/a/u),
    regularExpression('a'),
  ];
  const generate: GenerateOptions = { constraint };
  const [rule] = constraint.rules;
  const numbers: Int32Array[] = rule ? [rule.edges, rule.calls, rule.accepting] : [];
  const states: ConstraintRule['states'] | undefined = rule?.states;
  // @ts-expect-error -- a schema as text
  jsonSchema('{}');
  // @ts-expect-error -- a misspelt option
  jsonSchema({}, { whitespaces: 'none' });
  // @ts-expect-error -- no such spacing
  jsonSchema({}, { whitespace: 'all' });
  // @ts-expect-error -- rules do not change
  constraint.rules = [];
  return [more, generate, numbers, states, QkvError];
}
