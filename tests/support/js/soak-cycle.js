// One round of a long run: an engine of one kind or another is made, used for a while and disposed, and nothing may
// be left of it. Models and trainers, here and in workers, are in soak-models.js. For Node and for pages.
import { everything } from './everything.js';
import { mixedCalls } from './mixed-calls.js';
import { learn, study, studyAway, talk, talkAway } from './soak-models.js';

const callsOfACycle = 400;

/** The kinds, in turns. */
const kinds = [
  (packages) => plain(packages, { deterministic: true }),
  (packages) => plain(packages, { threads: 2 }),
  (packages) => pool(packages, { workers: 2 }),
  (packages) => plain(packages, { threads: 4, deterministic: true }),
  (packages) => pool(packages, { workers: 1, threads: 2 }),
  talk,
  learn,
  talkAway,
  study,
  studyAway,
];

function expectNothing({ handles }, what) {
  if (handles !== 0) throw new Error(`${what}: ${handles} handles are left`);
}

/** Mixed calls, a tenth of which are mistakes; the memory is as the largest of them left it. */
async function plain({ init }, options) {
  const engine = await init(options);
  const mix = mixedCalls(engine);
  for (let i = 0; i < mix.first; ++i) mix.call(i);
  mix.release();
  const largest = engine.memory();
  for (let i = mix.first; i < callsOfACycle; ++i) mix.call(i);
  mix.release();
  const { heapBytes, usedBytes, handles } = engine.memory();
  expectNothing({ handles }, JSON.stringify(options));
  if (heapBytes !== largest.heapBytes || usedBytes !== largest.usedBytes) {
    throw new Error(`memory was ${JSON.stringify(largest)} and is ${heapBytes}, ${usedBytes}`);
  }
  engine.dispose();
  return { calls: callsOfACycle, heapBytes };
}

/** Everything in workers, some of it given up or ended in the middle. */
async function pool({ initWorkers }, options) {
  const engine = await initWorkers(options);
  const rounds = 5;
  const results = [];
  for (let i = 0; i < rounds; ++i) results.push(await everything(engine));
  const memory = await engine.memory();
  expectNothing(memory, JSON.stringify(options));
  const long = { data: new Float32Array(4 * 700 * 64).fill(0.5), shape: [1, 4, 700, 64] };
  const controller = new AbortController();
  const given = engine.attention(long, long, long, { signal: controller.signal });
  const ended = engine.attention(long, long, long);
  controller.abort();
  const outcomes = Promise.allSettled([given, ended]);
  await engine.dispose();
  const [one, other] = await outcomes;
  if (one.status !== 'rejected' || other.status !== 'rejected')
    throw new Error('answered after the end');
  return { calls: rounds * Object.keys(results[0]).length, heapBytes: memory.heapBytes };
}

/** { calls, heapBytes }: how many calls were made, and how large the memory of WebAssembly became. */
export const cycle = (packages, i) => kinds[i % kinds.length](packages, i);
