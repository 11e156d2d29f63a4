// @build each
// sample(): which tokens may come, by the rules in float64, and what is told of them.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { create, sample } from 'qkv/models';
import { expectThrows } from '../../support/js/check.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { logProbabilities, randomWeights } from '../../support/js/model-oracle.js';

const engine = await init({ deterministic: true });
after(() => engine.dispose());
const logits = Float32Array.of(1, 3, -Infinity, 3, 2, NaN, 0.5);
const known = [0, 1, 3, 4, 6];
const logProbability = new Map(
  [...logProbabilities(known.map((id) => logits[id]))].map((value, i) => [known[i], value]),
);
const choose = (options, of = logits) => sample(engine, of, options).id;
/** All tokens of so many draws. */
const drawn = (options, draws = 200) =>
  [...new Set(Array.from({ length: draws }, (_, step) => choose({ ...options, step })))].sort(
    (a, b) => a - b,
  );
const mask = (...ids) =>
  ids.reduce((words, id) => ((words[id >> 5] |= 1 << (id & 31)), words), new Uint32Array(1));

test('sample: by default the likeliest token, the first of equals, with its probability', () => {
  const token = sample(engine, logits);
  assert.deepEqual(Object.keys(token), ['id', 'logProbability']);
  assert.equal(token.id, 1);
  assert.ok(Math.abs(token.logProbability - logProbability.get(1)) < 1e-6);
});

test('sample: temperature, topK, topP and minP leave the tokens of their rules', () => {
  assert.deepEqual(drawn({ temperature: 5 }), known);
  assert.deepEqual(drawn({ temperature: 5, topK: 3 }), [1, 3, 4]);
  assert.deepEqual(drawn({ temperature: 1, minP: 0.3 }), [1, 3, 4]); // e^-1 = 0.37, e^-2 = 0.14
  assert.deepEqual(drawn({ temperature: 1, topP: 0.7 }), [1, 3]); // 0.81 together
  const seeds = new Set(Array.from({ length: 40 }, (_, seed) => choose({ temperature: 2, seed })));
  assert.ok(seeds.size > 2);
});

test('sample: penalties for the tokens that were seen', () => {
  const plain = Float32Array.of(4, 3, -1);
  const best = (options) => choose(options, plain);
  assert.equal(best({ repetitionPenalty: 1.5, seen: [0] }), 1);
  assert.equal(best({ repetitionPenalty: 1.3, seen: Int32Array.of(0, 0) }), 0);
  assert.equal(best({ frequencyPenalty: 0.6, seen: [0] }), 0);
  assert.equal(best({ frequencyPenalty: 0.6, seen: [0, 0] }), 1);
  assert.equal(best({ presencePenalty: 0.6, seen: [0, 0] }), 0);
  assert.equal(best({ presencePenalty: 1.1, seen: new Uint8Array(2) }), 1);
  assert.equal(best({ presencePenalty: 9, seen: [] }), 0);
});

test('sample: a bias is added before the penalties, -Infinity bans', () => {
  assert.equal(choose({ logitBias: { 4: 0.9 } }), 1);
  assert.equal(choose({ logitBias: { 4: 1.1 } }), 4);
  assert.equal(choose({ logitBias: { 1: -Infinity } }), 3);
  assert.equal(choose({ logitBias: { 2: 1e30, 5: 1e30 } }), 1);
  assert.equal(choose({ logitBias: {} }), 1);
  assert.equal(choose({ logitBias: Object.create({ 4: 1.1 }) }), 4, 'a bias that is inherited');
  assert.deepEqual(drawn({ temperature: 9, logitBias: { 0: -Infinity, 6: -Infinity } }), [1, 3, 4]);
  // (1 + 4) / 2 = 2.5 is below 3, 1 / 2 + 4 = 4.5 is not.
  assert.equal(choose({ logitBias: { 0: 4 }, repetitionPenalty: 2, seen: [0] }), 1);
});

