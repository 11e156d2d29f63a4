// @build any
// Long sequences: no array of T x T anywhere.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { randomArray } from '../../support/js/arrays.js';
import { expectClose } from '../../support/js/check.js';
import { countInRun } from '../../support/js/full.js';
import { attentionRow, headsOf, rowBounds } from '../../support/js/oracle.js';

const heads = countInRun(12, 4, 'heads over 8192 tokens');
const [tokens, width] = [8192, 64];
/** Scores far enough apart that single keys count: the mean of 8192 values would hide many faults. */
const options = { causal: true, scale: 2 };

test(`attention: 8192 tokens, ${heads} heads of 64, causal: exact, in less than three times the inputs`, async (t) => {
  const engine = await init();
  const shape = [1, heads, tokens, width];
  const [q, k, v] = [1, 2, 3].map((seed) => randomArray(shape, seed));
  const given = q.data.byteLength + k.data.byteLength + v.data.byteLength;
  const before = engine.memory().heapBytes;
  const { output, lse } = engine.attention(q, k, v, { ...options, returnLse: true });
  const grown = engine.memory().heapBytes - before;
  const times = (grown / given).toFixed(2);
  t.diagnostic(`${engine.info.variant}: memory grew by ${times} x q + k + v`);
  assert.ok(grown < 3 * given, `memory grew by ${grown} bytes, ${times} times the inputs`);

  const [qs, ks, vs] = [q, k, v].map((array) => headsOf(array));
  const problem = { q: qs, k: ks, v: vs, options };
  const rows = [0, 1, 63, 64, 65, 4095, 4096, 5000, tokens - 2, tokens - 1];
  for (const h of [0, heads / 2 - 1, heads - 1]) {
    for (const i of rows) {
      const exact = attentionRow(problem, 0, h, i);
      const bounds = rowBounds(exact, width, tokens);
      const at = qs.at(0, h, i);
      const what = `head ${h}, row ${i}, element`;
      expectClose(output.data.subarray(at, at + width), exact.out, bounds.output, {
        what,
        quantity: 'attention.output',
      });
      const row = h * tokens + i;
      expectClose([lse.data[row]], [exact.lse], bounds.lse(exact.lse), {
        ...{ size: 1, what: 'lse', quantity: 'attention.lse' },
      });
    }
  }
});

test('attention: the weights of one row of a long sequence take the room of one row', async () => {
  const engine = await init({ deterministic: true });
  const x = randomArray([16_384, 8], 4);
  const options = { numHeads: 1, causal: true, returnWeights: true, rows: [16_383, 16_384] };
  const before = engine.memory().heapBytes;
  const { weights } = engine.attention(x, x, x, options);
  const grown = engine.memory().heapBytes - before;
  assert.deepEqual(weights.shape, [1, 1, 1, 16_384]);
  assert.ok(grown < 32 * x.data.byteLength, `memory grew by ${grown} bytes`);
  const sum = weights.data.reduce((total, w) => total + w, 0);
  assert.ok(Math.abs(sum - 1) < 16_384 * 2 ** -23, `the weights sum to ${sum}`);
});
