// @build any
// @about wasm/src/ core/src/
// What tests/package/node/memory.test.js asks of Node, asked of Chromium.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inChromium, leaksOf } from '../../support/js/memory.js';

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
