// @build any
// The same through qkv/worker: whatever is passed, a call is answered, rightly or by a typed error, and the worker
// goes on. The engine is behind a port of this very thread.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { problem } from '../../support/js/arrays.js';
import { wasmFile } from '../../support/js/files.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { inTime } from '../../support/js/patience.js';
import { overPort } from '../../support/js/workers.js';
import { arraysOf, bitsOf, expectTyped, inPlain } from './support/outcome.js';
import { isModel, modelTargets } from './support/model-targets.js';
import { letters } from './support/model-world.js';
import { about, judgeCalls, settings, watchdog } from './support/settings.js';
import { spoil } from './support/spoil.js';
import { targets } from './support/targets.js';
import { anything, make } from './support/values.js';
import { World } from './support/world.js';

const usual = 250;
const engineOf = async () => init({ wasm: await WebAssembly.compile(wasmFile('simd')) });
const other = await engineOf();
const behind = await engineOf();
/** The model that every load answers with. */
const modelOf = (of) => {
  const tokenizer = charactersTokenizer(letters);
  return create(of, kinds.llama, randomWeights(kinds.llama, 4), { tokenizer });
};
const models = { load: (of) => Promise.resolve(modelOf(of)) };
const { engine, close } = await overPort({}, () => Promise.resolve(behind), models);
const remote = await engine.loadModel({ weights: new Uint8Array(1) });
const local = modelOf(other);
const watch = watchdog();
after(async () => {
  watch.stop();
  await close();
});

const { q, k, v } = problem({ tq: 20, tk: 25 });
const right = bitsOf(other.attention(q, k, v, { returnWeights: true }));

/** Functions of the engine itself, without handles among their arguments: those live on the other side. */
const own = targets.filter(
  ({ of, args }) => of === undefined && !JSON.stringify(args).includes('"made"'),
);

/** Options that have every field and name none: nothing of them is sent, and the call is one without. */
const namesNothing = ({ how }) => how.replace?.odd === 'endless array-like';

/** Methods of a model, likewise. */
const ofModels = modelTargets.filter(
  ({ of, args }) => isModel(of) && !JSON.stringify(args).includes('"made"'),
);

async function judge(target, faults, world, plainWorld) {
  const [there, here] = target.of ? [remote, local] : [engine, other];
  const spoilt = spoil({ ...target, of: undefined }, faults, world, plainWorld);
  let arrays;
  let error;
  try {
    // Which gives back what was made.
    arrays = await inTime(answerOf(there, target.method, spoilt.args));
  } catch (caught) {
    error = caught;
  }
  if (error) {
    // Where the other side would see no difference; prototypes and accessors are not sent.
    expectTyped(error, target.says, JSON.stringify(faults));
  } else {
    const plain =
      !faults.some(namesNothing) && (await inPlain(spoilt, (args) => here[target.method](...args)));
    if (plain) assert.equal(bitsOf(arrays), bitsOf(plain.arrays));
  }
  const again = await inTime(engine.attention(q, k, v, { returnWeights: true }));
  assert.equal(bitsOf(again), right, 'a call afterwards');
  return error !== undefined;
}

const answerOf = async (of, method, args) => arraysOf(await of[method](...args));

async function run(target, faults) {
  const world = new World(
    () => other,
    () => behind,
  );
  const plainWorld = new World(
    () => other,
    () => behind,
  );
  try {
    // The deed 'end' ends the engine of this side in the other tests; here there must be one to compare with.
    const milder = faults.filter(({ how }) => how.trap !== 'end' && how.trap !== 'dispose');
    return await judge(target, milder, world, plainWorld);
  } finally {
    world.giveBack();
    plainWorld.giveBack();
  }
}

test('fuzz, worker: any arguments: an answer or a typed error, and the worker goes on', async (t) => {
  const before = await engine.memory();
  await judgeCalls(t, own, { watch, usual }, run);
  assert.equal((await engine.memory()).handles, before.handles);
});

test('fuzz, worker: any arguments to a model that lives there', async (t) => {
  const before = await engine.memory();
  await judgeCalls(t, ofModels, { watch, usual: usual / 2 }, run);
  assert.equal((await engine.memory()).handles, before.handles);
});

test('fuzz, worker: any options of a call: signal, transfer, worker', async (t) => {
  t.diagnostic(about(usual / 5));
  const world = new World(
    () => other,
    () => behind,
  );
  const names = fc.constantFrom('signal', 'transfer', 'worker');
  await fc.assert(
    fc.asyncProperty(names, anything, async (name, what) => {
      watch.note(`${name} ${JSON.stringify(what)}`);
      const options = { [name]: make(what, world) };
      for (const call of [
        () => engine.gelu({ data: Float32Array.of(1), shape: [1] }, options),
        () => engine.alibiSlopes(2, options),
        () => engine.tensor([2], [1, 2], options),
      ]) {
        try {
          await arraysOf(await inTime(call()));
        } catch (error) {
          expectTyped(error, error.message.split(':')[0]);
        }
      }
      world.giveBack();
    }),
    settings(usual / 5),
  );
});
