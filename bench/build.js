// Builds what the benchmarks run. Targets that nobody else needs are built here and nowhere else.
import { buildPackage, buildWasm } from '../tools/build.js';
import { cmake } from '../tools/build/cmake.js';
import { must, run, step } from '../tools/run.js';

/** The kernels as plain modules; with `all`, the package first. */
export async function buildBench({ all = true } = {}) {
  if (all) {
    await buildWasm();
    await buildPackage();
  }
  await step('build bench modules', () =>
    cmake('wasm', ['bench_simd', 'bench_relaxed'], ['-DQKV_BUILD_TESTS=ON']),
  );
}

/** The program that reads language models natively. */
export const buildModelProgram = () =>
  step('build the model program', () => cmake('native', ['qkv_bench_model']));

/** Whether Google Benchmark was there when CMake looked. */
async function haveNativeBench() {
  const { stdout } = await run('cmake', ['--build', '--preset', 'native', '--target', 'help']);
  return /^qkv_bench\b/m.test(stdout);
}

/** The native benchmark; false, and said loudly, without Google Benchmark. */
export async function buildNativeBench() {
  await must('cmake', ['--preset', 'native']);
  if (!(await haveNativeBench())) {
    console.warn(
      '\n*** NO NATIVE BENCHMARK: CMake found no Google Benchmark (Debian: libbenchmark-dev) ***\n',
    );
    return false;
  }
  await step('build native bench', () =>
    must('cmake', ['--build', '--preset', 'native', '--target', 'qkv_bench']),
  );
  return true;
}
