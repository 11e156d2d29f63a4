// What can be wrong with an argument of each kind. A kind is a function of the argument's name that lists
// { what, value, code, says }, where `value` may be a function of the world the table lives in (see
// harness.js), `with` other arguments that the case needs, and `says` what the message tells.
import { booleanMask, zeros } from '../../../support/js/arrays.js';
import { badArrays, notBooleans, notNumbers } from '../../../support/js/bad-arrays.js';

const invalid = 'invalid_argument';
const shapes = 'shape_mismatch';
const range = 'out_of_range';

export const refusal = (what, value, code, ...says) => ({ what, value, code, says });
/** A value that is refused with a message that says this. */
export const refused = (value, code, ...says) => refusal(says[0], value, code, ...says);
/** A case that needs other arguments, by path. */
export const beside = (others, c) => ({ ...c, with: others });
/** A value that only the world can make. */
export const made = (make) => ({ make });

/** How messages show a value. */
export function shown(value) {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'string') return JSON.stringify(value);
  if (['function', 'bigint', 'symbol'].includes(typeof value)) return `a ${typeof value}`;
  return Object(value) === value ? value.constructor.name : String(value);
}
/** Refusals of each of these values for what it is. */
export const noneOf = (name, code, values, ...says) =>
  values.map((value) => refused(value, code, `${name} is ${shown(value)}`, ...says));
/** Shapes that are refused beside an expectation. */
export const to = (expected, ...all) => all.map((shape) => [shape, expected]);

/** Cases of several kinds; `of` may be kinds or lists of cases. */
export const all =
  (...of) =>
  (name) =>
    of.flatMap((kind) => (typeof kind === 'function' ? kind(name) : kind));
/** A kind whose cases need other arguments, by path. */
export const given = (others, kind) => (name) =>
  all(kind)(name).map((c) => ({ ...c, with: { ...others, ...c.with } }));
/** The same cases and one of its absence. */
export const required =
  (kind, was = 'undefined') =>
  (name) => [
    ...kind(name),
    refused(undefined, invalid, was === 'missing' ? `${name} is missing` : `${name} is ${was}`),
  ];

const handles = (name) => [
  refusal(
    'a disposed tensor',
    made(({ dead, shape }) => dead(shape)),
    'disposed',
    `${name} is a disposed tensor`,
  ),
  refusal(
    'a tensor of another engine',
    made(({ foreign, shape }) => foreign(shape)),
    invalid,
    `${name} is a tensor of another engine`,
  ),
];

/**
 * An array or tensor that has `shape` when it is right, and is refused with each of `wrong`, a list of
 * [shape, what the message expects].
 */
export const array =
  (shape, wrong, { expected, optional = false, mask = false } = {}) =>
  (name) => [
    ...badArrays(name, expected)
      .slice(optional ? 1 : 0)
      .map(([what, value, code, ...says]) => refusal(what, value, code, ...says)),
    ...wrong.map(([of, ...says]) => refused(zeros(of), shapes, `${name} is [${of}]`, ...says)),
    ...(mask
      ? wrong.map(([of, ...says]) =>
          refused(
            booleanMask(of, () => true),
            shapes,
            `[${of}]`,
            ...says,
          ),
        )
      : []),
    ...handles(name).map((c) => ({ ...c, shape })),
  ];

/** A typed array of `length` numbers (undefined: of any length), and nothing else but what is `besides`. */
const typed =
  (Type, others, length, besides = []) =>
  (name) => {
    const of = length ?? 3;
    const expected = `${Type.name}${length === undefined ? '' : ` of ${length}`}`;
    return [
      ...noneOf(
        name,
        invalid,
        [
          ...[null, 3, 'x', zeros([of]), ...others.map((Other) => new Other(of))],
          ...(besides.includes(Array) ? [] : [Array(of).fill(0)]),
        ],
        expected,
      ),
      refused(
        made(({ tensor }) => tensor([of])),
        invalid,
        `${name} is Tensor`,
      ),
      ...(length === undefined ? [] : [length - 1, length + 1]).map((n) =>
        refused(new Type(n), shapes, `${name} has ${n} elements`, `expected ${length}`),
      ),
    ];
  };
