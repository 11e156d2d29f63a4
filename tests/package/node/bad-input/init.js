// init(): options that make no sense, and those that contradict each other.
import { init } from 'qkv';
import { notNumbers } from '../../../support/js/bad-arrays.js';
import { all, boolean, choice, given, noneOf, options, refused } from './kinds.js';

const invalid = 'invalid_argument';
const sources = 'a URL, bytes, a WebAssembly.Module or a Response';
const threads = "from 1 to 64 or 'auto'";
const contradicting = ['simd', 'relaxed'].map((variant) =>
  given({ 'options.variant': variant }, () =>
    [2, 64, 'auto'].map((count) =>
      refused(
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
        noneOf(
          name,
          invalid,
          [...notNumbers, 1.5, NaN, Infinity, {}, 'all', '', new Number(2)],
          threads,
        ),
      (name) => noneOf(name, 'out_of_range', [0, -1, 65, 2 ** 40], threads),
      ...contradicting,
    ),
    'options.deterministic': all(
      boolean,
      ...['relaxed', 'relaxed-threads'].map((variant) =>
        given({ 'options.variant': variant }, [
          refused(true, invalid, `'${variant}'`, 'deterministic'),
        ]),
      ),
    ),
    'options.shared': boolean,
    'options.wasm': (name) => [
      ...noneOf(name, invalid, [null, 3, true, () => 1, {}, Symbol('s'), []], sources),
      refused(Promise.resolve(3), invalid, 'wasm is 3', sources),
    ],
  },
};
