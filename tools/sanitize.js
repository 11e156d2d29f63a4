// Suites of the full run in which the tests and Catch2 are sanitized, too. The core's are under ASan and UBSan on every
// instruction set but avx2, and as WebAssembly; the libraries of training and spectra are, and their tests are not
// (core/CMakeLists.txt). TSan has the tests that start threads, which have the tag [parallel]: no others can race.
// npm run test:sanitize: all of them.
import { cmake } from './build.js';
import { ctest, nativeIsas, newerIsas } from './runners.js';

/** What the fuzz targets run, and the tests of training: under ASan and UBSan there, with any arguments. */
const fuzzedIsa = 'avx2';

/** A part that builds a preset first. */
const built = (preset, target, name) => {
  const part = ctest(preset, name);
  return {
    title: `${preset}: ${name}`,
    async run() {
      await cmake(preset, [target]);
      return part.run();
    },
  };
};

/** Runs of one preset come one after the other, as they share a folder: in one suite, or in one that needs the other. */
export function fullSanitizers() {
  const inTurn = (name, parts, more = { of: 'core' }) => ({
    name,
    ...more,
    parts: [
      {
        title: name,
        async run() {
          const results = [];
          for (const part of parts) results.push(await part.run());
          const list = (key) => results.map((result) => result[key]).filter(Boolean);
          // A part that was skipped becomes a skipped test, so that --allow-skip can name that part alone.
          const tests = results.flatMap(({ tests: found, skipped }, i) =>
            skipped ? [{ name: parts[i].title, ok: true, skipped: true, reason: skipped }] : found,
          );
          return {
            tests,
            hung: list('hung').join('; ') || undefined,
            output: list('output').join('\n'),
          };
        },
      },
    ],
  });
  const runs = (preset, target, names) => names.map((name) => built(preset, target, name));
  return [
    inTurn(
      'ASan, UBSan: core and tests',
      // What runs no kernel is the same on every instruction set.
      runs('sanitize', 'qkv_tests', [
        ...[...nativeIsas, ...newerIsas]
          .filter((isa) => isa !== fuzzedIsa)
          .map((isa) => `native.${isa}`),
        'native.scalar.any_isa',
      ]),
    ),
    inTurn('TSan: core and tests', runs('sanitize-threads', 'qkv_tests', ['native.threads'])),
    inTurn(
      'TSan: training and tests',
      runs('sanitize-threads', 'qkv_train_tests', ['train.threads']),
      { of: 'training', needs: ['TSan: core and tests'] },
    ),
    // The relaxed kernels are these with another instruction for their fused arithmetic.
    inTurn(
      'ASan, UBSan: core and tests as WebAssembly',
      runs('sanitize-wasm', 'qkv_tests_simd', ['wasm.simd']),
    ),
  ];
}
