// The C++ half of fuzzing: libFuzzer works on each family of operators (tests/core/fuzz) for a while. Inputs that reach
// something new are kept in build/fuzz-corpus; what breaks something is named.
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root, toolchain } from './environment.js';
import { run } from './run.js';

/** The targets: their parts of the time, by how much there is to find. */
const targets = {
  attention: 0.15,
  layers: 0.15,
  train: 0.1,
  trainers: 0.1,
  models: 0.1,
  positions: 0.1,
  spectra: 0.05,
  elementwise: 0.1,
  memory: 0.1,
  analysis: 0.05,
};

/** libFuzzer is a part of clang, but not of Apple's. */
export const canFuzz = () => /clang/.test(toolchain.CXX ?? '') && process.platform !== 'darwin';

/** What libFuzzer said, without its lines on inputs that reach something new. */
const withoutProgress = (output) => output.replace(/^#\d+\s+(NEW|REDUCE|RELOAD|pulse)\b.*\n/gm, '');

/** A target as a part of a suite, for so many seconds. Inputs that reach something new are the start of the next run. */
const fuzzTarget = (name, seconds) => ({
  title: `fuzz ${name}`,
  async run() {
    const found = join(root, 'build/fuzz-corpus', name);
    const problems = join(root, 'build/fuzz-problems', name);
    mkdirSync(found, { recursive: true });
    mkdirSync(problems, { recursive: true });
    const { code, output, hung } = await run(
      join(root, `build/native/tests/core/fuzz/fuzz_${name}`),
      [
        `-max_total_time=${seconds}`,
        '-seed=0',
        '-max_len=256',
        '-len_control=0',
        '-timeout=120',
        '-rss_limit_mb=2048',
        '-print_final_stats=1',
        `-artifact_prefix=${problems}/`,
        found,
        join(root, 'tests/core/fuzz/corpus', name),
      ],
      { timeout: (seconds + 300) * 1000 },
    );
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

/** Every target with its share of `seconds` of the processors' time, each time with other inputs. The build `fuzz` comes first. */
export const fuzzTargets = (seconds) =>
  Object.entries(targets).map(([name, part]) =>
    fuzzTarget(name, Math.max(1, Math.round(seconds * part))),
  );

/** The tests that put anything at all to the package and to links. */
export const fuzzTests = () => [
  ...readdirSync(join(root, 'tests/package/fuzz'))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join('tests/package/fuzz', file)),
  'tests/page/fragment.test.js',
];
