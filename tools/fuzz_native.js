// The C++ half of fuzzing: builds tests/core/fuzz and lets libFuzzer work on each family of operators for a
// while. Inputs that reach something new are kept in build/fuzz-corpus; what breaks something is named.
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { root, toolchain } from './environment.js';
import { must, run } from './run.js';

/** The targets, and their parts of the time: by how much there is to find. */
const targets = {
  attention: 0.3,
  layers: 0.3,
  positions: 0.15,
  elementwise: 0.1,
  memory: 0.1,
  analysis: 0.05,
};

/** libFuzzer needs clang. */
export const canFuzz = () => /clang/.test(toolchain.CXX ?? '');

export async function buildFuzz() {
  await must('cmake', ['--preset', 'fuzz']);
  await must('cmake', ['--build', '--preset', 'fuzz']);
}

/** Runs one target; resolves to { name, runs, failed, output }. */
async function fuzzOne(name, seconds, seed) {
  const found = join(root, 'build/fuzz-corpus', name);
  const problems = join(root, 'build/fuzz-problems', name);
  mkdirSync(found, { recursive: true });
  mkdirSync(problems, { recursive: true });
  const { code, output } = await run(join(root, `build/fuzz/tests/core/fuzz/fuzz_${name}`), [
    `-max_total_time=${Math.max(1, Math.round(seconds))}`,
    `-seed=${seed}`,
    '-max_len=256',
    '-len_control=0',
    '-timeout=120',
    '-rss_limit_mb=2048',
    '-print_final_stats=1',
    `-artifact_prefix=${problems}/`,
    found,
    join(root, 'tests/core/fuzz/corpus', name),
  ]);
  const runs = Number(/stat::number_of_executed_units: *(\d+)/.exec(output)?.[1] ?? 0);
  const inputs = readdirSync(problems).map((file) => join('build/fuzz-problems', name, file));
  const failed = code !== 0 || runs === 0;
  return {
    name,
    runs,
    failed,
    output: failed ? `${output}\ninputs: ${inputs.join(' ')}` : '',
  };
}

/** As many at a time as there are processors. */
async function inTurns(jobs, limit) {
  const results = [];
  const waiting = [...jobs];
  const worker = async () => {
    while (waiting.length > 0) results.push(await waiting.shift()());
  };
  await Promise.all(Array.from({ length: limit }, worker));
  return results;
}

/**
 * Fuzzes all targets for `seconds` of the processors' time in all, from a seed of libFuzzer's; 0 is another
 * one every time. Resolves to a suite's result.
 */
export async function fuzzNative(seconds, seed = 0) {
  if (!canFuzz()) return { passed: 0, failed: 0, note: 'skipped: libFuzzer needs clang' };
  await buildFuzz();
  const jobs = Object.entries(targets).map(
    ([name, part]) =>
      () =>
        fuzzOne(name, seconds * part, seed),
  );
  const results = await inTurns(jobs, Math.max(1, cpus().length));
  const bad = results.filter(({ failed }) => failed);
  return {
    passed: results.length - bad.length,
    failed: bad.length,
    note: results.map(({ name, runs }) => `${name} ${runs}`).join(', '),
    output: bad.map(({ output }) => output).join('\n'),
  };
}

/** The tests that put anything at all to the package and to links. */
export const fuzzTests = () => [
  ...readdirSync(join(root, 'tests/package/fuzz'))
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join('tests/package/fuzz', file)),
  'tests/page/fragment.test.js',
];
