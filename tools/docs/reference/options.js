// The options that a function takes, as the types of its parameters say.
import { ReflectionKind } from 'typedoc';

/** Types whose keys a caller writes. */
const IS_OPTIONS = /(?:Options|Config|Weights|Extras|Needs|Batch|Destination|Source)$/;

/** The types that a type is made of by name, down to those with keys, into `found`. */
function collect(type, found) {
  type?.visit({
    reference({ reflection, typeArguments }) {
      for (const argument of typeArguments ?? []) collect(argument, found);
      if (!reflection?.isDeclaration()) return;
      if (reflection.kindOf(ReflectionKind.TypeAlias)) collect(reflection.type, found);
      else if (IS_OPTIONS.test(reflection.name) && reflection.children) found.add(reflection);
    },
    intersection: ({ types }) => types.forEach((one) => collect(one, found)),
    union: ({ types }) => types.forEach((one) => collect(one, found)),
    optional: ({ elementType }) => collect(elementType, found),
  });
}

/** The types of the options of a function, in the order of its parameters. */
export function optionTypes(method) {
  const found = new Set();
  for (const { parameters, typeParameters } of method.signatures) {
    for (const { type } of typeParameters ?? []) collect(type, found);
    for (const { type } of parameters ?? []) collect(type, found);
  }
  return [...found];
}
