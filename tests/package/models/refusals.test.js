// @build any
// What models refuse, in which words, and that nothing changes then. tests/package/models/generate.test.js has what
// generate() refuses, load.test.js what load() does.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { zeros } from '../../support/js/arrays.js';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { kinds, rowsOf } from '../../support/js/model-kinds.js';
import { randomWeights } from '../../support/js/model-oracle.js';

const invalid = 'invalid_argument';
const range = 'out_of_range';
const shapes = 'shape_mismatch';

const engine = await init();
after(() => engine.dispose());
const config = kinds.llama;
const weights = randomWeights(config, 2);
const tokenizer = charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
const model = create(engine, config, weights, { tokenizer });
after(() => model.dispose());
const encoder = create(engine, kinds.bert, randomWeights(kinds.bert, 1));
after(() => encoder.dispose());
const ids = rowsOf(config, 6);

/** A call that is refused leaves memory as it was. */
function refuses(call, fn, code, ...says) {
  const before = engine.memory();
  expectThrows(call, fn, code, ...says);
  const { usedBytes, handles } = engine.memory();
  assert.equal(handles, before.handles, 'handles');
  assert.ok(usedBytes <= before.usedBytes + 1e6, `${usedBytes}, ${before.usedBytes}`);
}

test('create: configs', () => {
  const cases = [
    [{ vocabulary: 0 }, range, 'vocabulary is 0'],
    [{ numLayers: 1.5 }, invalid, 'numLayers is 1.5'],
    [{ dModel: '16' }, invalid, 'dModel is "16"'],
    [{ numHeads: 3 }, range, 'dModel is 16', 'numHeads = 3'],
    [{ numKvHeads: 3 }, range, 'numKvHeads is 3', 'a divisor of numHeads = 4'],
    [{ dFeedForward: -1 }, range, 'dFeedForward is -1'],
    [{ maxLength: undefined }, invalid, 'maxLength is undefined'],
    [{ causal: 1 }, invalid, 'causal is 1'],
    [{ norm: 'both' }, invalid, 'norm is "both"', "'pre'"],
    [{ normType: 'batch' }, invalid, 'normType is "batch"', "'rms'"],
    [{ activation: 'tanh' }, invalid, 'activation is "tanh"', "'geglu_tanh'"],
    [{ positions: 'rope' }, invalid, 'positions is "rope"', "'rotary'"],
    [{ epsilon: NaN }, invalid, 'epsilon is NaN'],
    [{ epsilon: -1 }, invalid, 'epsilon is -1'],
    [{ embeddingScale: 0 }, range, 'embeddingScale'],
    [{ window: -2 }, range, 'window is -2'],
    [{ window: [1] }, shapes, 'window has 1 elements', 'numLayers = 2'],
    [{ window: [1, 'x'] }, invalid, 'window[1] is "x"'],
    [{ attentionScale: Infinity }, invalid, 'attentionScale is Infinity'],
    [{ logitSoftcap: -1 }, range, 'logitSoftcap'],
    [{ tokenTypes: -1 }, range, 'tokenTypes is -1'],
    [{ head: false }, invalid, 'causal is true without head'],
    [{ causal: false, head: false, tiedEmbeddings: true }, invalid, 'tiedEmbeddings is given'],
    [{ norm: 'post', postNorms: true }, invalid, 'postNorms'],
    [{ family: 3 }, invalid, 'family is 3'],
    [{ rotary: { theta: 3 } }, invalid, "'theta'"],
    [{ rotary: { scaling: { type: 'llama3' } } }, invalid, 'rotary.scaling.factor is undefined'],
    [
      { rotary: { scaling: { type: 'llama3', factor: 2, originalLength: 0 } } },
      range,
      'rotary.scaling.originalLength is 0',
    ],
    [{ layers: 3 }, invalid, "the unknown key 'layers'"],
  ];
  for (const [change, code, ...says] of cases) {
    refuses(() => create(engine, { ...config, ...change }, weights), 'create', code, ...says);
  }
  refuses(() => create(engine, null, weights), 'create', invalid, 'config is null');
});

