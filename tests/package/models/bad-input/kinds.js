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

/** Lists below others are named as they stand: of `edit[0]` and not of `options`. */
const fieldsOf = (list, of) => (name) =>
  Object.entries(of).flatMap(([field, cases]) =>
    cases.map(([value, code, ...says]) =>
      refused(
        [{ ...list[0], [field]: value }],
        code,
        ...says.map((text) => text.replace('@', `${name}[0].${field}`)),
      ),
    ),
  );

const floats = (...numbers) => Float32Array.from(numbers);
const badRange = [
  [3, invalid, '@ is 3', '[begin, end]'],
  [[0], invalid, '@ is an array', '[begin, end]'],
  [[-1, 1], range, '@[0] is -1'],
  [[1, 1], range, '@[1] is 1', '2 to'],
  [[0, 0.5], invalid, '@[1] is 0.5'],
];
const notSites = [
  ...['Z', '', null, 3, undefined].map((site) => [site, invalid, `@ is ${shown(site)}`, "'embed' or 'q'"]),
  ['cross', 'unsupported', "@ is 'cross'", 'no encoder'],
]; // prettier-ignore

/** `read` of a pass over 6 tokens through 2 layers. */
export const readKind = all(
  listOf(
    'an array of { site',
    [[3], invalid, '@[0] is 3', 'an object'],
    [[{}], invalid, '@[0].site is undefined'],
    [[{ site: 'z', layer: 1 }], invalid, "@[0] has the unknown key 'layer'", "'layers'"],
    [[{ site: 'z' }, { site: 'z', layers: [1] }], invalid, "@[1] asks for 'z' of layer 1, which read[0] asks for"],
    [[{ site: 'embed' }, { site: 'embed' }], invalid, "@[1] asks for 'embed'"],
    [[{ site: 'final', layers: [0] }], invalid, '@[0].layers is an array', "'final' is of no layer"],
  ),
  fieldsOf([{ site: 'z' }], {
    site: notSites,
    layers: [
      [3, invalid, '@ is 3', 'an array of layers'],
      [[2], range, '@[0] is 2', '0 to 1'],
      [[0, 0], invalid, '@ has 0 twice'],
    ],
    rows: [...badRange, [[0, 7], range, '@[1] is 7', '1 to 6']],
  }),
); // prettier-ignore

/** Values and addends over 4 numbers of a head, and over all 6 rows of it. */
const operands = [
  ...[null, '1', [1, 2, 3, 4], {}, new Float64Array(4)].map((value) => [value, invalid, `@ is ${shown(value)}`, 'a number, a Float32Array']),
  ...[NaN, Infinity, -Infinity, 1e300].map((value) => [value, invalid, `@ is ${value}`, 'finite']),
  [floats(1, NaN, 1, 1), invalid, '@[1] is NaN', 'finite'],
  [floats(1, 2, 3), shapes, '@ has 3 elements', '4'],
  [{ data: floats(1, 2, 3), shape: [3] }, shapes, '@ is [3]', '[4]'],
  [{ data: floats(1, 2, 3), shape: [4] }, shapes, '@ has 3 elements', '4'],
  [{ data: new Float32Array(24), shape: [4, 6] }, shapes, '@ is [4,6]', '[4]'],
]; // prettier-ignore

/** `edit` of a pass over 6 tokens through 2 layers of 4 heads of 4 numbers; of a generation all rows are open. */
export const editKind = ({ isOpen = false } = {}) =>
  all(
    listOf(
      'an array of { site',
      [[3], invalid, '@[0] is 3', 'an object'],
      [[{ site: 'z', layer: 0, heads: 1, value: 0 }], invalid, "@[0] has the unknown key 'heads'", "'head'"],
      [[{ site: 'z', layer: 0 }], invalid, '@[0] has none of value, add and scale'],
      [[{ site: 'heads', layer: 0, value: 0 }], invalid, '@[0].site is "heads"'],
      [[{ site: 'final', value: 0 }], invalid, '@[0].site is "final"'],
      [[{ site: 'embed', layer: 0, value: 0 }], invalid, '@[0].layer is 0', "'embed' is of no layer"],
      [[{ site: 'residual', layer: 0, head: 1, value: 0 }], invalid, '@[0].head is 1', "'residual' has no heads"],
      [[{ site: 'k', layer: 0, head: 4, value: 0 }], range, '@[0].head is 4'],
      [[{ site: 'weights', layer: 0, columns: [0, 1], value: 0 }], invalid, '@[0].columns is an array', "'weights' has keys"],
      [[{ site: 'residual', layer: 0, keys: [0, 1], value: 0 }], invalid, '@[0].keys is an array', "'residual' has columns"],
      [[{ site: 'weights', layer: 0, value: -Infinity }], invalid, '@[0].value is -Infinity'],
      [[{ site: 'scores', layer: 0, value: Infinity }], invalid, '@[0].value is Infinity', 'or -Infinity'],
      ...(isOpen
        ? [[[{ site: 'z', layer: 0, head: 0, rows: [0, 2], value: new Float32Array(8) }], shapes, '@[0].value has 8 elements']]
        : [[[{ site: 'scores', layer: 0, keys: [6, 7], value: 0 }], range, '@[0].keys[0] is 6', '0 to 5']]),
    ),
    fieldsOf([{ site: 'z', layer: 1, head: 2, value: 0 }], {
      site: notSites,
      layer: [
        [2, range, '@ is 2', '0 to 1'],
        ...[0.5, '1', undefined].map((value) => [value, invalid, `@ is ${shown(value)}`]),
      ],
      head: [[4, range, '@ is 4', '0 to 3'], [-1, range, '@ is -1'], ['0', invalid, '@ is "0"']],
      batch: [...badRange.filter(([value]) => value[0] !== 1), [[0, 2], range, '@[1] is 2', '1 to 1']],
      rows: isOpen ? badRange : [...badRange, [[0, 7], range, '@[1] is 7', '1 to 6']],
      columns: [...badRange, [[0, 5], range, '@[1] is 5', '1 to 4']],
      value: operands,
      add: operands,
      scale: [NaN, Infinity, '1', null].map((value) => [value, invalid, `@ is ${shown(value)}`, 'a number']),
    }),
  ); // prettier-ignore

const most = 2 ** 31 - 1;
export const anyInteger = whole(1, most, '1 to');
export const tokenizer = (name) =>
  noneOf(
    name,
    invalid,
    [...nothings, 3, {}, { encode: () => [] }, []],
    'an object with encode() and decode()',
  );
