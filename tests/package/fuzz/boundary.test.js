// @build any
// Anything at all through every public function: a typed error or a right answer, and never more than that. What
// is right is what another engine says of plain arguments with the same contents, which the other tests hold to
// float64.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { problem } from '../../support/js/arrays.js';
import { expectClose } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import * as oracle from '../../support/js/oracle.js';
import { cases, textOf } from './support/faults.js';
import { arraysOf, bitsOf, expectTyped, inPlain } from './support/outcome.js';
import { floors } from './support/floors.js';
import { countAnswers, expectAnswers, watchdog } from './support/settings.js';
import { spoil } from './support/spoil.js';
import { targets } from './support/targets.js';
import { World } from './support/world.js';

const usual = 1500;
const load = async () => init({ wasm: await WebAssembly.compile(wasmFile('simd')) });
let engine = await load();
const other = await load();
const watch = watchdog();
after(watch.stop);

const { q, k, v } = problem({ tq: 40, tk: 50 });
const reference = (of) => bitsOf(of.attention(q, k, v, { returnWeights: true }));
const right = reference(other);

const saysOf = { set: 'Tensor.set', forward: 'forward' };
for (const name of ['append', 'truncate', 'keys']) saysOf[name] = `KvCache.${name}`;

/** { result } or { error }. */
function attempt(method, of, args) {
  try {
    return { result: of[method](...args) };
  } catch (error) {
    return { error };
  }
}

/** No array of the result is a view of memory, or somebody else's. */
function expectOwned(arrays, args) {
  for (const [name, array] of Object.entries(arrays)) {
    assert.ok(array.data.buffer.byteLength === array.data.byteLength, `${name} has its own buffer`);
    const isTheirs = (value) => {
      try {
        return value.shape === array.shape;
      } catch {
        return false;
      }
    };
    assert.ok(!args.some(isTheirs), `the shape of ${name} is the caller's`);
  }
}

/** One case; whether the call was refused. */
async function run(of) {
  const target = targets[of.target];
  const [world, plainWorld] = [
    new World(
      () => engine,
      () => other,
    ),
    new World(
      () => other,
      () => engine,
    ),
  ];
  if (!isAlive()) engine = await load();
  const { handles } = engine.memory();
  try {
    return await judge(target, of.faults, world, plainWorld);
  } finally {
    world.giveBack();
    plainWorld.giveBack();
    if (isAlive()) assert.equal(engine.memory().handles, handles, 'handles');
  }
}

async function judge(target, faults, world, plainWorld) {
  const spoilt = spoil(target, faults, world, plainWorld);
  const before = await world.held();
  const { result, error } = attempt(target.method, spoilt.of ?? engine, spoilt.args);
  if (error) {
    assert.ok(!spoilt.mustWork, `refused: ${error.stack}`);
    expectTyped(error, saysOf[target.method] ?? target.method);
    const now = await world.held();
    assert.ok(now === undefined || now === before, 'a handle has changed');
  } else {
    const arrays = await arraysOf(result);
    expectOwned(
      arrays,
      spoilt.args.filter((value) => typeof value === 'object' && value),
    );
    const plain = inPlain(spoilt, (args) => (spoilt.plainOf ?? other)[target.method](...args));
    if (plain) {
      assert.equal(bitsOf(arrays), bitsOf(await arraysOf(plain.result)));
      const now = await world.held();
      assert.ok(
        now === undefined || now === (await plainWorld.held()),
        'a handle holds something else',
      );
    }
  }
  if (isAlive()) assert.equal(reference(engine), right, 'a call afterwards');
  return error !== undefined;
}

function isAlive() {
  try {
    return engine.memory().heapBytes > 0;
  } catch {
    return false;
  }
}

test('fuzz: right arguments give right answers', async () => {
  const { data, bound } = oracle.attention(q, k, v).output;
  expectClose(engine.attention(q, k, v).output.data, data, bound);
  for (const target of targets.keys()) await run({ target, faults: [] });
});

test('fuzz: any arguments: a typed error or a right answer, and nothing else has changed', async (t) => {
  const nameOf = ({ target }) => targets[target].method;
  const counts = await countAnswers(t, { cases, textOf, nameOf, watch, usual }, run);
  expectAnswers(counts, floors.boundary);
});
