// @build each
// Models that run: logits, the stream, readings, sessions and losses against the formulas in float64.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectClose, expectSame, expectThrows } from '../../support/js/check.js';
import { initAsTold } from '../../support/js/files.js';
import { boundOf, kinds, rowsOf, sizeIn } from '../../support/js/model-kinds.js';
import {
  arraysOf,
  logProbabilities,
  modelForward,
  randomWeights,
  withDefaults,
} from '../../support/js/model-oracle.js';

const engine = await initAsTold(init);
after(() => engine.dispose());

const all = { weights: true, entropy: true, residuals: true, projections: true };

function close(actual, expected, config, what) {
  const size = sizeIn(expected);
  expectClose(actual, expected, boundOf(config, size), { size, what });
}

/** A small model, its weights, and what the formulas say of it. */
function world(name) {
  const config = kinds[name];
  const weights = randomWeights(config, 5);
  const model = create(engine, config, weights);
  const exact = (ids, options) => modelForward(config, weights, ids, options);
  return { config, weights, model, exact };
}

for (const name of Object.keys(kinds)) {
  describe(`a model as ${name}`, () => {
    const { config, weights, model, exact } = world(name);
    after(() => model.dispose());
    const [batch, tokens] = [2, 9];
    const ids = rowsOf(config, batch * tokens);
    const head = config.head !== false;

    test(`${name}: every result and reading of a pass is what the formulas say`, () => {
      const inspect = { ...all, logitLens: head };
      const { logits, hidden, layers } = model.forward(ids, { batch, hidden: true, inspect });
      const expected = exact(ids, { batch });
      assert.deepEqual(hidden.shape, [batch, tokens, config.dModel]);
      close(hidden.data, expected.hidden, config, 'hidden');
      assert.equal(logits !== undefined, head);
      if (head) {
        assert.deepEqual(logits.shape, [batch, tokens, config.vocabulary]);
        close(logits.data, expected.logits, config, 'logit');
      }
      assert.deepEqual([...layers.keys()], [0, 1]);
      for (const [layer, read] of layers) {
        const own = expected.layers[layer];
        assert.deepEqual(read.weights.shape, [batch, config.numHeads, tokens, tokens]);
        close(read.weights.data, own.weights, config, `weight of layer ${layer}`);
        close(read.entropy.data, own.entropy, config, `entropy of layer ${layer}`);
        close(read.residual.data, own.residual, config, `residual of layer ${layer}`);
        const { numKvHeads, dK } = model.config;
        for (const [part, heads] of [
          ['q', config.numHeads],
          ['k', numKvHeads],
          ['v', numKvHeads],
        ]) {
          assert.deepEqual(read[part].shape, [batch, heads, tokens, dK]);
          close(read[part].data, own[part], config, `${part} of layer ${layer}`);
        }
        if (head) close(read.logits.data, own.logits, config, `lens of layer ${layer}`);
      }
    });

    test(`${name}: heads that are taken out leave what the formulas say`, () => {
      const ablate = [[1, 2], [0, 0]]; // prettier-ignore
      const { hidden } = model.forward(ids, { batch, hidden: true, inspect: { ablate } });
      close(hidden.data, exact(ids, { batch, ablate }).hidden, config, 'hidden');
    });

    test(`${name}: it says what it is made of`, () => {
      const filled = withDefaults(config);
      const { dK = filled.dK } = config;
      assert.deepEqual({ ...model.config }, { ...filled, dK });
      const numbers = arraysOf(config).map(([, shape]) => shape.reduce((n, e) => n * e, 1));
      const count = numbers.reduce((sum, n) => sum + n, 0);
      assert.equal(model.parameterCount, count);
      assert.ok(model.bytes >= 4 * count && model.bytes < 8 * count + 4096, `${model.bytes}`);
      assert.equal(model.format, 'f32');
      assert.equal(Object.keys(weights).length, numbers.length);
    });

    if (config.causal === false) {
      test(`${name}: lengths of rows, and segments`, () => {
        const keyLengths = [tokens, 4];
        const hasTypes = config.tokenTypes > 0;
        const tokenTypes = hasTypes ? ids.map((_, i) => Number(i % tokens > 3)) : undefined;
        const { hidden } = model.forward(ids, { batch, keyLengths, tokenTypes });
        close(hidden.data, exact(ids, { batch, keyLengths, tokenTypes }).hidden, config, 'hidden');
      });
      return;
    }

    test(`${name}: the last row alone has the same bits`, () => {
      const whole = model.forward(ids, { batch, hidden: true });
      const last = model.forward(ids, { batch, hidden: true, rows: 'last' });
      assert.deepEqual(last.logits.shape, [batch, 1, config.vocabulary]);
      assert.deepEqual(last.hidden.shape, [batch, 1, config.dModel]);
      for (const [part, width] of [
        ['logits', config.vocabulary],
        ['hidden', config.dModel],
      ]) {
        for (let b = 0; b < batch; ++b) {
          const end = (b + 1) * tokens * width;
          const own = last[part].data.slice(b * width, (b + 1) * width);
          expectSame(own, whole[part].data.slice(end - width, end), part);
        }
      }
    });

    test(`${name}: a session goes on where it was, and back when it is truncated`, () => {
      const row = rowsOf(config, 12);
      const expected = exact(row).logits;
      const width = config.vocabulary;
      const session = model.session({ capacity: 12 });
      assert.deepEqual([session.length, session.capacity], [0, 12]);
      const first = model.forward(row.slice(0, 5), { session });
      close(first.logits.data, expected.slice(0, 5 * width), config, 'logit');
      const bits = [];
      for (let t = 5; t < 12; ++t) {
        const { logits, layers } = model.forward([row[t]], { session, inspect: { weights: true } });
        close(logits.data, expected.slice(t * width, (t + 1) * width), config, `logit of ${t}`);
        assert.deepEqual(layers.get(1).weights.shape, [1, config.numHeads, 1, t + 1]);
        assert.equal(session.length, t + 1);
        bits.push(logits.data);
      }
      session.truncate(7);
      assert.equal(session.length, 7);
      for (let t = 7; t < 12; ++t) {
        expectSame(model.forward([row[t]], { session }).logits.data, bits[t - 5], `logit of ${t}`);
      }
      session.dispose();
    });

    test(`${name}: the loss is the mean of what the next tokens cost`, () => {
      const lossOf = (logits) => {
        let sum = 0;
        for (let b = 0; b < batch; ++b) {
          for (let t = 0; t + 1 < tokens; ++t) {
            const at = (b * tokens + t) * config.vocabulary;
            const row = logits.slice(at, at + config.vocabulary);
            sum -= logProbabilities(row)[ids[b * tokens + t + 1]];
          }
        }
        return sum / (batch * (tokens - 1));
      };
      const whole = lossOf(exact(ids, { batch }).logits);
      close([model.loss(ids, { batch })], [whole], config, 'loss');
      const ablate = [[0, 1]]; // prettier-ignore
      const without = lossOf(exact(ids, { batch, ablate }).logits);
      assert.ok(Math.abs(without - whole) > 1e-3, 'the head matters');
      close([model.loss(ids, { batch, inspect: { ablate } })], [without], config, 'loss');
    });
  });
}

