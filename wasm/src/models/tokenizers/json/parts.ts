// The parts of tokenizer.json: each has a type, and some are sequences of others.

import { refuse, refuseUnsupported } from '../../errors.js';
import { Fields } from '../../fields.js';

/** What makes a part of its fields, by its type. */
export type Makers<T> = Readonly<Record<string, (fields: Fields) => T>>;

const deepest = 8;

/** Every field of a part is one of these, or says nothing. */
export function known(fields: Fields, ...names: readonly string[]): void {
  for (const name of fields.names())
    if (name !== 'type' && !names.includes(name)) fields.only(name);
}

/** Parts of a list, each as an object. */
export const partsOf = (fields: Fields, list: string): Fields[] =>
  (fields.list(list) ?? refuse(`${fields.pathOf(list)} is missing`, 'a list')).map((each, i) =>
    Fields.of(`${fields.pathOf(list)}[${i}]`, each),
  );

/** What a part does, in the order in which it does it; `list` is the field in which a sequence has its parts. */
export function chainOf<T>(
  fields: Fields | undefined,
  list: string,
  makers: Makers<T>,
  depth = 0,
): T[] {
  if (!fields) return [];
  if (depth > deepest)
    refuseUnsupported(`${fields.name} is a sequence in sequences`, `at most ${deepest} levels`);
  const sequence = (): T[] =>
    partsOf(fields, list).flatMap((part) => chainOf(part, list, makers, depth + 1));
  const single = Object.entries(makers).map(
    ([type, make]) => [type, () => [make(fields)]] as const,
  );
  return fields.choice('type', { ...Object.fromEntries(single), Sequence: sequence })();
}
