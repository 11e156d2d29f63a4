// Texts that a regular expression takes from their begin to their end.

import type { Constraint } from '../api/constraint-types.js';
import { QkvError } from '../api/errors.js';
import { describe, reading, tagOf } from '../arguments/values.js';
import { automatonOf } from './builder.js';
import { utf8 } from './encodings.js';
import { guarded } from './guarded.js';
import { expressionOf, type Pattern } from './pattern.js';
import { Rules } from './rules.js';

const fn = 'regularExpression';
/** Letters of a pattern, at most. */
const longest = 100_000;

/** What a RegExp says, by the getters of its prototype. */
function read(given: unknown): Pattern | undefined {
  if (typeof given === 'string') return { source: given, flags: 'u' };
  return reading(fn, 'pattern', () => {
    if (tagOf(given) !== 'RegExp') return undefined;
    const { source, flags } = given as RegExp;
    if (typeof source !== 'string' || typeof flags !== 'string') return undefined;
    return { source, flags: /[uv]/.test(flags) ? flags : `${flags}u` };
  });
}

export function regularExpression(pattern: string | RegExp): Constraint {
  const given = read(pattern);
  if (!given || given.source.length > longest) {
    const was = given ? `${given.source.length} letters` : describe(pattern);
    throw new QkvError(
      'invalid_argument',
      `${fn}: pattern is ${was}, expected a text or a RegExp of at most ${longest} letters`,
    );
  }
  const name = `${fn}: pattern`;
  return guarded(name, () => {
    const rules = new Rules();
    rules.of('text', () => automatonOf(expressionOf(name, given), utf8));
    return rules.constraint(name);
  });
}