test('a text is what its tokens are, for a pass and for a loss', () => {
  const config = kinds.llama;
  const letters = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
  const begins = {
    ...{ decode: letters.decode, begin: 9 },
    encode: (text) => [9, ...letters.encode(text)],
    encodePlain: (text) => [9, 8, ...letters.encode(text)],
  };
  const own = create(engine, config, randomWeights(config, 3), { tokenizer: begins });
  const same = (a, b) => expectSame(a.logits.data, b.logits.data, 'logit');
  same(own.forward('abc'), own.forward([9, 0, 1, 2]));
  same(own.forward('abc', { plain: true }), own.forward([9, 8, 0, 1, 2]));
  assert.equal(own.loss('abc'), own.loss([9, 0, 1, 2]));
  assert.equal(own.loss('abc', { plain: true }), own.loss([9, 8, 0, 1, 2]));
  const [one, other] = [own.session(), own.session()];
  own.forward('ab', { session: one });
  own.forward([9, 0, 1], { session: other });
  // What goes on begins nothing.
  same(own.forward('cd', { session: one }), own.forward([2, 3], { session: other }));
  same(own.forward('cd', { session: one, plain: true }), own.forward([8, 2, 3], { session: other }));
  assert.deepEqual([one.length, other.length], [8, 8]);
  expectThrows(() => own.forward('abc', { batch: 2 }), 'LanguageModel.forward', 'out_of_range', 'the batch of a text is 2', '1');
  own.dispose();
}); // prettier-ignore

