// CMake: the C++ library and its tests, natively and as WebAssembly, and the embind modules of the package.
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { root, toolchain } from '../environment.js';
import { must } from '../run.js';
import { linkedNames } from './modules.js';

/** Compilers that may hang, in ms. */
export const LIMIT = 1_800_000;

/** Builds targets of a preset that is configured. */
async function compile(preset, targets) {
  const named = targets.flatMap((target) => ['--target', target]);
  const line = ['--build', '--preset', preset, '--parallel', `${availableParallelism()}`, ...named];
  await must('cmake', line, { timeout: LIMIT });
}

/** What CMake is called with to configure a preset. */
export function configureLine(preset, options) {
  const launcher = toolchain.CCACHE ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${toolchain.CCACHE}`] : [];
  const isWasm = preset.includes('wasm');
  const place = isWasm ? [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`] : [];
  return ['--preset', preset, ...place, ...launcher, ...options];
}

/** Configures a preset and builds targets of it. */
export async function cmake(preset, targets, options = []) {
  await must('cmake', configureLine(preset, options), { timeout: LIMIT });
  await compile(preset, targets);
}

/** The C++ library and its tests for every instruction set the compiler can produce. */
export const native = () => cmake('native', ['all']);

/** The libraries alone, and the trainer of recipes. */
export const nativeLibraries = () => cmake('native', ['qkv', 'qkv_train', 'qkv_spectra', 'qkv_trainer']);

/** The C++ suites as WebAssembly. */
export function wasmTests() {
  const targets = ['simd', 'relaxed'].flatMap((v) => [`qkv_tests_${v}`, `qkv_train_tests_${v}`]);
  return cmake('wasm', [...targets, 'qkv_spectra_tests_simd'], ['-DQKV_BUILD_TESTS=ON']);
}

const targetsOf = (names) => names.map((name) => `module_${name}`);

/**
 * Embind modules of the package; all of them by default. For development they are linked without Binaryen's optimiser, in a fifth of
 * the time. They need nothing of what the tests need. Where the tests are configured already, they stay so: CMake deletes what it no
 * longer has a rule for.
 */
export function modules(names = linkedNames, { development = false } = {}) {
  const isNew = !existsSync(join(root, 'build/wasm/CMakeCache.txt'));
  return cmake('wasm', targetsOf(names), [
    ...(isNew ? ['-DQKV_BUILD_TESTS=OFF', '-DQKV_WERROR=ON'] : []),
    `-DQKV_DEVELOPMENT=${development ? 'ON' : 'OFF'}`,
  ]);
}

/** Some of them once more, after a change of their sources. */
export const modulesAgain = (names) => compile('wasm', targetsOf(names));
