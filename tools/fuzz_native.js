// The C++ half of fuzzing: libFuzzer works on each family of operators (tests/core/fuzz) for a while. Inputs that reach
// something new are kept in build/fuzz-corpus; what breaks something is named.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, toolchain } from './environment.js';
import { run } from './run.js';

/** The targets: their parts of the time, by how much there is to find, and how many inputs the everyday run makes, in about 1 s each. */
const targets = {
  attention: { part: 0.15, inputs: 600 },
  layers: { part: 0.15, inputs: 2500 },
  train: { part: 0.1 },
  trainers: { part: 0.1 },
  models: { part: 0.1, inputs: 1500 },
  positions: { part: 0.15, inputs: 6000 },
  elementwise: { part: 0.1, inputs: 3000 },
  memory: { part: 0.1, inputs: 1500 },
  analysis: { part: 0.05, inputs: 3000 },
};

/** libFuzzer is a part of clang, but not of Apple's. */
export const canFuzz = () => /clang/.test(toolchain.CXX ?? '') && process.platform !== 'darwin';

/** What libFuzzer said, without its lines on inputs that reach something new. */
const withoutProgress = (output) => output.replace(/^#\d+\s+(NEW|REDUCE|RELOAD|pulse)\b.*\n/gm, '');

/**
 * A target as a part of a suite; the build `fuzz` comes first. Inputs that reach something new are the start of the next run
 * if they are kept.
 */
const fuzzTarget = ({ name, kept, options, timeout }) => ({
  name,
  title: `fuzz ${name}`,
  async run() {
    const found = kept
      ? join(root, 'build/fuzz-corpus', name)
      : mkdtempSync(join(tmpdir(), 'qkv-fuzz-'));
    const problems = join(root, 'build/fuzz-problems', name);
    mkdirSync(found, { recursive: true });
    mkdirSync(problems, { recursive: true });
    const { code, output, hung } = await run(
      join(root, `build/native/tests/core/fuzz/fuzz_${name}`),
      [
        ...options,
        '-max_len=256',
        '-len_control=0',
        '-timeout=120',
        '-rss_limit_mb=2048',
        '-print_final_stats=1',
        `-artifact_prefix=${problems}/`,
        found,
        join(root, 'tests/core/fuzz/corpus', name),
      ],
      { timeout },
    );
    if (!kept) rmSync(found, { recursive: true });
    const runs = Number(/stat::number_of_executed_units: *(\d+)/.exec(output)?.[1] ?? 0);
    const inputs = readdirSync(problems).map((file) => join('build/fuzz-problems', name, file));
    const ok = code === 0 && runs > 0;
    const said = ok ? '' : `${withoutProgress(output)}\ninputs: ${inputs.join(' ')}`;
    return {
      tests: [{ name: `fuzz ${name}`, ok, skipped: false, said }],
      note: `${name} ${runs}`,
      hung: hung ? `fuzz ${name}` : undefined,
    };
  },
});

/** Every target with its share of `seconds` of the processors' time, each time with other inputs. */
export const fuzzTargets = (seconds) =>
  Object.entries(targets).map(([name, { part }]) => {
    const share = Math.max(1, Math.round(seconds * part));
    return fuzzTarget({
      name,
      kept: true,
      options: [`-max_total_time=${share}`, '-seed=0'],
      timeout: (share + 300) * 1000,
    });
  });

/**
 * The targets of the first library (CMake's `fuzz_core`) with the same inputs on every machine, as a commit should not be blamed
 * for luck: a number of them, not a time, and without use_cmp, which puts addresses of the process into inputs.
 */
export const everydayFuzzTargets = () =>
  Object.entries(targets)
    .filter(([, { inputs }]) => inputs)
    .map(([name, { inputs }]) =>
      fuzzTarget({
        name,
        kept: false,
        options: [`-runs=${inputs}`, '-seed=1', '-use_cmp=0'],
        timeout: 300_000,
      }),
    );

/** The tests that put anything at all to the package and to links. */
export const fuzzTests = () => [
  ...readdirSync(join(root, 'tests/package/fuzz'))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join('tests/package/fuzz', file)),
  'tests/page/fragment.test.js',
];
