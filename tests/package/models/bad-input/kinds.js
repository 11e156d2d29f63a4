// What can be wrong with arguments that models alone have; see kinds.js of tests/package/node/bad-input.
import {
  all,
  boolean,
  made,
  noneOf,
  options,
  refused,
  shown,
  whole,
} from '../../node/bad-input/kinds.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const shapes = 'shape_mismatch';

/** Values that stand for nothing elsewhere; here only undefined does. */
const nothings = [null, 0, false, ''];
/** No list, in no way. */
const notLists = [...nothings, 3, {}, () => [], BigInt64Array.of(1n)];

/** A list of whole numbers, in [0, end) and of `length` as far as these are known. */
export const wholes =
  ({ end, length }, ...more) =>
  (name) => {
    const list = Array(length ?? 2).fill(0);
    const last = list.length - 1;
    const ends = (value, code) =>
      refused(list.with(last, value), code, `${name}[${last}] is ${shown(value)}`);
    return [
      ...noneOf(name, invalid, notLists, 'whole numbers'),
      ...[0.5, NaN, '1', null, 1n].map((value) => ends(value, invalid)),
      ends(2 ** 31, range),
      ...(end === undefined ? [] : [-1, end]).map((value) =>
        refused(list.with(last, value), range, name),
      ),
      refused(
        Float32Array.from(list, () => 0.5),
        invalid,
        `${name}[0] is 0.5`,
      ),
      ...(length === undefined ? [] : [length - 1, length + 1]).map((count) =>
        refused(
          Array(count).fill(0),
          shapes,
          `${name} has ${count} elements`,
          `expected ${length}`,
        ),
      ),
      ...more,
    ];
  };

/** Tokens of a vocabulary of 19, at least one. */
export const tokens = (...more) =>
  wholes(
    { end: 19 },
    refused(undefined, invalid, ' is undefined', 'whole numbers'),
    refused([], shapes, ' has 0 elements'),
    refused('xyz', invalid, ' '),
    ...more,
  );

/** A list of what `is` says; `wrong` lists [value, code, ...says] of lists that are refused. */
export const listOf =
  (is, ...wrong) =>
  (name) => [
    ...noneOf(name, invalid, notLists, is),
    ...wrong.map(([value, code, ...says]) =>
      refused(value, code, ...says.map((text) => text.replace('@', name))),
    ),
  ];

/** A session of the model. */
export const session = (...more) =>
  all(
    (name) =>
      noneOf(name, invalid, [...nothings, 3, {}, []], 'one that session() of this model made'),
    [
      refused(
        made(({ model }) => {
          const own = model.session();
          own.dispose();
          return own;
        }),
        'disposed',
        'the session',
      ),
      refused(
        made(({ otherSession }) => otherSession),
        invalid,
        'session is of another model',
      ),
    ],
    more,
  );

export const signal = (name) =>
  noneOf(name, invalid, [...nothings, 3, {}, { aborted: true }], 'an AbortSignal');

const heads = listOf(
  'an array of [layer, head]',
  [[[0]], invalid, '@ is an array'],
  [[3], invalid, '@ is an array'],
  [[[0, 1, 2]], invalid, '@ is an array'],
  [[[2, 0]], range, '@[0][0] is 2', '0 to 1'],
  [[[0, 0], [0, -1]], range, '@[1][1] is -1', '0 to 3'], // prettier-ignore
  [[[0, 0.5]], invalid, '@[0][1] is 0.5'],
);

/** `inspect` of a pass over 6 tokens through 2 layers of 4 heads, and what is below it. */
export const inspectKinds = {
  'options.inspect': all(options('weights', 'wieghts'), (name) =>
    noneOf(name, invalid, nothings, 'an object'),
  ),
  'options.inspect.layers': listOf(
    'an array of layers',
    [[2], range, '@[0] is 2', '0 to 1'],
    [[0, -1], range, '@[1] is -1'],
    [[0.5], invalid, '@[0] is 0.5'],
    [[0, 1, 0], invalid, '@ has 0 twice', 'each layer once'],
  ),
  ...Object.fromEntries(
    ['weights', 'entropy', 'residuals', 'logitLens', 'projections'].map((name) => [
      `options.inspect.${name}`,
      boolean,
    ]),
  ),
  'options.inspect.ablate': heads,
};

export const rows = listOf(
  '[begin, end]',
  [[0], invalid, '@ is an array'],
  [[0, 1, 2], invalid, '@ is an array'],
  [[6, 7], range, '@[0] is 6', '0 to 5'],
  [[2, 2], range, '@[1] is 2', '3 to 6'],
  [[0, 7], range, '@[1] is 7'],
  [[0, 0.5], invalid, '@[1] is 0.5'],
);

const most = 2 ** 31 - 1;
export const anyInteger = whole(1, most, '1 to');
export const tokenizer = (name) =>
  noneOf(
    name,
    invalid,
    [...nothings, 3, {}, { encode: () => [] }, []],
    'an object with encode() and decode()',
  );
