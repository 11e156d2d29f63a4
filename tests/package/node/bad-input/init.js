// init(): options that make no sense, and those that contradict each other.
import { init } from 'qkv';
import { notNumbers } from '../../../support/js/bad-arrays.js';
import { all, boolean, choice, given, not, options, refusal } from './kinds.js';

const invalid = 'invalid_argument';
const threads = "from 1 to 64 or 'auto'";
const contradicting = ['simd', 'relaxed'].map((variant) =>
  given({ 'options.variant': variant }, () =>
    [2, 64, 'auto'].map((count) =>
      refusal(
        `${count} for ${variant}`,
        count,
        ...[invalid, `variant is '${variant}'`, `threads is`, `${count}`, `'${variant}-threads'`],
      ),
    ),
  ),
);

export const initOptions = {
  method: 'init',
  says: 'init',
  rejects: true,
  base: () => ({ options: {} }),
  call: (_, args) => init(args.options).then((engine) => engine.dispose()),
  kinds: {
    options: options('threads', 'thread'),
    'options.variant': choice('auto', 'relaxed', 'simd', 'relaxed-threads', 'simd-threads'),
    'options.threads': all(
      (name) =>
        not(
          name,
          invalid,
          [
            ...[...notNumbers, [1.5, '1.5'], [NaN, 'NaN'], [Infinity, 'Infinity']],
            ...[[{}, 'Object'], ['all', '"all"'], ['', '""'], [new Number(2), 'Number']], // prettier-ignore
          ],
          threads,
        ),
      (name) =>
        not(
          name,
          'out_of_range',
          [0, -1, 65, 2 ** 40].map((n) => [n, `${n}`]),
          threads,
        ),
      ...contradicting,
    ),
    'options.deterministic': all(
      boolean,
      ...['relaxed', 'relaxed-threads'].map((variant) =>
        given({ 'options.variant': variant }, [
          refusal(`beside ${variant}`, true, invalid, `'${variant}'`, 'deterministic'),
        ]),
      ),
    ),
    'options.shared': boolean,
    'options.wasm': (name) =>
      not(
        name,
        invalid,
        [
          ...[[null, 'null'], [3, '3'], [true, 'true'], [() => 1, 'a function'], [{}, 'Object']],
          ...[[Symbol('s'), 'a symbol'], [[], 'an array'], [Promise.resolve(3), '3']],
        ], // prettier-ignore
        'a URL, bytes, a WebAssembly.Module or a Response',
      ),
  },
};
