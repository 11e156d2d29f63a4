// Things that are no arrays, for every argument that should be one.

const floats = (n) => new Float32Array(n);

/**
 * [claim, value, code, what the message says besides the argument's name].
 * `expected` is what it says it would have taken.
 */
export const badArrays = (name, expected = '{ data: Float32Array, shape } or a Tensor') => [
  [`${name} is missing`, undefined, 'invalid_argument', `${name} is undefined`, expected],
  [`${name} is null`, null, 'invalid_argument', `${name} is null`, expected],
  [`${name} is a number`, 3, 'invalid_argument', `${name} is 3`, expected],
  [`${name} is text`, 'x', 'invalid_argument', `${name} is "x"`, expected],
  [`${name} is a function`, () => 1, 'invalid_argument', `${name} is a function`, expected],
  [`${name} is a plain array`, [1, 2], 'invalid_argument', `${name} is an array`, expected],
  [`${name} is bare data`, floats(4), 'invalid_argument', `${name} is Float32Array`, expected],
  [`${name} is empty`, {}, 'invalid_argument', `${name} is Object`, expected],
  [
    `the data of ${name} are numbers of JavaScript`,
    { data: [1, 2], shape: [2] },
    ...['invalid_argument', `${name} is { data: an array }`, expected],
  ],
  [
    `the data of ${name} are float64`,
    { data: new Float64Array(4), shape: [2, 2] },
    ...['invalid_argument', `${name} is { data: Float64Array }`, expected],
  ],
  [
    `the data of ${name} are integers`,
    { data: new Int32Array(4), shape: [2, 2] },
    ...['invalid_argument', `${name} is { data: Int32Array }`, expected],
  ],
  ...[
    ['missing', undefined, 'undefined'],
    ['a number', 4, '4'],
    ['a typed array', Int32Array.of(2, 2), 'Int32Array'],
    ['negative', [-2, -2], '[-2,-2]'],
    ['fractional', [2.5, 2], '[2.5,2]'],
    ['NaN', [NaN, 2], '[NaN,2]'],
    ['text', ['2', 2], '[2,2]'],
    ['with a hole', [, 4], '[,4]'], // oxlint-disable-line no-sparse-arrays
  ].map(([what, shape, was]) => [
    `the shape of ${name} is ${what}`,
    { data: floats(4), shape },
    ...['invalid_argument', `shape of ${name} is ${was}`, 'whole numbers'],
  ]),
  [
    `${name} has fewer elements than its shape says`,
    { data: floats(5), shape: [2, 3] },
    ...['shape_mismatch', `${name} has 5 elements`, '6 for shape [2,3]'],
  ],
  [
    `${name} has more elements than its shape says`,
    { data: floats(7), shape: [2, 3] },
    ...['shape_mismatch', `${name} has 7 elements`, '6 for shape [2,3]'],
  ],
];

export const notBooleans = [1, 'true', null, {}];
export const notNumbers = ['1', true, null, [1], 1n];
