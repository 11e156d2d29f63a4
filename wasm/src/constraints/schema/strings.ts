// Strings of JSON. A letter has the one form that JSON.stringify() gives it: as it is, or with the escape that it needs.

import { describe } from '../../arguments/values.js';
import { type Automaton, intersection } from '../automaton.js';
import { automatonOf } from '../builder.js';
import { everything, single, without } from '../code-points.js';
import { inJson } from '../encodings.js';
import { type Expression, Graph, letter, repeat, sequence } from '../expression.js';
import { guarded } from '../guarded.js';
import { expressionOf } from '../pattern.js';
import { below, countOf, fn, type JsonObject, refuse, wrong } from './reading.js';

const anyLetter = letter(everything);
const anyLetters = repeat(anyLetter, 0, Infinity);

const leapYear = '(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)';
const date =
  '(?:\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|02-(?:0[1-9]|1\\d|2[0-8]))' +
  `|${leapYear}-02-29)`;
const hours = '(?:[01]\\d|2[0-3])';
const time = `${hours}:[0-5]\\d:[0-5]\\d(?:\\.\\d{1,9})?(?:Z|[+-]${hours}:[0-5]\\d)`;
const byte = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';

/** Formats as patterns: dates that there are (RFC 3339, without leap seconds), UUIDs of RFC 4122, addresses of RFC 2673. */
const formats: ReadonlyMap<unknown, string> = new Map([
  ['date', date],
  ['time', time],
  ['date-time', `${date}T${time}`],
  ['uuid', '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['ipv4', `${byte}(?:\\.${byte}){3}`],
]);

const quote = 0x22;

/** The automaton of a value with quotes around it. It stays deterministic, because no value has a quote that is not escaped. */
function quoted(value: Automaton): Automaton {
  const end = value.length + 1;
  const states = value.map(({ edges, isEnd }) => ({
    edges: [
      ...edges.map(([low, high, to]) => [low, high, to + 1] as const),
      ...(isEnd ? [[quote, quote, end] as const] : []),
    ],
    ...{ calls: [], isEnd: false },
  }));
  const first = { edges: [[quote, quote, 1] as const], calls: [], isEnd: false };
  return [first, ...states, { edges: [], calls: [], isEnd: true }];
}

/** What is between the quotes. */
const valueOf = (expression: Expression): Automaton => automatonOf(expression, inJson);

function patternIn(words: JsonObject, path: string): Automaton | undefined {
  const { pattern } = words;
  if (pattern === undefined) return undefined;
  const at = below(path, 'pattern');
  if (typeof pattern !== 'string') return wrong(at, pattern, 'a text');
  return guarded(`${fn}: ${at}`, () => {
    const expression = expressionOf(`${fn}: ${at}`, { source: pattern, flags: 'u' });
    // It may be found anywhere.
    return valueOf(sequence(anyLetters, expression, anyLetters));
  });
}

function formatIn(words: JsonObject, path: string): Automaton | undefined {
  const { format } = words;
  if (format === undefined) return undefined;
  const source = formats.get(format);
  if (source === undefined)
    return refuse(
      `the format ${describe(format)}`,
      below(path, 'format'),
      `${[...formats.keys()].join(', ')}, or a pattern`,
    );
  return valueOf(expressionOf(`${fn}: format`, { source, flags: 'u' }));
}

function lengthIn(words: JsonObject, path: string): Automaton | undefined {
  const [least = 0, most = Infinity] = ['minLength', 'maxLength'].map((name) =>
    countOf(words, name, path),
  );
  if (least === 0 && most === Infinity) return undefined;
  return guarded(`${fn}: maxLength or minLength at ${path}`, () =>
    valueOf(least > most ? { is: 'choice', parts: [] } : repeat(anyLetter, least, most)),
  );
}

/** The strings that a schema allows, with their quotes. */
export function stringsOf(words: JsonObject, path: string): Automaton {
  const limits = [patternIn(words, path), formatIn(words, path), lengthIn(words, path)].filter(
    (each) => each !== undefined,
  );
  if (limits.length === 0) return quoted(valueOf(anyLetters));
  return quoted(guarded(`${fn}: the string at ${path}`, () => limits.reduce(intersection)));
}

/** All strings but these. */
export function otherStrings(names: readonly string[]): Automaton {
  const graph = new Graph();
  const free = graph.state();
  graph.arc(free, anyLetter, free);
  graph.arc(free, sequence(), 1);
  const add = (state: number, rest: readonly (readonly number[])[]): void => {
    const nexts = new Map<number, number[][]>();
    for (const [first, ...others] of rest)
      if (first !== undefined) nexts.set(first, [...(nexts.get(first) ?? []), others]);
    const known = [...nexts.keys()].map((each) => [each, each] as const);
    graph.arc(
      state,
      letter(
        without(
          everything,
          known.sort(([a], [b]) => a - b).flatMap(([a]) => single(a)),
        ),
      ),
      free,
    );
    if (!rest.some((each) => each.length === 0)) graph.arc(state, sequence(), 1);
    for (const [first, others] of nexts) {
      const next = graph.state();
      graph.arc(state, letter(single(first)), next);
      add(next, others);
    }
  };
  add(
    0,
    names.map((name) => Array.from(name, (each) => each.codePointAt(0) ?? 0)),
  );
  return quoted(valueOf(graph.expression));
}