test('sample: only the tokens of `allowed`, a bit for each', () => {
  for (const id of known) {
    assert.equal(choose({ allowed: mask(id) }), id);
    assert.equal(choose({ allowed: mask(id), temperature: 3, topK: 2 }), id);
  }
  assert.deepEqual(drawn({ temperature: 5, allowed: mask(0, 2, 4, 5) }), [0, 4]);
  const many = Float32Array.from({ length: 70 }, (_, i) => -i);
  assert.equal(choose({ allowed: Uint32Array.of(0, 2 ** 31, 63) }, many), 63);
  assert.equal(choose({ allowed: Uint32Array.of(0, 0, 32 + 64) }, many), 69);
});

test('sample: the likeliest tokens by the logits as they were given', () => {
  const options = { allowed: mask(6), logitBias: { 1: -Infinity }, topLogprobs: 7 };
  const { id, logProbability: own, topLogprobs: top } = sample(engine, logits, options);
  assert.equal(id, 6);
  assert.deepEqual(
    top.map((each) => each.id),
    [1, 3, 4, 0, 6, 2, 5],
  );
  top.slice(0, 5).forEach((each) => {
    const exact = logProbability.get(each.id);
    assert.ok(Math.abs(each.logProbability - exact) < 1e-6, `${each.logProbability}, ${exact}`);
  });
  assert.equal(top[4].logProbability, own);
  assert.deepEqual([top[5].logProbability, top[6].logProbability], [-Infinity, -Infinity]);
  assert.equal(sample(engine, logits, { topLogprobs: 2 }).topLogprobs.length, 2);
  assert.equal('topLogprobs' in sample(engine, logits, { topLogprobs: 0 }), false);
});

test('sample: logits of forward, a tensor or an array of one token', async () => {
  const config = { ...kinds.llama, maxLength: 40 };
  const model = create(engine, config, randomWeights(config, 11));
  const ids = rowsOf(config, 5);
  const session = model.session();
  const options = { temperature: 1.2, topK: 6, repetitionPenalty: 1.3, seed: 5 };
  const expected = [];
  for await (const { id } of model.generate(ids, { ...options, maxTokens: 6 })) expected.push(id);
  const said = [];
  let next = ids;
  for (let step = 0; step < 6; step += 1) {
    const { logits: row } = model.forward(next, { session, rows: 'last' });
    const { id } = sample(engine, row, { ...options, step, seen: [...ids, ...said] });
    said.push(id);
    next = [id];
  }
  assert.deepEqual(said, expected);
  const tensor = engine.tensor([1, 7], logits);
  assert.equal(sample(engine, tensor).id, 1);
  for (const one of [tensor, session, model]) one.dispose();
});

test('sample: what leaves no token is refused', () => {
  const refuses = (options, ...says) =>
    expectThrows(() => sample(engine, logits, options), 'sample', 'out_of_range', ...says);
  refuses({ allowed: new Uint32Array(1) }, 'leave no token');
  refuses({ allowed: mask(2, 5) }, 'leave no token');
  refuses({ allowed: mask(4), logitBias: { 4: -Infinity } }, 'leave no token');
  const none = () => sample(engine, Float32Array.of(NaN, -Infinity));
  expectThrows(none, 'sample', 'out_of_range', 'logits has no finite element');
  const infinite = () => sample(engine, Float32Array.of(0, Infinity));
  expectThrows(infinite, 'sample', 'invalid_argument', 'logits[1] is Infinity');
});

test('sample: an array of `allowed` that is detached, also by a getter of the call', () => {
  const detached = (array) => {
    structuredClone(array.buffer, { transfer: [array.buffer] });
    return array;
  };
  const says = ['sample', 'shape_mismatch', 'allowed has 0 words, expected 1'];
  expectThrows(() => sample(engine, logits, { allowed: detached(mask(1)) }), ...says);
  const allowed = mask(1);
  const options = {
    allowed,
    get logitBias() {
      detached(allowed);
      return { 1: 1 };
    },
  };
  expectThrows(() => sample(engine, logits, options), ...says);
});
