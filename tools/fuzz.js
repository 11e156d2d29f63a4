// npm run test:fuzz: node tools/fuzz.js [seconds]. First the C++ half, then the JavaScript one, which makes a tenth
// as many times the runs that `npm test` makes, each time from another seed.
import { spawn } from 'node:child_process';
import { environment, root } from './environment.js';
import { fuzzNative, fuzzTests } from './fuzz_native.js';

const seconds = Number(process.argv[2] ?? 600);
if (!(seconds > 0)) throw new Error(`seconds is ${process.argv[2]}, expected a positive number`);

const { passed, failed, note, output } = await fuzzNative(seconds);
console.log(`libFuzzer: ${passed} targets without a finding, ${failed} with one (${note})`);
if (failed > 0) console.log(output);

const files = fuzzTests();
const tests =
  files.length === 0
    ? 0
    : await new Promise((resolve) => {
        const longer = {
          QKV_FUZZ_SEED: `${Date.now() % 2 ** 31}`,
          QKV_FUZZ_TIMES: `${Math.max(1, seconds / 10)}`,
        };
        const options = { cwd: root, env: { ...longer, ...environment }, stdio: 'inherit' };
        spawn(process.execPath, ['--test', ...files], options).on('close', resolve);
      });
process.exitCode = failed > 0 || tests !== 0 ? 1 : 0;
