// Documents that a JSON schema allows.

import type { Constraint, JsonSchemaOptions } from '../api/constraint-types.js';
import { checkChoice } from '../arguments/numbers.js';
import { takeOptions } from '../arguments/values.js';
import { automatonOf } from './builder.js';
import { utf8 } from './encodings.js';
import { call } from './expression.js';
import { guarded } from './guarded.js';
import { Rules } from './rules.js';
import { Compiler } from './schema/compiler.js';
import { copyOf, fn } from './schema/reading.js';
import { spacingOf } from './schema/structures.js';

export function jsonSchema(schema: boolean | object, options: JsonSchemaOptions = {}): Constraint {
  const { whitespace = 'single' } = takeOptions(fn, 'options', options, ['whitespace']);
  checkChoice(fn, 'whitespace', whitespace, ['none', 'single', 'free']);
  return guarded(`${fn}: the schema`, () => {
    const root = copyOf(schema);
    const rules = new Rules();
    rules.of('text', () => {
      const spacing = spacingOf(whitespace, (make) =>
        call(rules.of('spaces', () => automatonOf(make(), utf8))),
      );
      return automatonOf(new Compiler(root, rules, spacing).value(root, '#'), utf8);
    });
    return rules.constraint(`${fn}: the schema`);
  });
}
