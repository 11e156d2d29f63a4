// The core on processors that this machine is newer than: qemu-user refuses the instructions that they lack. So nothing outside the
// units that are chosen may use theirs, also not to make a table of kernels that nobody asks for.
import { check, isOnPath, skipped } from './runners.js';
import { run } from './run.js';

/** Processors by the names that qemu has for them, and what the core must choose there by itself. */
const processors = { Nehalem: 'sse4', Haswell: 'avx2' };

const emulator = ['qemu-x86_64-static', 'qemu-x86_64'].find(isOnPath);

/** Why a processor does not run the core as it should; '' if it does. */
async function problemOn(processor, isa) {
  // The second runs kernels with what is chosen.
  const cases = ['isa: list', '[isa]'];
  const line = ['-cpu', processor, 'build/native/tests/qkv_tests'];
  for (const tests of cases) {
    const { code, output } = await run(emulator, [...line, tests], {
      ...{ timeout: 300_000, env: { QKV_ISA: '' } },
    });
    if (code !== 0) return `${processor}: ${tests} ended with ${code}\n${output}`;
    const supported = [...output.matchAll(/^isa (\S+) supported$/gm)].map(([, name]) => name);
    if (tests === 'isa: list' && supported[0] !== isa) {
      return `${processor}: the best of ${supported.join(', ')} was found, expected ${isa}`;
    }
  }
  return '';
}

const title = 'older processors under qemu';

/** The part, which needs build/native. */
export const olderMachines =
  process.arch !== 'x64'
    ? skipped(title, `their instruction sets are those of x64, and this machine is ${process.arch}`)
    : emulator === undefined
      ? skipped(title, 'there is no qemu-x86_64-static (Debian: qemu-user-static)')
      : check(title, async () => {
          const problems = [];
          for (const [processor, isa] of Object.entries(processors)) {
            problems.push(await problemOn(processor, isa));
          }
          return {
            problem: problems.filter(Boolean).join('\n'),
            note: Object.entries(processors).flat().join(' '),
          };
        });
