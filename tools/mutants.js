// Plants one fault at a time in a copy of the tree (tools/mutants/*.json), builds it and demands that the
// tests go red: a test that no fault can turn red tests nothing.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildPackage, buildWasm } from './build.js';
import { changedFiles, spread } from './changed.js';
import { root } from './environment.js';
import { Copy, grounds, needsNoPage } from './mutants/grounds.js';
import { runRandom } from './mutants/random.js';

const folder = join(root, 'tools/mutants');
/** The other list there names what is no fault. */
const list = readdirSync(folder)
  .filter((name) => name.endsWith('.json') && name !== 'equivalent.json')
  .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));

/** A complaint if the text that the fault alters is not there, or not alone. */
function misplaced({ name, file, find }) {
  const pieces = readFileSync(join(root, file), 'utf8').split(find);
  return pieces.length === 2 ? undefined : `${name}: expected its text exactly once in ${file}`;
}

/** Undefined when the fault is found, a complaint when it lives. */
function tryFault(ground, copy, fault) {
  return copy.withFault(fault, async () => {
    const built = await ground.build(copy, fault);
    if (built.code !== 0) return `${fault.name}: does not compile\n${built.output}`;
    const { code } = await ground.test(copy, fault);
    return code === 0 ? `${fault.name}: survived, no test that ran found it` : undefined;
  });
}

/** What is wrong with the tree as it is: without a fault, the tests that will be asked must be green. */
async function findUnsound(ground, copies, faults) {
  for (const copy of copies) {
    await ground.prepare(copy);
    const built = await ground.build(
      copy,
      faults.find((fault) => !needsNoPage(fault)) ?? faults[0],
    );
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

/**
 * What every run plants, whatever changed, so that no run goes by in which nothing showed the tests can fail. One of the
 * core would cost two minutes of compiling: those are left to the full run.
 */
const telling = ['js-handle-not-released'];

/** Most faults of changed files that an everyday run plants. */
const MOST = 2;

/**
 * Whether a few seconds show it: the tests that find it are named, and neither page nor modules are linked for it, nor the
 * C++ library and its tests compiled, which took two minutes of a run.
 */
const isQuick = (fault) =>
  fault.tests !== undefined && (fault.file.startsWith('wasm/src/') || needsNoPage(fault));

/**
 * What an everyday run plants: the telling faults, and those in files that changed since `base` (changed.js), at most
 * `most`.
 */
export async function everyday({ base, most = MOST } = {}) {
  const files = new Set(await changedFiles(base));
  const missing = telling.filter((name) => !list.some((fault) => fault.name === name));
  if (missing.length > 0) throw new Error(`no planted fault has the name ${missing.join(', ')}`);
  const changed = list.filter(({ name, file }) => files.has(file) && !telling.includes(name));
  const planted = spread(changed.filter(isQuick), most);
  const left = changed.filter((fault) => !planted.includes(fault));
  const names = new Set([...telling, ...planted.map(({ name }) => name)]);
  return { wanted: ({ name }) => names.has(name), left: left.map(({ name }) => name) };
}

/**
 * Plants the faults that `wanted` lets through, or without it those of an everyday run: one test case for each, and
 * one for each ground without any.
 */
export async function runMutants(wanted, progress = () => {}) {
  const chosen = wanted ? { wanted, left: [] } : await everyday();
  return plant(chosen, progress);
}

/** runMutants() of what everyday() chose. */
async function plant({ wanted, left }, progress) {
  // Of all of them, planted now or not: code moves on, and a fault without a place tests nothing.
  const complaints = list.map(misplaced).filter(Boolean);
  const tests = complaints.map((said) => ({ name: said, ok: false, skipped: false, said }));
  const judge = (name, complaint) => {
    if (complaint) complaints.push(complaint);
    tests.push({ name, ok: !complaint, skipped: false, said: complaint ?? '' });
  };
  const mutants = list.filter((fault) => wanted(fault) && !misplaced(fault));
  const copies = Array.from({ length: lanes(mutants.length) }, (_, i) => new Copy(`${i + 1}`));
  const scores = [];
  for (const ground of grounds) {
    const faults = mutants.filter((fault) => ground.holds(fault));
    if (faults.length === 0) continue;
    const used = copies.slice(0, lanes(faults.length));
    const unsound = await findUnsound(ground, used, faults);
    judge(`${ground.name}: green without a fault`, unsound);
    if (unsound) continue;
    const lived = await tryFaults(ground, used, faults, progress);
    for (const { name } of faults) {
      judge(
        name,
        lived.find((complaint) => complaint.startsWith(`${name}: `)),
      );
    }
    scores.push(`${ground.name} ${faults.length - lived.length} of ${faults.length}`);
  }
  const rest = left.length > 0 ? `; ${left.length} more of changed files in the full run` : '';
  return {
    tests,
    passed: tests.filter(({ ok }) => ok).length,
    failed: complaints.length,
    output: complaints.join('\n'),
    note: `planted faults found: ${scores.join(', ')}${rest}`,
  };
}

/** The faults whose file or name holds one of these words; without words all faults. */
const holding =
  (words) =>
  ({ name, file }) =>
    words.length === 0 || words.some((word) => name.includes(word) || file.includes(word));

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      in: { type: 'string', default: 'core/src' },
      lanes: { type: 'string' },
      'in-node': { type: 'boolean' },
      changed: { type: 'boolean' },
      base: { type: 'string' },
      most: { type: 'string', default: `${MOST}` },
    },
  });
  if (values.random) {
    const [count, seed] = [Number(values.random), Number(values.seed)];
    const lanes = values.lanes && Number(values.lanes);
    return runRandom({ count, seed, folder: values.in, lanes, inNode: values['in-node'] });
  }
  const unused = positionals.filter((word) => !list.some(holding([word])));
  if (unused.length > 0) {
    console.log(`no planted fault matches ${unused.join(', ')}: no file or name contains it`);
    return false;
  }
  await buildWasm(); // the modules that faults in TypeScript are bundled around
  await buildPackage();
  const chosen = values.changed
    ? await everyday({ base: values.base, most: Number(values.most) })
    : { wanted: holding(positionals), left: [] };
  const { failed, note, output } = await plant(chosen, console.log);
  console.log(output ? `${output}\n${note}` : note);
  return failed === 0;
}

// node tools/mutants.js gemm pack: the planted faults of these words; --changed: those of an everyday run;
// --random 60 --seed 1 --in wasm/src: mutations that nobody chose, with --in-node without asking browsers about what lives.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = (await main()) ? 0 : 1;
}
