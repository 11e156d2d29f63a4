// Plants one fault at a time in a copy of the tree (tools/mutants/*.json), builds it and demands that the
// tests go red: a test that no fault can turn red tests nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildWasm } from './build.js';
import { root } from './environment.js';
import { Copy, grounds } from './mutants/grounds.js';

const folder = join(root, 'tools/mutants');
const list = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));

/** A complaint if the text that the fault alters is not there, or not alone. */
function misplaced({ name, file, find }) {
  const pieces = readFileSync(join(root, file), 'utf8').split(find);
  return pieces.length === 2 ? undefined : `${name}: its text is not exactly once in ${file}`;
}

/** Undefined when the fault is found, a complaint when it lives. */
function tryFault(ground, copy, fault) {
  return copy.withFault(fault, async () => {
    const built = await ground.build(copy);
    if (built.code !== 0) return `${fault.name}: does not compile\n${built.output}`;
    const { code } = await ground.test(copy, fault);
    return code === 0 ? `${fault.name}: lives, no test that was asked sees it` : undefined;
  });
}

/** What is wrong with the tree as it is: without a fault, the tests that will be asked must be green. */
async function findUnsound(ground, copies, faults) {
  for (const copy of copies) {
    await ground.prepare(copy, faults);
    const built = await ground.build(copy);
    if (built.code !== 0) return built.output;
  }
  const tests = [...new Set(faults.flatMap((fault) => fault.tests ?? []))];
  const { code, output } = await ground.test(copies[0], { tests });
  return code === 0 ? undefined : output;
}

/** Most faults make one compiler run, and some tests wait: with many, so many are tried at a time. */
const lanes = (faults) => Math.min(availableParallelism(), 4, Math.ceil(faults / 16));

/** Tries faults of one ground, each copy the next one when it is free. Resolves to the complaints. */
async function tryFaults(ground, copies, faults, progress) {
  const complaints = [];
  const left = [...faults];
  const lane = async (copy) => {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const complaint = await tryFault(ground, copy, fault);
      progress(complaint ?? `${fault.name}: found`);
      if (complaint) complaints.push(complaint);
    }
  };
  await Promise.all(copies.map(lane));
  return complaints;
}

/** The faults that every test run plants: dropping the maximum, moving the causal bound, skipping tails. */
const telling = ({ often }) => often;

/** One test case for each fault that `wanted` lets through, and one for each ground without any. */
export async function runMutants(wanted = telling, progress = () => {}) {
  // Of all of them, planted now or not: code moves on, and a fault without a place tests nothing.
  const complaints = list.map(misplaced).filter(Boolean);
  const mutants = list.filter((fault) => wanted(fault) && !misplaced(fault));
  const copies = Array.from({ length: lanes(mutants.length) }, (_, i) => new Copy(`${i + 1}`));
  const scores = [];
  let passed = 0;
  for (const ground of grounds) {
    const faults = mutants.filter(({ file }) => ground.holds(file));
    if (faults.length === 0) continue;
    const used = copies.slice(0, lanes(faults.length));
    const unsound = await findUnsound(ground, used, faults);
    if (unsound) {
      complaints.push(`${ground.name}: red without any fault\n${unsound}`);
      continue;
    }
    const lived = await tryFaults(ground, used, faults, progress);
    complaints.push(...lived);
    passed += 1 + faults.length - lived.length;
    scores.push(`${ground.name} ${faults.length - lived.length} of ${faults.length}`);
  }
  return {
    passed,
    failed: complaints.length,
    output: complaints.join('\n'),
    note: `planted faults found: ${scores.join(', ')}`,
  };
}

// node tools/mutants.js gemm pack: the faults whose file or name holds one of these words; all without.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const wanted = ({ name, file }) =>
    words.length === 0 || words.some((word) => name.includes(word) || file.includes(word));
  await buildWasm(); // the modules that faults in TypeScript are bundled around
  const { failed, note, output } = await runMutants(wanted, console.log);
  console.log(output ? `${output}\n${note}` : note);
  process.exitCode = failed === 0 ? 0 : 1;
}
