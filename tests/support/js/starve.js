// Calls for which there is too little memory, at every place where it may run out. A hole of k bytes is all that is left, and
// k grows until the call fits.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { QkvError } from 'qkv';
import { zeros } from './arrays.js';
import { expectThrows } from './check.js';
import { full } from './full.js';
import { leave, takeAll } from './small-memory.js';

/** A memory of 4 MB. */
export const pages = 64;
/** The larger, the smaller are the steps of k: an everyday run goes up by an eighth, the full one by a 128th. */
const grain = full ? 2 ** 13 : 2 ** 9;
const larger = (hole) => hole + 64 * Math.ceil((hole + 1) / grain);

/** The bits of arrays, as text. */
export function bitsOf(...arrays) {
  const hash = createHash('sha1');
  for (const { buffer, byteOffset, byteLength } of arrays) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.digest('hex');
}

const tooMuch = zeros([2 ** 21]);

/** What is in use when the blocks that calls share are given back: a call that is too large begins with that. */
function atRest(engine) {
  expectThrows(() => engine.gelu(tooMuch), 'gelu', 'out_of_memory');
  const { usedBytes, handles } = engine.memory();
  return { usedBytes, handles };
}

/** How many floats can be had. What is not counted in usedBytes would be missing here. */
function roomIn(engine) {
  const all = takeAll(engine);
  const floats = all.reduce((sum, { shape }) => sum + shape[0], 0);
  all.forEach((tensor) => tensor.dispose());
  return floats;
}

async function attempt(call) {
  try {
    return { result: await call() };
  } catch (error) {
    return { error };
  }
}

/** How a message says what could not be allocated. */
const LACKING = /[\d.]+ bytes|an object|the results of inspect|the sites of a pass/;

/** It is refused for want of memory, in the name of one of these functions; how much there was not. */
function expectRefusal(error, fns) {
  assert.ok(error instanceof QkvError, `no QkvError: ${error?.stack ?? error}`);
  assert.equal(error.code, 'out_of_memory', error.stack);
  assert.match(error.message, new RegExp(`^(${fns.join('|')}): .*(${LACKING.source})`));
  return error.message.match(LACKING)[0];
}

/** One call with `hole` bytes left, the same again, and once with room. What could not be allocated, undefined if it fitted. */
async function starveOnce(engine, { fns, prepare }, hole, expected) {
  const { call, state = () => '', dispose = () => undefined } = await prepare();
  const before = await state();
  atRest(engine);
  const release = leave(engine, hole);
  const { handles } = engine.memory();
  const first = await attempt(call);
  let lacking;
  let done = first;
  if (first.error) {
    lacking = expectRefusal(first.error, fns);
    const memory = engine.memory();
    assert.equal(memory.handles, handles, 'handles');
    done = await attempt(call);
    // The free memory may lie in other pieces now: the same call may even fit, or get further and keep the block that calls
    // share. Whether nothing else is kept is asked when all is given back.
    if (done.error) {
      const place = expectRefusal(done.error, fns);
      const now = engine.memory();
      assert.equal(now.handles, handles, 'handles after the same again');
      if (place === lacking) assert.deepEqual(now, memory, 'memory() after the same again');
    }
  }
  release();
  if (done.error) {
    assert.equal(await state(), before, 'what the call would change');
    done = { result: await call() };
  }
  assert.equal(`${done.result} ${await state()}`, expected.outcome, `with ${hole} bytes`);
  await dispose();
  assert.deepEqual(atRest(engine), expected.rest, `memory() after ${hole} bytes`);
  return lacking;
}

/**
 * `prepare()` makes what a call needs: { call, state, dispose }, of which `call` gives a text, `state` says what the call may
 * change, and `dispose` gives all back. `fns` are the names in the messages; one with `allocatesNothing` never fails.
 * `engine` has `pages` of memory. Resolves to
 * { failed, places }: how many calls failed, and what could not be allocated.
 */
export async function starve(engine, scenario) {
  atRest(engine);
  const { call, state = () => '', dispose = () => undefined } = await scenario.prepare();
  const outcome = `${await call()} ${await state()}`;
  await dispose();
  const expected = { outcome, rest: atRest(engine) };
  const room = roomIn(engine);
  const places = new Set();
  let [failed, fitted] = [0, 0];
  for (let hole = 0; fitted < 2; hole = larger(hole)) {
    assert.ok(hole < 2 ** 21, 'it fits in the end');
    const lacking = await starveOnce(engine, scenario, hole, expected);
    if (lacking === undefined) {
      fitted += 1;
      continue;
    }
    [failed, fitted] = [failed + 1, 0];
    places.add(lacking);
    // What does not fit into a hole of its own size fails again until then, at the same place.
    const bytes = 64 * Math.floor(parseFloat(lacking) / 64);
    if (bytes > hole + 64) hole = bytes - 64;
  }
  assert.equal(failed > 0, !scenario.allocatesNothing, 'it failed at least once');
  // How free memory is divided may cost a line of it, once. Calls that keep something would keep it each time.
  const line = 16;
  const left = roomIn(engine);
  assert.ok(left >= room - line, `${left} floats can be had in the end, and ${room} before`);
  return { failed, places };
}
