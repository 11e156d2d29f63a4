// Writers of blocks: what the readers by formula make of them is within a step of the numbers, and in the layout of the type.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blockTypes, numberOf } from '../../support/js/blocks.js';
import { encode } from '../../support/js/gguf.js';
import { randomOf } from '../../support/js/random.js';

/** Numbers in [-1, 1) times 2^-5 to 2^2, another power for each 64, so that the scales within a block of 256 differ. */
function numbers(count) {
  const random = randomOf(11);
  return Float32Array.from(
    { length: count },
    (_, i) => (2 * random() - 1) * 2 ** (((i >> 6) % 8) - 5),
  );
}

const largest = (list) => Math.max(...list.map(Math.abs));

/**
 * The most that number i may be off. Blocks of 32 have d = max / 2^(bits - 1) and are half a step off, the numbers at the other
 * end of the range a whole one. In blocks of 256 scales are rounded to multiples of d: by half a d each, times the code.
 */
const bounds = {
  Q8_0: (run) => (0.5 * largest(run)) / 127,
  Q4_0: (run) => largest(run) / 8,
  Q5_0: (run) => largest(run) / 16,
  Q4_K(run, block) {
    const width = (part) => Math.max(...part) - Math.min(0, ...part);
    const runs = Array.from({ length: 8 }, (_, j) => block.subarray(32 * j, 32 * j + 32));
    const d = Math.max(...runs.map(width)) / 15 / 63;
    const dmin = Math.max(...runs.map((part) => -Math.min(0, ...part))) / 63;
    return width(run) / 30 + 15 * (d / 2) + dmin / 2;
  },
  Q6_K: (run, block) =>
    largest(run) / 64 + 32 * ((largest(block) / 32 / 128) * 0.5) + largest(run) / 32,
};
/** Numbers that share a scale. */
const shared = { Q6_K: 16 };

describe('quantize: blocks that are read by the formula of their type', () => {
  for (const [type, bound] of Object.entries(bounds)) {
    test(`${type} is off by less than its steps`, () => {
      const [of, size] = blockTypes[type];
      const data = numbers(2048);
      const bytes = encode(type, data);
      assert.equal(bytes.length, (data.length / of) * size);
      const width = shared[type] ?? 32;
      for (let i = 0; i < data.length; i += 1) {
        const from = i - (i % width);
        const block = data.subarray(i - (i % 256), i - (i % 256) + 256);
        // A little more for scales that are rounded to float16.
        const most =
          bound(data.subarray(from, from + width), block) * (1 + 2 ** -9) +
          2 ** -11 * Math.abs(data[i]);
        const error = Math.abs(numberOf(type, bytes, i) - data[i]);
        assert.ok(error <= most, `${type} ${i}: ${data[i]} is off by ${error}, above ${most}`);
      }
    });

    test(`${type} of zeros is zeros`, () => {
      const bytes = encode(type, new Float32Array(512));
      for (let i = 0; i < 512; i += 1) assert.equal(Math.abs(numberOf(type, bytes, i)), 0);
    });
  }

  test('Q4_0 and Q5_0 keep whole multiples of a scale as they are', () => {
    for (const [type, half] of [
      ['Q4_0', 8],
      ['Q5_0', 16],
    ]) {
      const data = Float32Array.from({ length: 64 }, (_, i) => ((i % (2 * half)) - half) / 4);
      const bytes = encode(type, data);
      data.forEach((x, i) => assert.equal(numberOf(type, bytes, i), x));
    }
  });
});
