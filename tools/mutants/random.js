// Plants mutations that nobody chose: some sites of the sources, drawn by a seed, each in a copy of the tree, which
// is built and tested until something is red. What lives is a hole in the tests or changes nothing.
import { availableParallelism } from 'node:os';
import { buildPackage, buildWasm } from '../build.js';
import { candidates, isEquivalent, staleEquivalents } from './candidates.js';
import { Copy } from './grounds.js';
import { CoreJudge, judges } from './judges.js';
import { describe, summary } from './random_report.js';

/** Those whose tests wait for clocks and browsers are asked one at a time, or a busy machine would seem a fault. */
const lanesOf = (judge) => (judge instanceof CoreJudge ? Math.min(availableParallelism(), 4) : 1);

/** What became of one mutation: its verdict is killed, lived, equivalent, `same program` or `does not compile`. */
async function tryMutation(judge, copy, mutation, unchanged) {
  if (isEquivalent(mutation)) return { verdict: 'equivalent' };
  return copy.withText(mutation, async () => {
    const built = await judge.build(copy);
    if (built.code !== 0) return { verdict: 'does not compile', error: built.output };
    if (judge.fingerprint(copy) === unchanged) return { verdict: 'same program' };
    const judged = await judge.judge(copy, mutation);
    return { verdict: judged.red ? 'killed' : 'lived', ...judged };
  });
}

/** Whether a verdict counts: the others are of mutations that change no program. */
const counts = ({ verdict }) => /^(killed|lived|equivalent)$/.test(verdict);

/** Copies of the tree, built; and what is true of them without any mutation. */
async function prepare(judge, lanes) {
  const names = Array.from({ length: lanes }, (_, lane) => `random-${judge.name}-${lane + 1}`);
  const copies = names.map((name) => new Copy(name));
  for (const copy of copies) {
    await judge.prepare(copy);
    const { code, output } = await judge.build(copy);
    if (code !== 0) throw new Error(output);
  }
  console.log(`without a mutation: ${await judge.sound(copies[0])}`);
  return copies.map((copy) => ({ copy, unchanged: judge.fingerprint(copy) }));
}

/** Tries mutations in their order until `count` of them count, as many at once as there are copies. */
async function tryUntil(count, mutations, copies, work) {
  const results = [];
  let next = 0;
  let running = 0;
  const lane = async (copy) => {
    while (next < mutations.length && results.filter(counts).length + running < count) {
      const number = next++;
      running += 1;
      const start = performance.now();
      const result = await work(copy, mutations[number]);
      running -= 1;
      results.push({
        number,
        mutation: mutations[number],
        ms: performance.now() - start,
        ...result,
      });
      console.log(describe(results.at(-1), results.filter(counts).length));
    }
  };
  // A lane that stops because enough are running comes back when one of those did not count.
  while (next < mutations.length && results.filter(counts).length < count) {
    await Promise.all(copies.map(lane));
  }
  return results.sort((a, b) => a.number - b.number);
}

/**
 * `count` mutations below `folder`, of which browsers are not asked with `inNode`. Resolves to whether none lived that is not
 * known to change nothing.
 */
export async function runRandom({ count, seed, folder, lanes, inNode }) {
  const mutationsFor = (judge) => candidates(folder, (file) => judge.holds(file), seed);
  const judge = judges
    .map((Judge) => new Judge({ inNode, lanes }))
    .find((one) => mutationsFor(one).length > 0);
  if (!judge) throw new Error(`nothing that can be mutated in ${folder}`);
  const mutations = mutationsFor(judge);
  if (!(judge instanceof CoreJudge)) {
    await buildWasm();
    await buildPackage();
  }
  console.log(`${folder}: ${mutations.length} sites, ${count} of them by seed ${seed}`);
  const copies = await prepare(judge, lanes ?? lanesOf(judge));
  const results = await tryUntil(count, mutations, copies, ({ copy, unchanged }, mutation) =>
    tryMutation(judge, copy, mutation, unchanged),
  );
  const stale = staleEquivalents();
  console.log(summary(results, stale));
  return stale.length === 0 && !results.some(({ verdict }) => verdict === 'lived');
}
