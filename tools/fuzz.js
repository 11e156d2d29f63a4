// npm run test:fuzz: node tools/fuzz.js [seconds]. First the C++ half, then the JavaScript one.
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
        const options = { cwd: root, env: environment, stdio: 'inherit' };
        spawn(process.execPath, ['--test', ...files], options).on('close', resolve);
      });
process.exitCode = failed > 0 || tests !== 0 ? 1 : 0;