test('rows of weights and queries: those that are asked for, with the bits of all', () => {
  const { config, model } = world('llama');
  const ids = rowsOf(config, 9);
  const read = (inspect) => model.forward(ids, { inspect }).layers;
  const { weights: whole, ...wholly } = read({ weights: true, projections: true }).get(1);
  const part = read({ layers: [1], weights: true, projections: true, rows: [3, 5] });
  assert.deepEqual([...part.keys()], [1]);
  const { weights, q, k, v } = part.get(1);
  const { dK } = model.config;
  assert.deepEqual(weights.shape, [1, 4, 2, 9]);
  assert.deepEqual(q.shape, [1, 4, 2, dK]);
  for (const [name, kept] of Object.entries({ k, v })) {
    expectSame(kept.data, wholly[name].data, name);
  }
  for (let h = 0; h < 4; ++h) {
    const own = weights.data.slice(h * 18, h * 18 + 18);
    expectSame(own, whole.data.slice(h * 81 + 27, h * 81 + 45), 'weight');
    const rows = q.data.slice(h * 2 * dK, (h + 1) * 2 * dK);
    expectSame(rows, wholly.q.data.slice((h * 9 + 3) * dK, (h * 9 + 5) * dK), 'query');
  }
  model.dispose();
});

test('projections: softmax of attentionScale q k^T is the weights', () => {
  for (const name of Object.keys(kinds)) {
    const { config, model, weights: arrays } = world(name);
    if (config.causal === false) continue;
    const ids = rowsOf(config, 9);
    const { relativeMaxDistance: maxDistance } = model.config;
    const relative =
      config.relativeBuckets &&
      engine.t5RelativeBias(arrays.relativeBias, 9, 9, { bidirectional: false, maxDistance });
    const { numHeads, numKvHeads, window, positions, attentionSoftcap } = model.config;
    const { layers } = model.forward(ids, { inspect: { weights: true, projections: true } });
    for (const [layer, { weights, q, k, v }] of layers) {
      const { attentionScale: scale } = model.config;
      const left = (Array.isArray(window) ? window[layer] : window) ?? -1;
      const bias = positions === 'alibi' ? { kind: 'alibi' } : relative;
      const options = { causal: true, window: [left, -1], softcap: attentionSoftcap };
      const { weights: again } = engine.attention(q, k, v, {
        ...{ numHeads, numKvHeads, ...options, ...(bias && { bias }), ...(scale && { scale }) },
        returnWeights: true,
      });
      // The same kernels read the same numbers.
      expectSame(weights.data, again.data, `${name}: weight of layer ${layer}`);
    }
    model.dispose();
  }
});

test('inspection: what is not asked for is not there, and layers are in the order that was asked', () => {
  const { config, model } = world('gpt2');
  const ids = rowsOf(config, 4);
  assert.deepEqual(Object.keys(model.forward(ids)), ['logits']);
  const { layers } = model.forward(ids, { inspect: { layers: [1, 0], entropy: true } });
  assert.deepEqual([...layers.keys()], [1, 0]);
  assert.deepEqual(Object.keys(layers.get(0)), ['entropy']);
  const before = engine.memory().usedBytes;
  const projected = model.forward(ids, { inspect: { layers: [1], projections: true } }).layers;
  assert.deepEqual(Object.keys(projected.get(1)), ['q', 'k', 'v']);
  model.forward(ids);
  assert.ok(engine.memory().usedBytes <= before, 'readings were kept');
  const { logits: plain } = model.forward(ids);
  const { logits } = model.forward(ids, { inspect: { ...all, logitLens: true } });
  expectSame(logits.data, plain.data, 'logit');
  model.dispose();
});

/** The largest error of logits, in parts of their largest, that rounding the weights may make: measured, and doubled. */
const distances = { bf16: 0.02, int8: 0.07 };
for (const [format, distance] of Object.entries(distances)) {
  test(`${format}: logits stay within ${distance} of the largest, and the weights take less`, (t) => {
    for (const name of ['llama', 'gpt2']) {
      const config = { ...kinds[name], dModel: 64, dFeedForward: 96 };
      const weights = randomWeights(config, 5);
      const [whole, small] = ['f32', format].map((of) =>
        create(engine, config, weights, { format: of }),
      );
      assert.equal(small.format, format);
      const ids = rowsOf(config, 20);
      const [expected, actual] = [whole, small].map((model) => model.forward(ids).logits.data);
      const worst = sizeIn(actual.map((x, i) => x - expected[i])) / sizeIn(expected);
      t.diagnostic(`${name}: ${worst.toExponential(1)}, ${small.bytes} of ${whole.bytes} bytes`);
      assert.ok(worst > 0 && worst < distance, `${worst}`);
      assert.ok(small.bytes < whole.bytes * (format === 'int8' ? 0.5 : 0.7), `${small.bytes}`);
      for (const model of [whole, small]) model.dispose();
    }
  });
}
