// Rotary options, of rotaryEmbedding() and of layers.
import { zeros } from '../../../support/js/arrays.js';
import {
  all,
  array,
  boolean,
  choice,
  given,
  integers,
  number,
  options,
  refused,
  whole,
  to,
} from './kinds.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const most = 2 ** 31 - 1;
const yarn = { type: 'yarn', factor: 2, originalLength: 8 };
const positive = 'a positive finite number';
const missing = (name) => refused(undefined, invalid, `${name} is undefined`);

/**
 * Kinds by path below `at`, for heads of `width`. In a call `tokens` says how many positions there are;
 * a layer learns that later. A layer has `heads`.
 */
export function rotaryKinds(at, { width, tokens, heads }) {
  const path = (name) => `${at}.${name}`;
  const within = (name, scaling, kind) => ({
    [path(`scaling.${name}`)]: given({ [path('scaling')]: scaling }, kind),
  });
  const table = (name, other) =>
    given(
      { [path(other)]: zeros([9, width / 2]) },
      all(
        array([9, width / 2], [], { optional: true }),
        (of) =>
          to(`[*,${width / 2}]`, [width / 2], [9, width]).map(([shape, says]) =>
            refused(zeros(shape), 'shape_mismatch', `${of} is [${shape}]`, says),
          ),
        // More axes than the core has room for among its arguments.
        (of) =>
          [4, 5, 64].map((rank) => {
            const shape = Array(rank).fill(1);
            return refused(
              zeros(shape),
              'shape_mismatch',
              `${of} is [${shape}]`,
              '[P,rotaryDim/2]',
            );
          }),
        [refused(undefined, invalid, `${other} is given without ${name}`, 'both')],
      ),
    );
  return {
    [path('offset')]: all(
      whole(-most, most),
      tokens
        ? [
            refused(2 ** 20 + 1, range, 'offset is 1048577', '-1048576 to 1048576'),
            refused(-(2 ** 20) - 1, range, 'offset is -1048577'),
          ]
        : [],
    ),
    [path('positions')]: tokens
      ? all(
          // As many as tokens, or as tokens of all batch rows: of another number the message says the latter.
          (name) => integers(tokens[0] * tokens[1])(name),
          refused(new Int32Array(tokens[1]).fill(2 ** 21), range, 'positions[0] is 2097152'),
        )
      : integers(),
    [path('base')]: number(
      ...[0, 0.5, -2].map((value) => [value, invalid, 'a finite number of at least 1']),
    ),
    [path('rotaryDim')]: all(whole(2, most, '2 to'), [
      refused(3, range, 'rotaryDim is 3', 'an even number'),
      refused(width + 2, range, `rotaryDim is ${width + 2}`, `d = ${width}`),
    ]),
    [path('interleaved')]: boolean,
    [path('scaling')]: options('type', 'typ'),
    ...within('type', { type: 'ntk', factor: 2 }, all(choice('linear', 'ntk', 'yarn'), missing)),
    ...within(
      'factor',
      { type: 'ntk', factor: 2 },
      all(number(), missing, [refused(0.5, invalid, 'scaling.factor is 0.5', 'at least 1')]),
    ),
    ...within('originalLength', yarn, all(whole(1, most, '1 to'), missing)),
    ...within(
      'betaFast',
      yarn,
      all(number(), [refused(0.5, invalid, 'scaling.betaFast is 0.5', 'scaling.betaSlow')]),
    ),
    ...within(
      'betaSlow',
      yarn,
      all(number(), [refused(0, invalid, 'scaling.betaSlow is 0', positive)]),
    ),
    ...within(
      'attentionFactor',
      yarn,
      all(number(), [refused(0, invalid, 'scaling.attentionFactor is 0', positive)]),
    ),
    [path('cos')]: table('cos', 'sin'),
    [path('sin')]: table('sin', 'cos'),
    [path('numHeads')]: all(
      whole(1, most, '1 to'),
      heads ? [refused(heads + 1, invalid, `numHeads is ${heads + 1}`, `${heads}`)] : [],
    ),
  };
}
