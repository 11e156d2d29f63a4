// npm run test:fuzz [seconds]: first the C++ half for so many seconds of processor time, then, with the package as built, the
// JavaScript one: for every ten seconds as many runs as `npm test` makes, from a seed that is new each time.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { cmake } from './build.js';
import { environment, root } from './environment.js';
import { canFuzz, fuzzTargets, fuzzTests } from './fuzz_native.js';
import { runInLanes } from './lanes.js';
import { step } from './run.js';

const seconds = Number(process.argv[2] ?? 600);
if (!(seconds > 0)) throw new Error(`seconds is ${process.argv[2]}, expected a positive number`);

/** Whether no target found anything. */
async function fuzzCore() {
  if (!canFuzz()) {
    console.log('libFuzzer: skipped, it needs clang');
    return true;
  }
  await step('build fuzz targets', () => cmake('native', ['fuzz']));
  let sound = true;
  const jobs = fuzzTargets(seconds).map((target) => ({
    id: target.title,
    after: [],
    async run() {
      const { tests, note } = await target.run();
      console.log(`libFuzzer: ${note} runs`);
      for (const { ok, said } of tests.filter((test) => !test.ok)) {
        console.log(said);
        sound &&= ok;
      }
      return true;
    },
  }));
  await runInLanes(jobs, availableParallelism(), { give: () => undefined });
  return sound;
}

/** The exit code of the tests in JavaScript. */
function fuzzPackage() {
  const longer = {
    QKV_FUZZ_SEED: `${Date.now() % 2 ** 31}`,
    QKV_FUZZ_TIMES: `${Math.max(1, seconds / 5)}`,
  };
  const options = { cwd: root, env: { ...longer, ...environment }, stdio: 'inherit' };
  return new Promise((resolve) => {
    spawn(process.execPath, ['--test', ...fuzzTests()], options).on('close', resolve);
  });
}

const sound = await fuzzCore();
process.exitCode = (await fuzzPackage()) === 0 && sound ? 0 : 1;
