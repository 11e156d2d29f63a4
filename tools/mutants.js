// Plants one fault at a time in a copy of the core (tools/mutants.json), builds it and demands that the
// native suite goes red: a test that no fault can turn red tests nothing.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './environment.js';
import { must, run } from './run.js';

/** The page that the mutants run on: the narrowest tiles, so every tail is walked. */
const isa = 'sse4';
const copy = join(root, 'build/mutants');

/** Names the file of the last fault: what was built of it is newer than the copy that replaces it. */
const lastFault = join(copy, 'last-fault');

/** A copy of the tree that builds like the original and shares nothing with it but the tools. */
async function prepare() {
  mkdirSync(copy, { recursive: true });
  for (const entry of ['core', 'tests', 'tools', 'CMakeLists.txt', 'CMakePresets.json']) {
    rmSync(join(copy, entry), { recursive: true, force: true });
    cpSync(join(root, entry), join(copy, entry), { recursive: true, preserveTimestamps: true });
  }
  for (const entry of ['package.json', '.toolchain/env']) {
    cpSync(join(root, entry), join(copy, entry), { preserveTimestamps: true });
  }
  if (existsSync(lastFault)) {
    utimesSync(join(copy, readFileSync(lastFault, 'utf8')), new Date(), new Date());
  }
  await must('cmake', ['--preset', 'native', '-DQKV_PAGES=sse4'], { cwd: copy });
}

const build = () =>
  run('cmake', ['--build', '--preset', 'native', '--target', 'qkv_tests'], { cwd: copy });
const test = () =>
  run(join(copy, 'build/native/tests/qkv_tests'), ['--abort'], { env: { QKV_ISA: isa } });

/** A complaint if the text that the fault alters is not there, or not alone. */
function misplaced({ name, file, find }) {
  const pieces = readFileSync(join(root, file), 'utf8').split(find);
  return pieces.length === 2 ? undefined : `${name}: its text is not exactly once in ${file}`;
}

/** Undefined when the mutant is killed, a complaint when it lives. */
async function tryMutant({ name, file, find, replace }) {
  const path = join(copy, file);
  const original = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    original.replace(find, () => replace),
  );
  try {
    const built = await build();
    if (built.code !== 0) return `${name}: does not compile\n${built.output}`;
    const { code } = await test();
    return code === 0 ? `${name}: lives, no test sees it` : undefined;
  } finally {
    writeFileSync(path, original);
    writeFileSync(lastFault, file);
  }
}

const list = JSON.parse(readFileSync(join(root, 'tools/mutants.json'), 'utf8'));

/** The faults that every test run plants: dropping the maximum, moving the causal bound, skipping tails. */
const telling = ({ often }) => often;

/** One test case for each fault that `wanted` lets through, and one for the tree without any. */
export async function runMutants(wanted = telling, progress = () => {}) {
  const mutants = list.filter(wanted);
  await prepare();
  const sound = await build();
  if (sound.code !== 0) throw new Error(sound.output);
  const { code, output } = await test();
  if (code !== 0) return { passed: 0, failed: 1, output: `red without any fault\n${output}` };
  // Of all of them, planted now or not: code moves on, and a fault without a place tests nothing.
  let found = 0;
  const complaints = list.map(misplaced).filter(Boolean);
  for (const mutant of mutants.filter((each) => !misplaced(each))) {
    const complaint = await tryMutant(mutant);
    progress(complaint ?? `${mutant.name}: found`);
    if (complaint) complaints.push(complaint);
    else found += 1;
  }
  return {
    passed: 1 + found,
    failed: complaints.length,
    output: complaints.join('\n'),
    note: `${found} of ${mutants.length} planted faults found`,
  };
}

// node tools/mutants.js gemm pack: the faults whose file or name holds one of these words; all without.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const wanted = ({ name, file }) =>
    words.length === 0 || words.some((word) => name.includes(word) || file.includes(word));
  const { failed, note, output } = await runMutants(wanted, console.log);
  console.log(note ?? output);
  process.exitCode = failed === 0 ? 0 : 1;
}