test('create: weights and options', () => {
  const { 'layers.1.attention.wq': wq, ...rest } = weights;
  const cases = [
    [rest, invalid, 'weights have no layers.1.attention.wq', 'every array'],
    [{}, invalid, 'weights have no embedding', 'and 16 more'],
    [{ ...weights, extra: wq }, invalid, 'weights have extra', 'alone'],
    [{ ...weights, head: zeros([16, 18]) }, shapes, '["head"] is [16,18]', '[16,19]'],
    [{ ...weights, 'norm.gamma': zeros([1, 16]) }, shapes, '["norm.gamma"] is [1,16]', '[16]'],
    [{ ...weights, head: [1, 2] }, invalid, '["head"] is an array'],
    [{ ...weights, head: undefined }, invalid, '["head"] is undefined'],
    [3, invalid, 'weights is 3'],
    [null, invalid, 'weights is null'],
  ];
  for (const [given, code, ...says] of cases) {
    refuses(() => create(engine, config, given), 'create', code, ...says);
  }
  const options = [
    [{ format: 'f16' }, invalid, 'format is "f16"'],
    [{ maxLength: 25 }, range, 'maxLength is 25'],
    [{ tokenizer: 3 }, invalid, 'tokenizer is 3'],
    [{ tokenizer: { encode: () => [] } }, invalid, 'tokenizer is Object'],
    [{ signal: 1 }, invalid, "'signal'"],
    [3, invalid, 'options is 3'],
  ];
  for (const [given, code, ...says] of options) {
    refuses(() => create(engine, config, weights, given), 'create', code, ...says);
  }
});

test('create: a tensor that is gone, or of another engine', async () => {
  const other = await init({ shared: false });
  const [gone, foreign] = [engine, other].map((of) => of.tensor([16, 19], weights.head.data));
  gone.dispose();
  const made = (head) => () => create(engine, config, { ...weights, head });
  refuses(made(gone), 'create', 'disposed', 'weights["head"] is a disposed tensor');
  refuses(made(foreign), 'create', invalid, 'weights["head"] is a tensor of another engine');
  other.dispose();
});

test('create: a tensor of the engine is as good as an array', () => {
  const head = engine.tensor([16, 19], weights.head.data);
  const own = create(engine, config, { ...weights, head });
  expectSame(own.forward(ids).logits.data, model.forward(ids).logits.data, 'logit');
  own.dispose();
  head.dispose();
});

test('forward: ids and options', () => {
  const fn = 'LanguageModel.forward';
  const long = rowsOf(config, 25);
  const session = model.session({ capacity: 8 });
  const gone = model.session();
  gone.dispose();
  const foreign = encoderSession();
  const cases = [
    [[], {}, shapes, 'ids has 0 elements'],
    [3, {}, invalid, 'ids is 3'],
    [[0.5], {}, invalid, 'ids[0] is 0.5'],
    [[19], {}, range, 'ids'],
    [[-1], {}, range, 'ids'],
    [long, {}, range, '25', '24'],
    [ids, { batch: 4 }, shapes, 'ids has 6 elements', 'batch = 4'],
    [ids, { batch: 0 }, range, 'batch is 0'],
    [ids, { rows: 'first' }, invalid, 'rows is "first"', "'last'"],
    [ids, { hidden: 1 }, invalid, 'hidden is 1'],
    [ids, { session: {} }, invalid, 'session is Object'],
    [ids, { session: gone }, 'disposed', 'the session'],
    [ids, { session: foreign }, invalid, 'session is of another model'],
    [rowsOf(config, 9), { session }, range, '8'],
    [ids, { session, batch: 2 }, shapes, 'ids is [2,3]', 'session'],
    [ids, { session, keyLengths: [6] }, invalid, 'keyLengths'],
    [ids, { keyLengths: [7] }, range, 'keyLengths'],
    [ids, { keyLengths: [1, 2] }, shapes, 'keyLengths has 2'],
    [ids, { tokenTypes: [0, 0, 0, 0, 0, 0] }, invalid, 'tokenTypes'],
    [ids, { tokenTypes: [0] }, shapes, 'tokenTypes has 1'],
    [ids, { inspect: 3 }, invalid, 'inspect is 3'],
    [ids, { inspect: { layers: [0, 0], weights: true } }, invalid, 'layer 0 is read twice'],
    [ids, { inspect: null }, invalid, 'inspect is null'],
    [ids, { session: null }, invalid, 'session is null'],
    [ids, { tokenTypes: null }, invalid, 'tokenTypes is null'],
    [ids, { inspect: { layers: 3 } }, invalid, 'inspect.layers is 3'],
    [ids, { inspect: { layers: new Set([0]) } }, invalid, 'inspect.layers is Set'],
    [ids, { inspect: { layers: [2] } }, range, 'inspect.layers[0] is 2'],
    [ids, { inspect: { weights: 1 } }, invalid, 'inspect.weights is 1'],
    [ids, { inspect: { projections: 'q' } }, invalid, 'inspect.projections is "q"'],
    [ids, { inspect: { rows: [0] } }, invalid, 'inspect.rows is an array'],
    [ids, { inspect: { rows: [6, 7] } }, range, 'inspect.rows[0] is 6'],
    [ids, { inspect: { rows: [2, 2] } }, range, 'inspect.rows[1] is 2'],
    [ids, { inspect: { ablate: [[0]] } }, invalid, 'inspect.ablate is an array'],
    [ids, { inspect: { ablate: [[2, 0]] } }, range, 'inspect.ablate[0][0] is 2'],
    [ids, { inspect: { ablate: [[0, -1]] } }, range, 'inspect.ablate[0][1] is -1'],
    [ids, { inspect: { head: true } }, invalid, "'head'"],
    [ids, { cache: 3 }, invalid, "'cache'"],
  ];
  const before = model.forward(ids.slice(0, 3), { session }).logits.data;
  for (const [given, options, code, ...says] of cases) {
    refuses(() => model.forward(given, options), fn, code, ...says);
    assert.equal(session.length, 3);
  }
  // What it held is what it holds.
  session.truncate(0);
  expectSame(model.forward(ids.slice(0, 3), { session }).logits.data, before, 'logit');
  for (const one of [session, foreign]) one.dispose();
  refuses(() => encoder.forward(ids, { inspect: { logitLens: true } }), fn, invalid, 'logit');
});

