// One call with spoilt arguments, and what is true of it: a typed error or a right answer, and never more than that. What is
// right is what another engine says of plain arguments with the same contents, which the other tests hold to float64.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { problem } from '../../../support/js/arrays.js';
import { arraysOf, bitsOf, expectTyped, inPlain } from './outcome.js';
import { judgeCalls, watchdog } from './settings.js';
import { spoil } from './spoil.js';
import { World } from './world.js';

const { q, k, v } = problem({ tq: 40, tk: 50 });
const reference = (of) => bitsOf(of.attention(q, k, v, { returnWeights: true }));

/** No array of the result is a view of memory, or somebody else's. */
function expectOwned(arrays, args) {
  for (const [name, array] of Object.entries(arrays)) {
    if (!array?.data) continue;
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

/** { arrays } of what a call answers, now or later, or { error }. */
async function attempt(method, of, args) {
  try {
    return { arrays: await arraysOf(await of[method](...args)) };
  } catch (error) {
    return { error };
  }
}

/** Judges calls on engines that `load` makes; `Kind` makes what their arguments need. */
class Boundary {
  #load;
  #Kind;
  #engine;
  #other;
  #right;

  constructor(load, Kind = World) {
    this.#load = load;
    this.#Kind = Kind;
  }

  async begin() {
    this.#engine = await this.#load();
    this.#other = await this.#load();
    this.#right = reference(this.#other);
  }

  #isAlive() {
    try {
      return this.#engine.memory().heapBytes > 0;
    } catch {
      return false;
    }
  }

  /** Whether the call was refused. */
  async run(target, faults) {
    const [engine, other] = [() => this.#engine, () => this.#other];
    const [world, plainWorld] = [new this.#Kind(engine, other), new this.#Kind(other, engine)];
    if (!this.#isAlive()) this.#engine = await this.#load();
    const { handles } = this.#engine.memory();
    try {
      return await this.#judge(target, faults, world, plainWorld);
    } finally {
      world.giveBack();
      plainWorld.giveBack();
      if (this.#isAlive()) assert.equal(this.#engine.memory().handles, handles, 'handles');
    }
  }

  async #judge(target, faults, world, plainWorld) {
    const spoilt = spoil(target, faults, world, plainWorld);
    const before = await world.held();
    const { arrays, error } = await attempt(target.method, spoilt.of ?? this.#engine, spoilt.args);
    const now = await world.held();
    if (error) {
      assert.ok(!spoilt.mustWork, `refused: ${error.stack}`);
      expectTyped(error, target.says);
      assert.ok(now === undefined || now === before, 'a handle has changed');
    } else {
      const given = spoilt.args.filter((value) => typeof value === 'object' && value);
      expectOwned(arrays, given);
      await this.#compare(target, spoilt, { arrays, now, plainWorld });
    }
    if (this.#isAlive()) assert.equal(reference(this.#engine), this.#right, 'a call afterwards');
    return error !== undefined;
  }

  /** The answer is the one to plain arguments. */
  async #compare({ method }, spoilt, { arrays, now, plainWorld }) {
    const call = (args) => (spoilt.plainOf ?? this.#other)[method](...args);
    const plain = await inPlain(spoilt, call);
    if (!plain) return;
    assert.equal(bitsOf(arrays), bitsOf(plain.arrays));
    assert.ok(
      now === undefined || now === (await plainWorld.held()),
      'a handle holds something else',
    );
  }
}

/** Tests of calls of `targets`, made `usual` times with faults, on engines that `load` makes. */
export async function testBoundary(title, { targets, load, Kind, usual }) {
  const boundary = new Boundary(load, Kind);
  await boundary.begin();
  const watch = watchdog();
  after(watch.stop);
  test(`${title}: right arguments give right answers`, async () => {
    for (const target of targets) await boundary.run(target, []);
  });
  test(`${title}: any arguments: a typed error or a right answer, and nothing else has changed`, (t) =>
    judgeCalls(t, targets, { watch, usual }, (...of) => boundary.run(...of)));
}