export const floats = (length) => typed(Float32Array, [Float64Array, Int32Array], length);
export const integers = (length) =>
  all(typed(Int32Array, [Uint32Array, Float32Array, BigInt64Array], length, [Array]), (name) => {
    const list = Array(length ?? 3).fill(0);
    const at = list.length - 1;
    const holds = (value, code, was, expected) =>
      refused(list.with(at, value), code, `${name}[${at}] is ${was}`, expected);
    const hole = [...list];
    delete hole[at];
    return [
      ...[1.5, NaN, Infinity, 2 ** 53].map((n) => holds(n, invalid, `${n}`, 'a whole number')),
      ...['1', 1n, null, [1], true].map((value) =>
        holds(value, invalid, shown(value), 'a whole number'),
      ),
      refused(hole, invalid, `${name}[${at}] is undefined`, 'a whole number'),
      ...[2 ** 31, -(2 ** 31) - 1].map((n) =>
        holds(n, range, `${n}`, 'expected -2147483648 to 2147483647'),
      ),
      ...(length === undefined ? [] : [length - 1, length + 1]).map((n) =>
        refused(Array(n).fill(0), shapes, `${name} has ${n} elements`, `expected ${length}`),
      ),
    ];
  });

/** A whole number from `least` to `most`. */
export const whole =
  (least, most, ...expected) =>
  (name) => {
    const beyond = [least - 1, ...(least - 1 > -9 ? [-9] : []), most + 1, 2 ** 53 - 1];
    return [
      ...noneOf(name, invalid, [...notNumbers, 1.5, NaN, Infinity, 2 ** 53], 'a whole number'),
      ...beyond.map((value) => refused(value, range, `${name} is ${value}`, ...expected)),
    ];
  };

/** A number that is finite as a float32; `beyond` lists [value, code, ...says] of what it may not be. */
export const number =
  (...beyond) =>
  (name) => [
    ...noneOf(name, invalid, [...notNumbers, NaN, Infinity, -Infinity, 1e300], 'a number'),
    ...beyond.map(([value, code, ...says]) => refused(value, code, `${name} is ${value}`, ...says)),
  ];

export const boolean = (name) => noneOf(name, invalid, notBooleans, 'a boolean');

/** One of these words. */
export const choice =
  (...words) =>
  (name) =>
    noneOf(
      name,
      invalid,
      [words[0].toUpperCase(), '', null, 0, true, [words[0]]],
      words.map((word) => `'${word}'`).join(' or '),
    );

/** An object of options, one of which is `known`. */
export const options = (known, misspelt) => (name) => [
  ...noneOf(name, invalid, [null, 3, 'x', [], new Map(), Promise.resolve(), () => 1], 'an object'),
  refused(
    made(({ tensor }) => tensor([1])),
    invalid,
    `${name} is Tensor`,
  ),
  refused({ zzzz: 1 }, invalid, `${name} has the unknown key 'zzzz'`, known),
  refusal(
    'a misspelt key',
    { [misspelt]: 1 },
    invalid,
    `${name} has the unknown key '${misspelt}'`,
    `expected '${known}' or another`,
  ),
];

/** A KvCache; `makes` are options that make one that does not fit. */
export const cache =
  (...makes) =>
  (name) => [
    ...noneOf(name, invalid, [null, 3, true, {}, []], 'a KvCache'),
    refused(
      made(({ tensor }) => tensor([1])),
      invalid,
      'cache is Tensor',
    ),
    refused(
      made(({ cacheOf }) => {
        const dead = cacheOf(makes[0]);
        dead.dispose();
        return dead;
      }),
      'disposed',
      'cache is disposed',
    ),
    refused(
      made(({ foreignCache }) => foreignCache(makes[0])),
      invalid,
      'cache is of another engine',
    ),
    ...makes.map((make) =>
      refused(
        made(({ cacheOf }) => cacheOf(make)),
        make.capacity === 0 ? range : shapes,
        'the cache holds',
      ),
    ),
  ];

/** A tensor to write to, of exactly `shape`. */
export const output =
  (shape, ...wrong) =>
  (name) => [
    ...noneOf(name, invalid, [null, 3, zeros(shape), new Float32Array(4)], 'a Tensor'),
    ...wrong.map((of) =>
      refused(
        made(({ tensor }) => tensor(of)),
        shapes,
        `${name} is [${of}]`,
        `[${shape}]`,
      ),
    ),
    ...handles(name).map((c) => ({ ...c, shape })),
  ];

/**
 * Makes tables of methods of this type: a name with `args`, which are right and in the order of the parameters, and the kinds of
 * these by their paths.
 */
export const methodsOf =
  (type) =>
  (name, { args: base, ...kinds }) => ({
    method: `${type}.${name}`,
    says: name,
    base: () => base,
    call: ({ engine }, args) => engine[name](...Object.keys(base).map((key) => args[key])),
    kinds,
  });