function encoderSession() {
  const other = create(engine, config, weights);
  const session = other.session();
  // A session outlives its model.
  other.dispose();
  return session;
}

test('session: options, and truncate', () => {
  const fn = 'LanguageModel.session';
  refuses(() => model.session({ capacity: 25 }), fn, range, 'capacity is 25', '24');
  refuses(() => model.session({ capacity: 0 }), fn, range, 'capacity is 0');
  refuses(() => model.session({ batch: 0 }), fn, range, 'batch is 0');
  refuses(() => model.session({ format: 'int8' }), fn, invalid, 'format is "int8"', "'bf16'");
  refuses(() => model.session({ length: 1 }), fn, invalid, "'length'");
  refuses(() => encoder.session(), fn, invalid, 'causal');
  const session = model.session();
  const of = 'Session.truncate';
  refuses(() => session.truncate(1), of, range, 'length is 1', '0 to 0');
  refuses(() => session.truncate(0.5), of, invalid, 'length is 0.5');
  session.dispose();
  session.dispose();
  refuses(() => session.truncate(0), of, 'disposed', 'the session');
});

test('loss and embed', () => {
  const loss = 'LanguageModel.loss';
  refuses(() => model.loss([1]), loss, shapes, 'rows of 1 token');
  refuses(() => model.loss(ids, { batch: 6 }), loss, shapes, 'rows of 1 token');
  refuses(() => model.loss(ids, { inspect: { weights: true } }), loss, invalid, "'weights'");
  refuses(() => encoder.loss(ids), loss, invalid, 'head');
  const embed = 'LanguageModel.embed';
  refuses(() => encoder.embed('text'), embed, invalid, 'texts is "text"');
  refuses(() => encoder.embed(['text']), embed, invalid, 'texts[0] is "text"', 'no tokenizer');
  refuses(() => encoder.embed([[1], []]), embed, shapes, 'texts[1] has 0 elements');
  refuses(() => encoder.embed([rowsOf(kinds.bert, 25)]), embed, range, 'texts[0] has 25', '24');
  refuses(() => encoder.embed([[1]], { pooling: 'max' }), embed, invalid, 'pooling is "max"');
  refuses(() => encoder.embed([[1]], { normalize: 1 }), embed, invalid, 'normalize is 1');
  refuses(() => model.embed(['xyz']), embed, invalid, 'texts[0]', 'cannot be read');
});

test('a disposed model refuses every call by name', () => {
  const own = create(engine, config, weights);
  const session = own.session();
  own.dispose();
  own.dispose();
  const calls = {
    forward: () => own.forward(ids),
    session: () => own.session(),
    generate: () => own.generate(ids),
    loss: () => own.loss(ids),
    embed: () => own.embed([ids]),
  };
  for (const [name, call] of Object.entries(calls)) {
    expectThrows(call, `LanguageModel.${name}`, 'disposed', 'the model');
  }
  expectThrows(() => own.forward(ids, { session }), 'LanguageModel.forward', 'disposed');
  session.dispose();
});
