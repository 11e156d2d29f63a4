// @run full, or after changes in core wasm/src/memory wasm/bindings
// @build any
// What tests/package/node/memory.test.js and tests/package/fuzz/sequences-memory.test.js ask of Node, asked of Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { inChromium, leaksOf } from '../../support/js/memory.js';
import { startPages } from '../../support/js/pages.js';

test('memory in Chromium: 10,000 mixed calls, failing ones too: memory is flat after the largest', async (t) => {
  const { samples, variant } = await inChromium();
  const { heapBytes, usedBytes, jsBytes } = samples.at(-1);
  t.diagnostic(`${variant}: heap ${heapBytes}, used ${usedBytes}, JavaScript ${jsBytes} bytes`);
  assert.ok(samples.length > 99 && samples[0].heapBytes > 2 ** 21, 'memory grew at the start');
  assert.ok(samples.some(({ holding }) => holding.handles > 0 && holding.usedBytes > usedBytes));
  assert.deepEqual(leaksOf(samples), []);
});

test('memory in Chromium: a leak is found', async () => {
  const change = `(engine) => {
    const { gelu } = engine;
    const kept = (globalThis.kept = []);
    engine.gelu = (...args) => {
      kept.push(kept.length % 10 === 0 ? engine.tensor([1]) : 0);
      return gelu.apply(engine, args);
    };
    return engine;
  }`;
  const problems = leaksOf((await inChromium({ last: 1000, change })).samples);
  assert.match(String(problems), /usedBytes was .*handles was \d+ .* and \d+ after/);
});

/** So many sequences are asked of a page, which must report in time. */
const atOnce = 300;

if (!full)
  leaveToFullRun('sequences near 4 GiB of the relaxed build, whose memory is that of simd');
for (const variant of ['simd', 'simd-threads', ...(full ? ['relaxed'] : [])]) {
  test(`memory in Chromium: any sequence of calls near 4 GiB, ${variant}`, async (t) => {
    const count = Math.round((full ? 1000 : 60) * Number(process.env.QKV_FUZZ_TIMES ?? 1));
    const script = (first, end) => `
      import { init } from '/dist/index.js';
      import { create } from '/dist/models.js';
      import { MemorySequences } from '/support/memory-sequences.js';
      const threads = ${variant.endsWith('threads') ? 2 : 1};
      const engine = await init({ variant: '${variant}', threads });
      const sequences = new MemorySequences(engine, create);
      for (let i = ${first}; i < ${end}; ++i) sequences.run(20_260 + i);
      engine.dispose();
      const { refused, answered, problems, heapBytes } = sequences;
      report({ refused, answered, problems, heapBytes, variant: engine.info.variant });
    `;
    const totals = { answered: {}, refused: {} };
    const pages = await startPages({});
    try {
      for (let first = 0; first < count; first += atOnce) {
        const end = Math.min(first + atOnce, count);
        const found = await pages.run(script(first, end), { isolated: true });
        assert.equal(found.variant, variant);
        assert.deepEqual(found.problems.slice(0, 5), []);
        assert.ok(found.heapBytes > 2 ** 32 - 2 ** 17, `it grew to ${found.heapBytes} bytes`);
        for (const [kind, total] of Object.entries(totals)) {
          for (const [name, calls] of Object.entries(found[kind])) {
            total[name] = (total[name] ?? 0) + calls;
          }
        }
      }
    } finally {
      await pages.close();
    }
    const { answered, refused } = totals;
    t.diagnostic(
      `${count} sequences; answered ${JSON.stringify(answered)}; refused ${JSON.stringify(refused)}`,
    );
    assert.ok(answered.tensor > count && refused.tensor > count);
  });
}
