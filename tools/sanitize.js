// Suites in which everything is sanitized, the tests and Catch2 included. `npm test` links the tests with a
// sanitized core instead (core/CMakeLists.txt).
// npm run test:sanitize: all of them.
import { cmake } from './build.js';
import { ctest, nativeIsas } from './runners.js';

/** The best instruction set that nearly every machine has. */
const commonIsa = nativeIsas.find((isa) => isa !== 'avx512');

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

/** Every preset in a suite of its own, its runs one after the other: they share a folder. */
export function fullSanitizers() {
  const of = 'core';
  const inTurn = (name, parts) => ({
    name,
    of,
    parts: [
      {
        title: name,
        async run() {
          const results = [];
          for (const part of parts) results.push(await part.run());
          const list = (key) => results.map((result) => result[key]).filter(Boolean);
          return {
            tests: list('tests').flat(),
            skipped: list('skipped').join('; ') || undefined,
            hung: list('hung').join('; ') || undefined,
            output: list('output').join('\n'),
          };
        },
      },
    ],
  });
  const both = (preset, target, names) =>
    names.flatMap((name) => [
      built(preset, target, name),
      built(preset, target, `${name}.any_isa`),
    ]);
  return [
    inTurn(
      'ASan, UBSan: core and tests',
      both(
        'sanitize',
        'qkv_tests',
        nativeIsas.map((isa) => `native.${isa}`),
      ),
    ),
    inTurn('TSan: core and tests', [
      ...both('sanitize-threads', 'qkv_tests', [`native.${commonIsa}`]),
      built('sanitize-threads', 'qkv_tests', 'native.threads'),
    ]),
    // The relaxed kernels are these with another instruction for their fused arithmetic.
    inTurn(
      'ASan, UBSan: core and tests as WebAssembly',
      both('sanitize-wasm', 'qkv_tests_simd', ['wasm.simd']),
    ),
  ];
}
