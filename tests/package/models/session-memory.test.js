// @build any
// What memory sessions and generate() take: as much as their tokens, and what they say where there is none.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { create } from 'qkv/models';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { wasmFile } from '../../support/js/files.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { initWithin, leave } from '../../support/js/small-memory.js';

const engine = await init({ deterministic: true, shared: false });
after(() => engine.dispose());

/** Layers, key/value heads, their width and the context of models that people load; all else is as small as can be. */
const shapes = {
  'Llama-3.2-1B': { numLayers: 16, numHeads: 8, dK: 64, maxLength: 131_072 },
  'Qwen3-0.6B': { numLayers: 28, numHeads: 8, dK: 128, maxLength: 40_960 },
  'R1-Distill-Qwen-1.5B': { numLayers: 28, numHeads: 2, dK: 128, maxLength: 131_072 },
};

describe('LanguageModel.session: memory grows with the tokens that are held', () => {
  for (const [name, shape] of Object.entries(shapes)) {
    test(`with the default capacity of ${name}`, async () => {
      const { numLayers, numHeads, dK, maxLength } = shape;
      const config = {
        ...{ ...shape, vocabulary: 19, dModel: 8, dFeedForward: 0, normType: 'rms' },
        positions: 'rotary',
      };
      const { handles } = engine.memory();
      const model = create(engine, config, randomWeights(config, 1));
      const { usedBytes } = engine.memory();
      const ofToken = numLayers * numHeads * 2 * dK * 4;
      const session = model.session();
      assert.deepEqual([session.capacity, session.bytes], [maxLength, maxLength * ofToken]);
      const taken = () => engine.memory().usedBytes - usedBytes;
      assert.ok(taken() < 65 * ofToken, `${taken()} bytes for no token`);
      model.forward(rowsOf(config, 100), { session, rows: 'last' });
      // Twice what it holds, and the scratch and arrays of the call.
      assert.ok(taken() < 200 * ofToken + 2 ** 22, `${taken()} bytes for 100 tokens`);
      session.dispose();
      // Without maxTokens: as many as there is room for.
      let count = 0;
      for await (const { id } of model.generate([1, 2, 3])) {
        assert.ok(id >= 0);
        count += 1;
        if (count === 5) break;
      }
      model.dispose();
      assert.equal(engine.memory().handles, handles);
    });
  }

  test('the numbers are those of a session that had room from the start', () => {
    const config = { ...kinds.llama, maxLength: 400 };
    const model = create(engine, config, randomWeights(config, 2));
    const ids = rowsOf(config, 400);
    for (const format of ['f32', 'bf16', 'int8']) {
      const whole = model.session({ format });
      const expected = model.forward(ids, { session: whole }).logits.data;
      const grown = model.session({ format });
      const width = config.vocabulary;
      // One by one through 64, 128 and 256.
      for (let t = 0; t < 300; ++t) {
        const { logits } = model.forward([ids[t]], { session: grown });
        expectSame(logits.data, expected.slice(t * width, (t + 1) * width));
      }
      const { logits } = model.forward(ids.slice(300), { session: grown });
      expectSame(logits.data, expected.slice(300 * width));
      whole.dispose();
      grown.dispose();
    }
    model.dispose();
  });
});

describe('out of memory: for the tokens of a session', () => {
  const config = {
    ...{ vocabulary: 19, numLayers: 2, dModel: 8, numHeads: 8, dK: 64, dFeedForward: 0 },
    ...{ maxLength: 100_000, normType: 'rms', positions: 'rotary' },
  };
  const ofToken = 2 * 8 * 2 * 64 * 4;

  test('names maxTokens, capacity and the bytes of a token, and changes nothing', async () => {
    const small = await initWithin(128, { wasm: wasmFile('simd') });
    const model = create(small, config, randomWeights(config, 3));
    const session = model.session();
    const ids = rowsOf(config, 60);
    const expected = model.forward(ids, { session, rows: 'last' }).logits.data;
    session.truncate(59);
    const release = leave(small, 2048);
    const says = [
      ...[
        'bytes could not be allocated',
        'the cache holds 59 tokens and needs room for 79 of capacity 100000',
      ],
      ...[
        `at ${ofToken} bytes each; expected fewer tokens, at ${ofToken} bytes each: maxTokens of generate()`,
      ],
      'capacity of session() limit them',
    ];
    const more = rowsOf(config, 20);
    const forward = () => model.forward(more, { session });
    expectThrows(forward, 'LanguageModel.forward', 'out_of_memory', ...says);
    assert.equal(session.length, 59);
    await assert.rejects(
      async () => {
        for await (const token of model.generate(more, { session })) assert.fail(`${token.id}`);
      },
      (error) => {
        expectThrows(
          () => {
            throw error;
          },
          ...['LanguageModel.generate', 'out_of_memory', ...says],
        );
        return true;
      },
    );
    assert.equal(session.length, 59);
    release();
    const again = model.forward(ids.slice(59), { session, rows: 'last' });
    expectSame(again.logits.data, expected);
    model.forward(more, { session });
    assert.equal(session.length, 80);
    small.dispose();
  });
});
