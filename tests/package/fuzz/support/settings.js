// How often, and from which seed: QKV_FUZZ_TIMES and QKV_FUZZ_SEED. And a watch that ends a run which hangs,
// because a call that never comes back lets no timer of its own thread fire.
import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { casesOf } from './faults.js';

const seed = Number(process.env.QKV_FUZZ_SEED ?? 20_260);
const times = Number(process.env.QKV_FUZZ_TIMES ?? 1);

/** For fc.assert(); `usual` is how many runs `npm test` makes, of which others make so many times more. */
export const settings = (usual) => ({
  seed,
  numRuns: Math.round(usual * times),
  includeErrorInReport: true,
});

export const about = (usual) =>
  `${settings(usual).numRuns} runs: QKV_FUZZ_SEED=${seed} QKV_FUZZ_TIMES=${times} makes them again`;

/** The least share of the calls of a function that is answered, of those with one to three faults among their arguments. */
const floor = 0.15;

/**
 * `judge(target, faults)` of many spoilt calls of `targets`, which says whether the call was refused. A test in which nearly
 * all is refused says little of right answers: of each function some calls are answered. Three standard deviations are left
 * to chance.
 */
export async function judgeCalls(t, targets, { watch, usual }, judge) {
  t.diagnostic(about(usual));
  const counts = Object.fromEntries(targets.map(({ says }) => [says, { refused: 0, answered: 0 }]));
  await fc.assert(
    fc.asyncProperty(casesOf(targets), async ({ target: number, faults }) => {
      const target = targets[number];
      watch.note(`${target.name} ${JSON.stringify(faults)}`);
      const refused = await judge(target, faults);
      counts[target.says][refused ? 'refused' : 'answered'] += 1;
    }),
    settings(usual),
  );
  for (const [name, { refused, answered }] of Object.entries(counts)) {
    const calls = refused + answered;
    t.diagnostic(`${name}: ${refused} refused, ${answered} answered`);
    assert.ok(calls > 0, name);
    const chance = 3 * Math.sqrt(calls * floor * (1 - floor));
    // Of a handful of calls chance may leave none.
    const least = Math.max(calls < 10 ? 0 : 1, floor * calls - chance);
    assert.ok(answered >= least, `${name}: ${answered} of ${calls} calls were answered`);
  }
}

const room = 1 << 16;
const watch = `
  const { workerData: { shared, seconds }, parentPort } = require('node:worker_threads');
  const { writeSync } = require('node:fs');
  const state = new Int32Array(shared, 0, 2);
  let last = -1;
  let since = Date.now();
  setInterval(() => {
    const now = Atomics.load(state, 0);
    if (now !== last) [last, since] = [now, Date.now()];
    if (Date.now() - since < seconds * 1000) return;
    const text = Buffer.from(new Uint8Array(shared, 8, Atomics.load(state, 1))).toString();
    writeSync(2, 'hangs for ' + seconds + ' s in ' + text + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }, 500);
  parentPort.on('message', () => process.exit());
`;

/** note(text) says what is done now; whoever does it for longer than `seconds` is ended, and told of. */
export function watchdog(seconds = 240) {
  const shared = new SharedArrayBuffer(room);
  const state = new Int32Array(shared, 0, 2);
  const bytes = new Uint8Array(shared, 8);
  const worker = new Worker(watch, { eval: true, workerData: { shared, seconds } });
  worker.on('error', (error) => writeSync(2, `the watch has ended: ${error}\n`));
  worker.unref();
  return {
    note(text) {
      const { written } = new TextEncoder().encodeInto(text.slice(0, 8000), bytes);
      Atomics.store(state, 1, written);
      Atomics.add(state, 0, 1);
    },
    stop: () => worker.postMessage('stop'),
  };
}
