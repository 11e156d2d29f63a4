// @build each
// generate() with a constraint: what a model says is what a schema or an expression allows, whatever its logits are.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import Ajv from 'ajv/dist/2020.js';
import { init } from 'qkv';
import { jsonSchema, regularExpression } from 'qkv/constraints';
import { charactersTokenizer, create, load } from 'qkv/models';
import { init as initAway } from 'qkv/worker';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { countInRun } from '../../support/js/full.js';
import { kinds } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { chatFiles, imEnd } from '../models/support/chat-model.js';

const fn = 'LanguageModel.generate';
const engine = await init({ deterministic: true });
after(() => engine.dispose());
const files = chatFiles(engine);
const model = await load(engine, files);
after(() => model.dispose());

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 6 },
    kind: { enum: ['head', 'layer', null] },
    rows: { type: 'integer', minimum: -3, maximum: 120 },
    tags: { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 3 },
    score: { anyOf: [{ type: 'integer', minimum: 0, maximum: 9 }, { const: 'none' }] },
  },
  required: ['name', 'rows', 'tags'],
  additionalProperties: false,
};
const isValid = new Ajv().compile(schema);

const all = async (tokens) => {
  const list = [];
  for await (const token of tokens) list.push(token);
  return list;
};

describe('schemas', () => {
  const seeds = countInRun(1000, 250, 'seeds of documents');

  test(`generate: ${seeds} seeds never leave the schema`, async (t) => {
    const constraint = jsonSchema(schema);
    let whole = 0;
    const documents = new Set();
    for (let seed = 0; seed < seeds; seed += 1) {
      const options = { constraint, seed, temperature: 1.5, maxTokens: 160 };
      const answer = model.generate('{', options);
      const text = await answer.text();
      if (answer.finishReason === 'stop') {
        whole += 1;
        const value = JSON.parse(text);
        assert.ok(isValid(value), `seed ${seed}: ${text}: ${JSON.stringify(isValid.errors)}`);
        documents.add(text);
      } else {
        // Letters of a random model are long: what is there is the beginning of a document.
        assert.equal(answer.finishReason, 'length');
        assert.match(text, /^\{"name": "/);
      }
    }
    t.diagnostic(`${whole} of ${seeds} are whole, ${documents.size} different ones`);
    assert.ok(
      whole > 0.9 * seeds && documents.size > 0.5 * seeds,
      `${whole} whole, ${documents.size} different`,
    );
  });

  test('generate: the document ends by itself, also without a token that ends texts', async () => {
    const constraint = jsonSchema({ enum: ['yes', 'no'] });
    const answer = model.generate('?', { constraint, stopTokens: [] });
    assert.match(await answer.text(), /^"(yes|no)"$/);
    assert.equal(answer.finishReason, 'stop');
  });
});

describe('expressions', () => {
  test('generate: the text is one of the expression, and may end where that may', async () => {
    const pattern = /[a-c]{2,4}(-é+)?/u;
    const constraint = regularExpression(pattern);
    const seen = new Set();
    for (let seed = 0; seed < 100; seed += 1) {
      const options = {
        constraint,
        seed,
        temperature: 2,
        maxTokens: 40,
        logitBias: { [imEnd]: 3 },
      };
      const answer = model.generate('a', options);
      const text = await answer.text();
      if (answer.finishReason !== 'stop') continue;
      assert.match(text, new RegExp(`^(?:${pattern.source})$`, 'u'));
      seen.add(text);
    }
    assert.ok(seen.size > 10);
  });

  test('generate: what was chosen is likely by the logits, and alternatives are all tokens', async () => {
    const constraint = regularExpression('xyz');
    const tokens = await all(model.generate('a', { constraint, topLogprobs: 1 }));
    assert.deepEqual(
      tokens.map(({ text }) => text),
      ['x', 'y', 'z'],
    );
    for (const { logProbability, topLogprobs } of tokens)
      assert.ok(topLogprobs[0].logProbability >= logProbability);
  });

  test('generate: constraint, mask and forced tokens act together', async () => {
    const constraint = regularExpression('[ab]{3}');
    const bytes = (text) => [...Buffer.from(text)];
    const forced = { constraint, forced: bytes('b') };
    assert.match(await model.generate('a', forced).text(), /^b[ab]{2}$/);
    const mask = () => bytes('bc');
    assert.equal(await model.generate('a', { constraint, mask }).text(), 'bbb');
    for (const [given, ...says] of [
      [{ forced: bytes('bc') }, 'forced[1] is 99, expected a token that the constraint allows'],
      [{ mask: () => bytes('c') }, 'mask() has no token that the constraint allows'],
    ])
      await expectRejects(
        all(model.generate('a', { constraint, ...given })),
        ...[fn, 'out_of_range', ...says],
      );
  });

  test('chat: the answer is bound, the template is not', async () => {
    const constraint = jsonSchema({ type: 'boolean' });
    const answer = model.chat([{ role: 'user', content: 'Is it?' }], { constraint });
    assert.match(await answer.text(), /^(true|false)$/);
  });
});

test('in a worker: the same tokens', async () => {
  const away = await initAway({ deterministic: true, models: true });
  after(() => away.dispose());
  const remote = await away.loadModel(files);
  const options = { constraint: jsonSchema(schema), seed: 3, temperature: 1.5, maxTokens: 120 };
  const expected = await all(model.generate('{', options));
  assert.deepEqual(await all(remote.generate('{', options)), expected);
});

test('generate: what is no constraint, or no tokenizer for one, is refused at once', () => {
  const constraint = regularExpression('a');
  for (const given of [7, {}, /a/, { ...constraint, rules: [] }])
    expectThrows(
      () => model.generate('a', { constraint: given }),
      ...[fn, 'invalid_argument', 'constraint'],
    );
  const config = { ...kinds.llama, maxLength: 8 };
  const weights = randomWeights(config, 1);
  const bare = create(engine, config, weights);
  const { encode, decode } = charactersTokenizer(['a']);
  const foreign = create(engine, config, weights, { tokenizer: { encode, decode } });
  expectThrows(() => bare.generate([1], { constraint }), fn, 'invalid_argument', 'tokenizer');
  expectThrows(() => foreign.generate([1], { constraint }), fn, 'unsupported', 'bytesOf');
  bare.dispose();
  foreign.dispose();
});
