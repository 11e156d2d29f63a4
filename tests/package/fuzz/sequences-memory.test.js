// @build any
// @alone
// Any sequence of calls near the end of a memory of 4 GiB: what does not fit is refused as out_of_memory, no call traps or
// writes where something else is, memory() is true, and the engine goes on. The full run makes 3,000, beside which nothing runs:
// `npm run test:fuzz 400` makes 12,000 from another seed. Relaxed SIMD, which Node does not have, is asked in tests/package/browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { create } from 'qkv/models';
import { init as initTraining } from 'qkv/train';
import { wasmFile } from '../../support/js/files.js';
import { expectQkvError } from '../../support/js/check.js';
import { MemorySequences, untouched } from '../../support/js/memory-sequences.js';
import { about, settings } from './support/settings.js';

const usual = 150;
const { seed, numRuns } = settings(usual);

const builds = {
  deterministic: () => init({ deterministic: true, shared: false }),
  threads: () => init({ wasm: wasmFile('simd-threads'), threads: 2, shared: false }),
  training: () => initTraining({ deterministic: true, shared: false }),
};

for (const [name, start] of Object.entries(builds)) {
  test(`memory near 4 GiB: any sequence of calls, ${name}`, async (t) => {
    t.diagnostic(about(usual));
    const engine = await start();
    const sequences = new MemorySequences(engine, create);
    const count = Math.ceil(numRuns / Object.keys(builds).length);
    for (let i = 0; i < count; ++i) sequences.run(seed + i);
    engine.dispose();
    const { refused, answered, problems, heapBytes } = sequences;
    t.diagnostic(
      `${count} sequences; answered ${JSON.stringify(answered)}; refused ${JSON.stringify(refused)}`,
    );
    assert.deepEqual(problems.slice(0, 5), []);
    assert.ok(heapBytes > 2 ** 32 - 2 ** 17, `the memory grew to ${heapBytes} bytes`);
    for (const call of ['tensor', 'session', 'kvCache', 'create', 'layers', 'attention']) {
      assert.ok(answered[call] > 0 && refused[call] > 0, `${call} was answered and refused`);
    }
  });
}

test('memory near 4 GiB: a hole at its end, of every size class, is given out whole or not at all', async () => {
  const engine = await init({ deterministic: true, shared: false });
  const attempt = (floats) => {
    try {
      return untouched(engine, [floats]);
    } catch (error) {
      expectQkvError(error, 'tensor', 'out_of_memory', `${4 * floats} bytes`);
      return undefined;
    }
  };
  const placeOf = (tensor) => tensor.view().byteOffset;
  for (let k = 4; k <= 27; ++k) {
    const held = [];
    for (let floats = 2 ** 28; floats >= 2 ** k;) {
      const tensor = attempt(floats);
      if (tensor) held.push(tensor);
      else floats /= 2;
    }
    held.sort((a, b) => placeOf(a) - placeOf(b));
    const last = held.pop();
    const [hole] = last.shape;
    const end = placeOf(held.at(-1)) + 4 * held.at(-1).shape[0];
    last.dispose();
    for (const floats of [hole / 2, hole - 16, hole, hole + 16, 1.5 * hole, 2 * hole, 2 ** 29]) {
      const tensor = attempt(floats);
      // What is left beside it may be as much, and no place is anybody else's.
      if (floats <= hole) assert.ok(tensor, `${floats} floats where ${hole} were`);
      if (!tensor) continue;
      assert.ok(
        placeOf(tensor) >= end,
        `${floats} floats at ${placeOf(tensor)}, others up to ${end}`,
      );
      assert.ok(placeOf(tensor) + 4 * floats <= engine.memory().heapBytes);
      tensor.dispose();
    }
    for (const tensor of held) tensor.dispose();
  }
  assert.equal(engine.memory().handles, 0);
  engine.dispose();
});
