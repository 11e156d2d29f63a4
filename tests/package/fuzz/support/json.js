// Values that a stranger's JSON may have where something else is expected.
import fc from 'fast-check';

/** Lists within lists, deeper than a function can call itself. */
const deepText = '['.repeat(20_000) + ']'.repeat(20_000);
const deep = JSON.parse(deepText);
/** No text is made of this one: its toString is no function. */
export const unprintable = Object.freeze({ toString: 1, valueOf: 2 });
export const long = 'x'.repeat(100_000);

/** Names that every object would inherit something by, and other odd ones. */
export const oddNames = [
  ...['__proto__', 'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'],
  ...['', ' ', '\u0000', '\ud800', '../x', long, '__metadata__', 'length', '0'],
];

export const oddNumbers = [
  ...[0, -0, -1, 1, 0.5, 31, 32, 64, 2 ** 16, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 40, 2 ** 53 - 1],
  ...[2 ** 53, 2 ** 63, 1e308, -1e308, 5e-324],
];

/** By a name, because of some nobody could read a report. */
const odd = {
  deep,
  unprintable,
  long,
  null: null,
  list: [],
  object: {},
  own: { ['__proto__']: 1 },
};

/** A description of a value, which `jsonOf` makes. */
export const anyJson = fc.oneof(
  fc.constantFrom(...oddNumbers).map((value) => ({ value })),
  fc.constantFrom(...Object.keys(odd)).map((name) => ({ name })),
  fc.constantFrom(true, false, 'F32', 'I8', 'gelu', '__proto__', '1', 'llama').map((value) => ({ value })),
  fc.jsonValue({ maxDepth: 2 }).map((value) => ({ value })),
); // prettier-ignore

export const jsonOf = ({ name, value }) => (name === undefined ? value : odd[name]);

/** The value as text: of what is deeper than JSON.stringify() can follow, too. */
export const jsonText = ({ name, value }) =>
  name === 'deep' ? deepText : JSON.stringify(jsonOf({ name, value }));

/** An object as text, of pairs of a name and a text, of which a name may come twice. */
export const objectText = (pairs) =>
  `{${pairs.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/** What is nearly always right, and one time in forty odd. */
export const rarely = (usually, odd) =>
  fc.oneof({ weight: 40, arbitrary: usually }, { weight: 1, arbitrary: odd });

/** Options without those that are undefined. */
export const defined = (options) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
