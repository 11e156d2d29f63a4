// Plants faults in a copy of the tree and demands that the tests go red: a test that no fault can turn red tests nothing.
// Planted faults (tools/mutants/faults) stand for failures that could happen; random ones are what the operators
// (tools/mutants/operators) make of the source.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Copy } from './mutants/copy.js';
import { grounds, inLanes } from './mutants/grounds.js';
import { inAnyOrder, plantedFaults, randomFaults } from './mutants/places.js';

/** The faults whose choice the compiler shows beside an error: a random one may be no C++ at all. */
function refused(output, faults) {
  const numbers = Array.from(output.matchAll(/qkv_planted::acts\((\d+)\)/g), ([, n]) => Number(n));
  return faults.filter(({ number }) => numbers.includes(number));
}

/** Builds the copy with these faults but those that do not compile, unless none of them is to blame. Resolves to what is planted. */
async function build(ground, copy, faults) {
  copy.plant(faults);
  const { code, output } = await ground.build(copy);
  if (code === 0) return faults;
  const bad = refused(output, faults);
  if (bad.length === 0) throw new Error(output);
  const others = faults.filter((fault) => !bad.includes(fault));
  return build(ground, copy, others);
}

/** Tries the faults of one ground: `found` is whether a test was red, undefined for what does not compile. */
async function tryFaults(ground, all, progress) {
  const copy = new Copy(ground.name);
  await ground.prepare(copy);
  if (ground.buildsEach) await build(ground, copy, []);
  const planted = ground.buildsEach ? all : await build(ground, copy, all);
  const { code, output } = await ground.test(copy, undefined, planted);
  if (code !== 0) throw new Error(`${ground.name} is red without a fault\n${output}`);
  const tried = all.filter((fault) => !planted.includes(fault));
  const work = async (fault) => {
    if (ground.buildsEach && (await build(ground, copy, [fault])).length === 0) {
      return void tried.push(fault);
    }
    const start = performance.now();
    const found = (await ground.test(copy, fault)).code !== 0;
    tried.push({ ...fault, found });
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    progress(`${found ? 'found' : 'LIVED'}: ${describe(fault)} (${seconds} s)`);
  };
  await inLanes(planted, work, ground.buildsEach ? 1 : undefined);
  return tried;
}

const short = (text) => text.replace(/\s+/g, ' ').slice(0, 80);

const describe = ({ id, file, line, text, replacement }) =>
  `${id}, ${file}:${line}: ${short(text)} -> ${short(replacement) || 'nothing'}`;

/** Plants these faults, ground by ground. */
async function plant(faults, progress) {
  const numbered = faults.map((fault, i) => ({ ...fault, number: i + 1 }));
  const tried = [];
  for (const ground of grounds) {
    const own = numbered.filter(({ file }) => ground.holds(file));
    if (own.length > 0) tried.push(...(await tryFaults(ground, own, progress)));
  }
  return tried;
}

/**
 * Plants the faults that hold one of these words in their name, group or file, all without words, but at most so many, drawn by a
 * seed. One test for each, and one for the places of all faults: nothing stands in for a fault that is not planted.
 */
export async function runMutants({
  words = [],
  most = Infinity,
  seed = 1,
  progress = () => {},
} = {}) {
  const { faults, lost } = await plantedFaults();
  const isWanted = ({ id, group, file }) =>
    words.length === 0 || words.some((word) => [id, group, file].join(' ').includes(word));
  const wanted = inAnyOrder(faults.filter(isWanted), seed);
  const all = await plant(wanted.slice(0, most), progress);
  const planted = all.filter(({ found }) => found !== undefined);
  const broken = all.filter(({ found }) => found === undefined);
  const missing = [
    ...lost,
    ...broken.map(({ id }) => ({ id, why: 'does not compile in its place' })),
  ];
  const tests = [
    ...planted.map(({ id, found, message }) => ({
      ...{ name: id, ok: found, skipped: false },
      said: found ? '' : `${id}: no test found it: ${message}`,
    })),
    {
      name: `each of ${faults.length + lost.length} planted faults has its place`,
      ...{ ok: missing.length === 0, skipped: false },
      said: missing.map(({ id, why }) => `${id}: not planted, it ${why}`).join('\n'),
    },
  ];
  const lived = tests.filter(({ ok }) => !ok);
  const count = planted.filter(({ found }) => found).length;
  const notes = [
    ...(planted.length > 0 ? [`planted faults found: ${count} of ${planted.length}`] : []),
    ...(wanted.length > most ? [`not planted: ${wanted.length - most} others, seed ${seed}`] : []),
  ];
  return {
    tests,
    tried: planted.length,
    failed: lived.length,
    output: lived.map(({ said }) => said).join('\n'),
    note: notes.join('; '),
  };
}

async function runRandom(folder, count, seed) {
  const all = await plant(await randomFaults(folder, count, seed), console.log);
  const tried = all.filter(({ found }) => found !== undefined);
  const lived = tried.filter(({ found }) => !found);
  console.log(`random faults found: ${tried.length - lived.length} of ${tried.length}`);
  for (const fault of lived) console.log(`lived: ${describe(fault)}`);
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      random: { type: 'string' },
      seed: { type: 'string', default: '1' },
      in: { type: 'string', default: 'core/src' },
    },
  });
  if (values.random) return runRandom(values.in, Number(values.random), Number(values.seed));
  const { tried, failed, note, output } = await runMutants({
    words: positionals,
    progress: console.log,
  });
  console.log(output ? `${output}\n${note}` : note);
  if (failed > 0 || tried === 0) process.exitCode = 1;
}

// node tools/mutants.js cache page: the planted faults of these words;
// --random 60 --seed 1 --in wasm/src: mutations that nobody chose.
if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
