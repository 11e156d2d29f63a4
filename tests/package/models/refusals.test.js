// @build any
// What models refuse of arguments that are right by themselves, and that nothing changes then. What each argument may not be is
// in bad-input.test.js.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { init } from 'qkv';
import { charactersTokenizer, create } from 'qkv/models';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
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

test('create: what the scaling of Llama 3.1 asks for', () => {
  const refused = (scaling, ...how) =>
    refuses(() => create(engine, { ...config, rotary: { scaling } }, weights), 'create', ...how);
  const name = 'rotary.scaling';
  refused({ type: 'llama3' }, invalid, `${name}.factor is undefined`);
  const none = { type: 'llama3', factor: 2, originalLength: 0 };
  refused(none, range, `${name}.originalLength is 0`);
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

test('create: arrays that change while others are read', () => {
  const { buffer } = weights.head.data;
  const change = (deed) => {
    const taken = new ArrayBuffer(buffer.byteLength, { maxByteLength: 2 ** 16 });
    const data = new Float32Array(taken);
    data.set(weights.head.data);
    const late = weights['norm.gamma'];
    const getter = Object.defineProperty({}, 'data', {
      get() {
        deed(taken);
        return late.data ?? late;
      },
    });
    getter.shape = late.shape ?? [16];
    const given = { head: { data, shape: [16, 19] }, ...weights, 'norm.gamma': getter };
    given.head = { data, shape: [16, 19] };
    return () => create(engine, config, given);
  };
  const elements = 16 * 19;
  const says = (now) => `weights["head"] has ${now} elements now and had ${elements}`;
  refuses(
    change((of) => of.resize(64)),
    'create',
    invalid,
    says(16),
    'detached or resized',
  );
  refuses(
    change((of) => of.resize(2 ** 16)),
    'create',
    invalid,
    says(2 ** 14),
  );
  refuses(
    change((of) => structuredClone(of, { transfer: [of] })),
    'create',
    invalid,
    says(0),
  );
});

test('create: a tensor of the engine is as good as an array', () => {
  const head = engine.tensor([16, 19], weights.head.data);
  const own = create(engine, config, { ...weights, head });
  expectSame(own.forward(ids).logits.data, model.forward(ids).logits.data, 'logit');
  own.dispose();
  head.dispose();
});

test('forward: arguments that do not go together, and a session that is refused is as it was', () => {
  const fn = 'LanguageModel.forward';
  const session = model.session({ capacity: 8 });
  const before = model.forward(ids.slice(0, 3), { session }).logits.data;
  for (const [given, options, code, ...says] of [
    [rowsOf(config, 9), { session }, range, '8'],
    [ids, { session, batch: 2 }, shapes, 'ids is [2,3]', 'session'],
    [ids.slice(0, 5), { session, keyLengths: [5] }, invalid, 'keyLengths'],
    [ids, { session, cache: 3 }, invalid, "'cache'"],
    [ids, { session, inspect: { layers: [2] } }, range, 'inspect.layers[0] is 2'],
    [ids, { session, inspect: { layers: [0, 0], weights: true } }, invalid, 'has 0 twice'],
    [ids, { session, inspect: { layers: new Set([0]) } }, invalid, 'inspect.layers is Set'],
    [ids, { session, tokenTypes: null }, invalid, 'tokenTypes is null'],
  ]) {
    refuses(() => model.forward(given, options), fn, code, ...says);
    assert.equal(session.length, 3);
  }
  // What it held is what it holds.
  session.truncate(0);
  expectSame(model.forward(ids.slice(0, 3), { session }).logits.data, before, 'logit');
  session.dispose();
  refuses(
    () => encoder.forward(ids, { inspect: { logitLens: true } }),
    fn,
    invalid,
    'inspect.logitLens is true',
    'no head',
  );
});

test('a session outlives its model, and is of no other', () => {
  const other = create(engine, config, weights);
  const session = other.session();
  other.dispose();
  const call = () => model.forward(ids, { session });
  refuses(call, 'LanguageModel.forward', invalid, 'session is of another model');
  session.truncate(0);
  session.dispose();
});

test('session: of an encoder there is none, and of a disposed one nothing is left', () => {
  refuses(() => encoder.session(), 'LanguageModel.session', invalid, 'causal');
  const session = model.session();
  session.dispose();
  session.dispose();
  refuses(() => session.truncate(0), 'Session.truncate', 'disposed', 'the session');
});

test('loss and embed: models and texts that they have no use for', async () => {
  refuses(() => encoder.loss(ids), 'LanguageModel.loss', invalid, 'head');
  const embed = 'LanguageModel.embed';
  await expectRejects(model.embed(['xyz']), embed, invalid, 'texts[0]', 'cannot be read');
});

test('forward: a disposed model is refused by name, with a session of its own too', () => {
  const own = create(engine, config, weights);
  const session = own.session();
  own.dispose();
  expectThrows(() => own.forward(ids, { session }), 'LanguageModel.forward', 'disposed');
  session.dispose();
});
