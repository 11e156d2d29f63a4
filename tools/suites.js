// What `npm test` runs. A suite is { name, run } with run() resolving to { passed, failed, note, output }:
// counts of test cases, a remark for the summary, and what to show when something failed; a `table`, if
// there is one, is always shown.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { checkIsaObjects } from './check_isa_objects.js';
import { documentCore, documentPackage } from './docs.js';
import { root, toolchain } from './environment.js';
import { runMutants } from './mutants.js';
import { generateProbes, probesFile } from './probes.js';
import { must, run } from './run.js';
import { quickSuites } from './sanitize.js';
import { serve } from './serve.js';

const bin = (name) => join(root, 'node_modules/.bin', name);
const testBinary = join(root, 'build/native/tests/qkv_tests');
const wasmTests = 'build/wasm/tests';

/** Flags under which a headless Chromium neither needs a sandbox nor talks to the world. */
export const chromiumOptions = {
  executablePath: toolchain.CHROMIUM,
  args: [
    ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
    ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
  ],
};

// ---------------------------------------------------------------------------------------- counting

/** Counts of a Catch2 console or compact summary, and what was skipped; a crash is one failure. */
export function countCatch2(code, output) {
  const all = /(?:All tests passed|Passed all \d+ test cases?) ?(?:with|\()?.*/.exec(output);
  if (code === 0 && all) {
    const [, cases] = /(\d+) test cases?/.exec(all[0]) ?? [];
    return { passed: Number(cases), failed: 0 };
  }
  const [, total] = /test cases:\s+(\d+)/.exec(output) ?? [];
  const [, passed = '0'] = /test cases:.*?(\d+) passed/.exec(output) ?? [];
  const [, skipped = '0'] = /test cases:.*?(\d+) skipped/.exec(output) ?? [];
  const failed = Number(total ?? 0) - Number(passed) - Number(skipped);
  return {
    passed: Number(passed),
    failed: code === 0 ? failed : Math.max(failed, 1),
    note: skipped === '0' ? '' : `${skipped} SKIPPED`,
  };
}

/** Counts of node:test's TAP summary, and what was skipped. */
function countNodeTest(code, output) {
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)`, 'm').exec(output)?.[1] ?? 0);
  const failed = count('fail') + count('cancelled');
  const skipped = count('skipped');
  return {
    passed: count('pass'),
    failed: code === 0 ? failed : Math.max(failed, 1),
    note: skipped > 0 ? `${skipped} SKIPPED` : '',
  };
}

const one = (problem) =>
  problem ? { passed: 0, failed: 1, output: problem } : { passed: 1, failed: 0 };

// -------------------------------------------------------------------------------------------- lint

const tracked = async (...patterns) =>
  (await must('git', ['ls-files', ...patterns])).stdout.split('\n').filter(Boolean);

/** A command that is one check. */
const command = (name, ...line) => ({
  name,
  async run() {
    const [program, ...args] = line;
    const { code, output } = await run(program, args);
    return one(code === 0 ? '' : output);
  },
});

/** A step that throws when something is wrong, as a check. */
const succeeds = (name, work) => ({
  name,
  async run() {
    await work();
    return one('');
  },
});

/** A suite that needs a tool which tools/bootstrap does not insist on. */
const ifPresent = (key, suite) => ({
  ...suite,
  run: () =>
    toolchain[key]
      ? suite.run()
      : { passed: 0, failed: 0, note: `skipped: no ${key} in .toolchain/env` },
});

const lint = [
  command('prettier', bin('prettier'), '--check', '.'),
  command('eslint', bin('eslint'), '.'),
  command('types: package', bin('tsc'), '-p', 'wasm', '--noEmit'),
  command('types: page', bin('tsc'), '-p', 'web', '--noEmit'),
  command('types: page, service worker', bin('tsc'), '-p', 'web/offline', '--noEmit'),
  ifPresent('CLANG_FORMAT', {
    name: 'clang-format',
    async run() {
      const files = await tracked('*.cpp', '*.hpp');
      const { code, output } = await run(toolchain.CLANG_FORMAT, ['-n', '-Werror', ...files]);
      return one(code === 0 ? '' : output);
    },
  }),
  ifPresent('CLANG_TIDY', {
    name: 'clang-tidy',
    async run() {
      const commands = readFileSync(join(root, 'build/native/compile_commands.json'), 'utf8');
      const sources = (await tracked('core/src/*.cpp')).filter((file) => commands.includes(file));
      // All pages are the same kernels: read are one that fuses its roundings and, as there is one, one of two.
      const pages = sources.filter((file) => file.startsWith('core/src/arch/'));
      const unread = pages.slice(1, -1);
      const read = sources.filter((file) => !unread.includes(file));
      const tidy = (of) => run(toolchain.CLANG_TIDY, ['-p', 'build/native', '--quiet', ...of]);
      const cores = availableParallelism();
      const shares = Array.from({ length: cores }, (_, i) =>
        read.filter((_, j) => j % cores === i),
      );
      const results = await Promise.all(shares.filter((share) => share.length > 0).map(tidy));
      return one(results.map(({ code, output }) => (code === 0 ? '' : output)).join(''));
    },
  }),
  ifPresent('LLVM_NM', {
    name: 'instruction-set objects',
    async run() {
      const { checked, problems } = await checkIsaObjects();
      return { ...one(problems.join('\n')), note: checked.join(' ') };
    },
  }),
  succeeds('reference: package', documentPackage),
  ifPresent('DOXYGEN', succeeds('reference: core', documentCore)),
  {
    name: 'probes match their .wat',
    async run() {
      const fresh = readFileSync(probesFile, 'utf8') === `${generateProbes()}\n`;
      return one(fresh ? '' : 'wasm/src/probes.ts is stale: run node tools/probes.js');
    },
  },
];

// ------------------------------------------------------------------------------------------ native

const fingerprints = new Map();

/** Remembers `fingerprint <isa> <hash>` lines for the comparison at the end. */
function keepFingerprint(output) {
  for (const [, isa, hash] of output.matchAll(/^fingerprint (\S+) ([0-9a-f]{16})/gm)) {
    fingerprints.set(isa, hash);
  }
}

/** Instruction sets of the native build, as ctest knows them. */
async function nativeIsas() {
  const { stdout } = await must('ctest', ['--test-dir', 'build/native', '-N']);
  const names = [...stdout.matchAll(/native\.(\w+)/g)].map(([, name]) => name);
  return names.filter((name) => name !== 'unknown_isa');
}

const nativeSuite = (isa) => ({
  name: `native ${isa}`,
  async run() {
    const env = { QKV_ISA: isa };
    const { code, output } = await run(testBinary, [], { env });
    if (code === 4) return { passed: 0, failed: 0, note: 'skipped: this machine lacks it' };
    keepFingerprint((await run(testBinary, ['[fingerprint]'], { env })).stdout);
    return { ...countCatch2(code, output), output };
  },
});

const unknownIsa = {
  name: 'native, QKV_ISA=nonsense',
  async run() {
    const { code, output } = await run(testBinary, ['[unknown-isa]'], {
      env: { QKV_ISA: 'nonsense' },
    });
    return { ...countCatch2(code, output), output };
  },
};

// ------------------------------------------------------------------------------------- WebAssembly

const isaOf = { simd: 'wasm-simd128', relaxed: 'wasm-relaxed-simd' };

const nodeSuite = (variant) => ({
  name: `wasm ${variant}, Node`,
  async run() {
    const flags = variant === 'relaxed' ? ['--experimental-wasm-relaxed-simd'] : [];
    const runner = [...flags, 'tests/core/run_wasm.js', variant, isaOf[variant]];
    const { code, output } = await run(process.execPath, runner);
    const print = await run(process.execPath, [...runner, '[fingerprint]']);
    keepFingerprint(print.stdout);
    return { ...countCatch2(code, output), output };
  },
});

const chromiumSuite = (variant) => ({
  name: `wasm ${variant}, Chromium`,
  async run() {
    const index = join(root, wasmTests, 'index.html');
    if (!existsSync(index)) writeFileSync(index, '<!doctype html><title>qkv tests</title>');
    const server = await serve({ folder: wasmTests, port: 5290 });
    const browser = await chromium.launch(chromiumOptions);
    try {
      const page = await browser.newPage();
      await page.goto(server.url);
      const { code, output } = await page.evaluate(runInPage, { variant, isa: isaOf[variant] });
      return { ...countCatch2(code, output), output, note: `Chromium ${browser.version()}` };
    } finally {
      await browser.close();
      await server.close();
    }
  },
});

/** Runs in the browser. */
async function runInPage({ variant, isa }) {
  const { default: createModule } = await import(`/qkv_tests_${variant}.mjs`);
  let output = '';
  const print = (line) => (output += `${line}\n`);
  try {
    const preRun = (module) => (module.ENV.QKV_ISA = isa);
    const module = await createModule({ print, printErr: print, preRun: [preRun] });
    return { code: module.callMain([]), output };
  } catch (error) {
    return { code: 1, output: `${output}\n${error.stack ?? error}` };
  }
}

/** Builds of equal width whose arithmetic has two roundings must agree to the last bit. */
const sameBits = {
  name: 'same bits: scalar, sse4, wasm-simd128',
  async run() {
    const names = ['scalar', 'sse4', 'wasm-simd128'].filter((name) => fingerprints.has(name));
    const hashes = new Set(names.map((name) => fingerprints.get(name)));
    const list = [...fingerprints].map(([isa, hash]) => `${isa} ${hash}`).join('\n');
    if (names.length < 2) return { passed: 0, failed: 0, note: 'skipped: only one of them here' };
    return { ...one(hashes.size === 1 ? '' : list), note: [...hashes].join(' ') };
  },
};

// ------------------------------------------------------------------------------- package and page

/** Test files under node:test; one at a time where threads race, as two at once failed there now and then. */
const nodeTest = (name, files, { flags = [], env = {}, atOnce = 1 } = {}) => ({
  name,
  async run() {
    const concurrency = `--test-concurrency=${atOnce}`;
    const line = [...flags, '--test', concurrency, '--test-reporter=tap', ...files];
    const { code, output } = await run(process.execPath, line, {
      env: { CHROMIUM: toolchain.CHROMIUM, FIREFOX: toolchain.FIREFOX ?? '', ...env },
    });
    return { ...countNodeTest(code, output), output };
  },
});

/** The package in everybody's tools; the table that the test prints goes below its line. */
const consumers = {
  name: 'consumers of the package',
  async run() {
    const result = await nodeTest('', ['tests/release/consumers/matrix.test.js']).run();
    const table = Array.from(result.output.matchAll(/^# (\|.*)$/gm), ([, line]) => line).join('\n');
    return { ...result, table };
  },
};

/** The tests of the tarball, without that of the tools. */
const tarballTests = async () =>
  (await tracked('tests/release/consumers/*.test.js')).filter((file) => !file.includes('/matrix'));

/** Where it does not matter which build computes. What else there is runs on both. */
const ofAnyBuild =
  /\/(bad-input|careful-reading|dist|errors-init|lifecycle|memory|printing|readme|tensor-data|threads\/(?!threads)\w+|worker\/(?!same)\w+)\.test\.js$/;

async function packageSuites() {
  const files = await tracked(
    'tests/package/node/*.test.js',
    'tests/package/threads/*.test.js',
    'tests/package/worker/*.test.js',
  );
  const relaxed = ['--experimental-wasm-relaxed-simd'];
  const twoThreads = { env: { QKV_THREADS: '2' } };
  return [
    command('types: contract', bin('tsc'), '-p', 'tests/package/types', '--noEmit'),
    nodeTest('package, Node, simd', files, { env: { QKV_EXPECT_VARIANT: 'simd' } }),
    nodeTest(
      'package, Node, relaxed',
      files.filter((file) => !ofAnyBuild.test(file)),
      { flags: relaxed, env: { QKV_EXPECT_VARIANT: 'relaxed' } },
    ),
    nodeTest('ONNX node tests, simd', ['tests/reference/onnx/onnx.test.js']),
    nodeTest('ONNX node tests, relaxed', ['tests/reference/onnx/onnx.test.js'], { flags: relaxed }),
    nodeTest('ONNX node tests, two threads', ['tests/reference/onnx/onnx.test.js'], twoThreads),
    nodeTest('PyTorch fixtures, simd', ['tests/reference/torch/torch.test.js']),
    nodeTest('PyTorch fixtures, relaxed', ['tests/reference/torch/torch.test.js'], {
      flags: relaxed,
    }),
    nodeTest('PyTorch fixtures, two threads', ['tests/reference/torch/torch.test.js'], twoThreads),
    nodeTest('package, Chromium', [
      'tests/package/browser/package.test.js',
      'tests/package/browser/threads.test.js',
      'tests/package/browser/memory.test.js',
      'tests/package/browser/worker.test.js',
    ]),
    nodeTest('same bits: Node, Chromium, Firefox, threads', [
      'tests/package/determinism/determinism.test.js',
    ]),
    nodeTest(
      'any arguments, options, links',
      await tracked('tests/package/fuzz/*.test.js', 'tests/page/fragment.test.js'),
    ),
    nodeTest('threads in hidden pages', ['tests/package/browser/threads-hidden.test.js']),
    nodeTest('package, installed from its tarball', await tarballTests()),
    nodeTest('gates: types, engines, sizes, releases', await tracked('tests/release/*.test.js')),
    command('benchmarks run', process.execPath, 'bench/bench.js', '--smoke'),
  ];
}

async function pageSuites() {
  const files = await tracked('tests/page/*.test.js');
  const timed = 'tests/page/lighthouse.test.js';
  const others = files.filter((file) => file !== timed && !file.endsWith('/fragment.test.js'));
  return [
    nodeTest('page, Chromium and Firefox', others, { atOnce: Math.min(availableParallelism(), 4) }),
    nodeTest('page, Lighthouse', [timed]),
  ];
}

const mutants = { name: 'planted faults, the often ones', run: () => runMutants() };

/** Every suite by group, in the order they run. */
export async function suites() {
  return {
    native: [...(await nativeIsas()).map(nativeSuite), unknownIsa],
    wasm: [
      nodeSuite('simd'),
      nodeSuite('relaxed'),
      chromiumSuite('simd'),
      chromiumSuite('relaxed'),
      sameBits,
    ],
    package: await packageSuites(),
    sanitize: quickSuites,
    consumers: [consumers],
    page: await pageSuites(),
    'mutants-often': [mutants],
    lint,
  };
}
