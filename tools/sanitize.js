// The C++ suite under sanitizers: address and undefined behaviour natively and as WebAssembly, threads
// natively. `npm test` runs quickSuites, chosen to take a few minutes; `npm run test:sanitize` runs
// everything, and prints what it counted.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { root, toolchain } from './environment.js';
import { fuzzNative } from './fuzz_native.js';
import { must, run } from './run.js';

const reportPattern = /runtime error:|ERROR: (?:Address|Leak)Sanitizer|WARNING: ThreadSanitizer/g;

/** Cases, assertions and reports of a Catch2 run. */
function count(code, coloured) {
  const output = stripVTControlCharacters(coloured);
  const passed =
    /All tests passed \((\d+) assertions? in (\d+) test cases?\)/.exec(output) ??
    /test cases: +\d+ \| +(?<cases>\d+) passed[^]*?assertions: +(\d+)/.exec(output);
  const assertions = passed?.groups ? passed[2] : passed?.[1];
  const cases = Number(passed?.groups ? passed.groups.cases : (passed?.[2] ?? 0));
  const reports = output.match(reportPattern)?.length ?? 0;
  const failed = code === 0 && reports === 0 && cases > 0 ? 0 : 1;
  return {
    passed: cases,
    failed,
    note: `${assertions ?? 0} assertions, ${reports} reports`,
    output,
  };
}

/** Configures and builds a preset's tests; `files` are those of tests/core to build, or all of them. */
async function build(preset, target, { files = '', options = [] } = {}) {
  await must('cmake', ['--preset', preset, `-DQKV_TEST_FILES=${files}`, ...options]);
  await must('cmake', ['--build', '--preset', preset, '--target', target]);
}

/** A suite that builds a preset and runs it on one instruction set; the best one if none is named. */
const native = (title, preset, { isa = '', files, tests = [] }) => ({
  name: `${title}${isa ? `, ${isa}` : ''}`,
  async run() {
    await build(preset, 'qkv_tests', { files });
    const binary = join(root, `build/${preset}/tests/qkv_tests`);
    if (isa && !(await must(binary, ['[isas]'])).stdout.includes(`isa ${isa} supported`)) {
      return { passed: 0, failed: 0, note: 'skipped: this machine lacks it' };
    }
    const { code, output } = await run(binary, tests, { env: isa ? { QKV_ISA: isa } : {} });
    return count(code, output);
  },
});

const isaOf = { simd: 'wasm-simd128', relaxed: 'wasm-relaxed-simd' };

const wasm = (variant, { files } = {}) => ({
  name: `ASan, UBSan, assertions: wasm ${variant}, Node`,
  async run() {
    const preset = 'sanitize-wasm';
    const options = [`-DCMAKE_TOOLCHAIN_FILE=${toolchain.EMCMAKE_TOOLCHAIN}`];
    await build(preset, `qkv_tests_${variant}`, { files, options });
    const flags = variant === 'relaxed' ? ['--experimental-wasm-relaxed-simd'] : [];
    const { code, output } = await run(process.execPath, [
      ...[...flags, 'tests/core/run_wasm.js', variant, isaOf[variant]],
      ...['--build', `build/${preset}`],
    ]);
    return count(code, output);
  },
});

/** From a fixed seed: what a commit is blamed for should not hang on luck. */
const fuzz = (seconds) => ({
  name: `fuzz targets, ${seconds} s`,
  run: () => fuzzNative(seconds, 1),
});

/** Instruction sets that this library has pages for; a run on one that the machine lacks is skipped. */
const pages = () =>
  readdirSync(join(root, 'core/src/arch'))
    .filter((file) => file.endsWith('.cpp') && !file.startsWith('wasm'))
    .map((file) => file.replace('.cpp', ''));

const asan = 'ASan, UBSan';
const tsan = 'TSan';

/** Files about memory, sizes and refusals: where 32 bits and Emscripten's allocator make a difference. */
const wasmFiles = 'memory|out_of_memory|sizes|empty|bad_input_.*|attention_strides';

/** On every commit: one page each, the threads' own tests, and those that 32 bits could break. */
export const quickSuites = [
  native(asan, 'sanitize', {}),
  native(`${tsan}, threads`, 'sanitize-threads', {
    files: 'parallel|parallel_callers',
    tests: ['[parallel]'],
  }),
  wasm('simd', { files: wasmFiles }),
  fuzz(45),
];

/** On request: everything. */
export const allSuites = () => {
  const there = pages();
  return [
    ...there.map((isa) => native(asan, 'sanitize', { isa })),
    native(tsan, 'sanitize-threads', {}),
    native(tsan, 'sanitize-threads', { isa: 'scalar', tests: ['[parallel]'] }),
    wasm('simd'),
    wasm('relaxed'),
  ];
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { report } = await import('./report.js');
  process.exitCode = (await report(allSuites())) ? 0 : 1;
}
