// @build each
// Language models in workers: the same bits, sessions, tokens as they come, and what can be given up.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { after, describe, test } from 'node:test';
import { init as initHere } from 'qkv';
import * as models from 'qkv/models';
import { init, serve } from 'qkv/worker';
import { expectRejects, expectSame, expectThrows } from '../../support/js/check.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { rowsOf } from '../../support/js/model-kinds.js';
import { families, otherFamilies } from '../models/support/families.js';
import { randomWeights } from '../../support/js/model-oracle.js';
import { inTime } from '../../support/js/patience.js';
import { puppetEngine, settled } from '../../support/js/puppet.js';
import { overPort, workerOf } from '../../support/js/workers.js';
import { serve as serveFiles } from '../../support/js/server.js';
import { gguf, ggufFile, safetensors } from '../models/support/files.js';
import { ggufModels } from '../models/support/gguf-models.js';

const options = { deterministic: true };
const away = await init({ ...options, models: true });
const here = await initHere(options);
after(() => Promise.all([away.dispose(), here.dispose()]));

const config = checkpointConfig({
  ...{ vocabulary: 19, numLayers: 2, dModel: 16, numHeads: 4, dFeedForward: 24, maxLength: 30 },
});
const weights = checkpoint(config, randomWeights(config, 11));
const remote = await away.loadModel({ weights });
const local = await models.load(here, { weights });
const ids = rowsOf(config, 8);

async function all(iterable) {
  const tokens = [];
  for await (const token of iterable) tokens.push(token);
  return tokens;
}

describe('a model in a worker', () => {
  test('it says what it is made of, and is what its type says', () => {
    const names = ['config', 'parameterCount', 'bytes', 'format', 'pooling', 'ignored'];
    for (const name of [...names, 'tokenizerProblem']) {
      assert.deepEqual(remote[name], local[name], name);
    }
    assert.match(
      remote.tokenizerProblem,
      /^llama2\.c has tokenizers in files of their own: pass `tokenizer`/,
    );
    assert.equal(remote.worker, 0);
    assert.equal(String(remote), '[object AsyncLanguageModel]');
    assert.throws(() => (remote.config = 1), TypeError);
  });

  test('its results are those of this thread, bit for bit', async () => {
    const inspect = { weights: true, logitLens: true, projections: true, ablate: [[0, 1]] };
    const given = { batch: 2, hidden: true, inspect };
    const [actual, expected] = [await remote.forward(ids, given), local.forward(ids, given)];
    expectSame(actual.logits.data, expected.logits.data, 'logit');
    expectSame(actual.hidden.data, expected.hidden.data, 'hidden');
    for (const [layer, read] of expected.layers) {
      expectSame(actual.layers.get(layer).weights.data, read.weights.data, 'weight');
      expectSame(actual.layers.get(layer).logits.data, read.logits.data, 'lens');
      for (const part of ['q', 'k', 'v']) {
        expectSame(actual.layers.get(layer)[part].data, read[part].data, part);
        assert.deepEqual(actual.layers.get(layer)[part].shape, read[part].shape);
      }
    }
    assert.equal(await remote.loss(ids), local.loss(ids));
    expectSame((await remote.embed([ids, [1]])).data, (await local.embed([ids, [1]])).data);
    assert.deepEqual(await remote.save(), local.save());
  });

  test('places are read and changed as on this thread, of passes and of tokens', async () => {
    const read = [{ site: 'z' }, { site: 'scores', layers: [1] }, { site: 'final' }];
    const edit = [
      { site: 'z', layer: 0, head: 1, value: 0 },
      { site: 'scores', layer: 1, rows: [5, 6], keys: [2, 3], value: -Infinity },
      { site: 'residual', layer: 0, add: new Float32Array(16).fill(0.5) },
    ];
    const [actual, expected] = [await remote.forward(ids, { read, edit }), local.forward(ids, { read, edit })]; // prettier-ignore
    const places = [['z', 0], ['z', 1], ['scores', 1], ['final']]; // prettier-ignore
    const expectPlaces = (one, other) => {
      for (const place of places) {
        const [is, should] = [one, other].map(({ activations }) => activations.get(...place));
        expectSame(is.data, should.data, place[0]);
        assert.deepEqual(is.shape, should.shape);
      }
    };
    expectSame(actual.logits.data, expected.logits.data);
    expectPlaces(actual, expected);
    expectThrows(() => actual.activations.get('q', 0), 'Activations.get', 'out_of_range', '"q"');
    assert.equal(await remote.loss(ids, { edit }), local.loss(ids, { edit }));
    const how = { maxTokens: 3, read, edit };
    const [there, own] = [
      await all(remote.generate(ids, how)),
      await all(local.generate(ids, how)),
    ];
    assert.deepEqual(there.map(({ id }) => id), own.map(({ id }) => id)); // prettier-ignore
    there.forEach((token, i) => expectPlaces(token, own[i]));
    const wrong = remote.forward(ids, { edit: [{ site: 'z', layer: 9, value: 0 }] });
    await expectRejects(wrong, 'LanguageModel.forward', 'out_of_range', 'edit[0].layer is 9');
  });

  test('it is taken apart as on this thread', async () => {
    const logits = { answer: 3, instead: 8 };
    assert.deepEqual(await remote.attribute(ids, logits), local.attribute(ids, logits));
    assert.deepEqual(await remote.lens(ids, { top: 3 }), local.lens(ids, { top: 3 }));
    const of = { layer: 1, rows: [2, 5] };
    assert.deepEqual(await remote.normWeights(ids, of), local.normWeights(ids, of));
    assert.deepEqual(await remote.headScores({ seed: 4 }), local.headScores({ seed: 4 }));
    const corrupt = ids.map((id, i) => (i === 2 ? (id + 1) % 19 : id));
    const edit = [{ site: 'z', layer: 0, head: 1, value: 0 }];
    assert.deepEqual(await remote.lens(ids, { edit }), local.lens(ids, { edit }));
    assert.notDeepEqual(local.lens(ids, { edit }), local.lens(ids));
    const sweep = { ...logits, clean: ids, corrupt, site: 'attention', edit };
    const [there, here] = [[], []];
    const swept = await remote.sweep({ ...sweep, onProgress: (now) => there.push(now) });
    assert.deepEqual(swept, await local.sweep({ ...sweep, onProgress: (now) => here.push(now) }));
    assert.deepEqual(there, here);
    assert.ok(there.length > 0);
    const session = await remote.session();
    await remote.lens(ids, { session });
    assert.equal(session.length, ids.length);
    await session.dispose();
  });

  test('what an encoder does for a session is read and changed as on this thread', async () => {
    const { tensors, config: hub } = families.t5();
    const source = () => ({ config: hub, weights: safetensors(tensors) });
    const [there, own] = [await away.loadModel(source()), await models.load(here, source())];
    const read = [{ site: 'final' }, { site: 'weights', layers: [0] }];
    const edit = [{ site: 'embed', rows: [1, 2], scale: 2 }];
    const options = { source: [1, 2, 3], read, edit };
    const [actual, expected] = [await there.session(options), own.session(options)];
    for (const place of [['final'], ['weights', 0]]) {
      const [is, should] = [actual, expected].map(({ activations }) => activations.get(...place));
      expectSame(is.data, should.data, place[0]);
      assert.deepEqual(is.shape, should.shape);
    }
    expectThrows(() => actual.activations.get('q', 0), 'Activations.get', 'out_of_range', '"q"');
    const [one, other] = [await there.forward([1], { session: actual }), own.forward([1], { session: expected })]; // prettier-ignore
    expectSame(one.logits.data, other.logits.data);
    const without = await there.session({ source: [1, 2, 3] });
    assert.equal('activations' in without, false);
    assert.notDeepEqual((await there.forward([1], { session: without })).logits, one.logits);
    await there.dispose();
    own.dispose();
  });

  test('vectors of many texts come with progress, and are given up', async () => {
    const texts = Array.from({ length: 40 }, (_, i) => rowsOf(config, 1 + ((7 * i) % 30), i + 1));
    texts[3] = rowsOf(config, 33);
    const [there, own] = [[], []];
    const options = { truncate: true, pooling: 'last' };
    const found = await remote.embed(texts, { ...options, onProgress: (now) => there.push(now) });
    const expected = await local.embed(texts, { ...options, onProgress: (now) => own.push(now) });
    assert.deepEqual(found, expected);
    assert.deepEqual(found.truncated, [3]);
    assert.deepEqual(there, own);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('enough'));
    const given = remote.embed(texts, { ...options, onProgress, signal: stop.signal });
    await assert.rejects(given, /enough/);
    await expectRejects(remote.embed(texts, { onProgress: 1 }), 'LanguageModel.embed', 'invalid_argument', 'onProgress is 1'); // prettier-ignore
    await expectRejects(remote.embed([[99]]), 'LanguageModel.embed', 'out_of_range', 'texts[0][0] is 99'); // prettier-ignore
  });

  test('classes of texts and masked tokens are as on this thread', async () => {
    const sourceOf = (name) => {
      const { tensors, config: hub } = otherFamilies[name]();
      return { config: hub, weights: safetensors(tensors) };
    };
    const scored = sourceOf('BertForSequenceClassification');
    const [there, own] = [await away.loadModel(scored), await models.load(here, scored)];
    const rows = Array.from({ length: 9 }, (_, i) => rowsOf({ vocabulary: 11 }, 1 + i, i + 1));
    const [far, near] = [[], []];
    const found = await there.score(rows, { onProgress: (now) => far.push(now) });
    assert.deepEqual(found, await own.score(rows, { onProgress: (now) => near.push(now) }));
    assert.deepEqual(far, near);
    const stop = new AbortController();
    const onProgress = () => stop.abort(new Error('enough'));
    await assert.rejects(there.score(rows, { onProgress, signal: stop.signal }), /enough/);
    await expectRejects(
      there.score([[99]]),
      'LanguageModel.score',
      'out_of_range',
      'texts[0][0] is 99',
    );
    const masked = sourceOf('ModernBertForMaskedLM');
    const [filler, local] = [await away.loadModel(masked), await models.load(here, masked)];
    const options = { mask: 3, top: 2 };
    assert.deepEqual(await filler.fillMask([1, 3, 2], options), local.fillMask([1, 3, 2], options));
    const bare = await away.loadModel({ ...masked }, { head: false });
    assert.equal(bare.config.head, false);
    for (const each of [there, own, filler, local, bare]) await each.dispose();
  });

  test('a beam search that is given up ends in the worker, too', async (t) => {
    // Each pass takes so long that others get a turn after it.
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 100));
    const stop = new AbortController();
    const reason = new Error('enough');
    let search;
    const load = async (...given) => {
      const model = await models.load(...given);
      const beams = model.beams.bind(model);
      model.beams = (...args) => {
        queueMicrotask(() => stop.abort(reason));
        return (search = beams(...args));
      };
      return model;
    };
    const { engine, close } = await overPort(options, initHere, { load });
    t.after(close);
    const model = await engine.loadModel({ weights });
    const given = { maxTokens: 20, stopTokens: [] };
    await assert.rejects(model.beams(ids, { ...given, signal: stop.signal }), (e) => e === reason);
    await assert.rejects(inTime(search), { name: 'AbortError' });
    assert.deepEqual(await model.beams(ids, given), await local.beams(ids, given));
  });

  test('a sweep is given up, and the worker does the next call', async () => {
    const clean = rowsOf(config, 30);
    const corrupt = clean.map((id, i) => (i === 2 ? (id + 1) % 19 : id));
    const options = { clean, corrupt, answer: 3, instead: 8, site: 'neurons', layer: 0, block: 1 };
    const stop = new AbortController();
    const told = [];
    const onProgress = (now) => {
      told.push(now);
      stop.abort(new Error('enough'));
    };
    await assert.rejects(remote.sweep({ ...options, onProgress, signal: stop.signal }), /enough/);
    assert.equal(told.length, 1);
    assert.ok(told[0].done < told[0].of);
    assert.equal(await remote.loss(ids), local.loss(ids));
    const error = new Error('of the caller');
    const thrown = () => {
      throw error;
    };
    await assert.rejects(remote.sweep({ ...options, onProgress: thrown }), (e) => e === error);
    const fn = 'LanguageModel.sweep';
    await expectRejects(remote.sweep({ ...options, onProgress: 3 }), fn, 'invalid_argument');
    await expectRejects(remote.sweep({ ...options, corrupt: [1] }), fn, 'shape_mismatch', '1 tokens'); // prettier-ignore
    await expectRejects(remote.sweep({ ...options, signal: 3 }), fn, 'invalid_argument', 'signal is 3'); // prettier-ignore
  });

  test('sessions are as long as the calls that have returned made them', async () => {
    const session = await remote.session({ capacity: 20 });
    const own = local.session({ capacity: 20 });
    assert.deepEqual([session.length, session.capacity, session.bytes], [0, 20, own.bytes]);
    const first = await remote.forward(ids, { session, rows: 'last' });
    expectSame(first.logits.data, local.forward(ids, { session: own, rows: 'last' }).logits.data);
    assert.equal(session.length, 8);
    await session.truncate(3);
    assert.equal(session.length, 3);
    await expectRejects(session.truncate(4), 'Session.truncate', 'out_of_range', 'length is 4');
    assert.equal(session.length, 3);
    await session.dispose();
    await expectRejects(remote.forward(ids, { session }), 'LanguageModel.forward', 'disposed');
  });
});

test('sessions are copied, forget tokens, make room and become bytes as on this thread', async () => {
  const given = { capacity: 12, shift: { keep: 2 } };
  const [session, own] = [await remote.session(given), local.session(given)];
  const both = async (tokens, of = session, beside = own) => {
    const [actual, expected] = [
      await remote.forward(tokens, { session: of }),
      local.forward(tokens, { session: beside }),
    ];
    expectSame(actual.logits.data, expected.logits.data, 'logit');
    assert.equal(of.length, beside.length);
  };
  await both(ids);
  await both(rowsOf(config, 6));
  await session.remove(3, 5);
  own.remove(3, 5);
  assert.equal(session.length, own.length);
  await both([1]);
  const [copy, ownCopy] = [await session.fork(), own.fork()];
  assert.deepEqual([copy.length, copy.capacity, copy.bytes], [own.length, 12, own.bytes]);
  await both([2, 3], copy, ownCopy);
  await both([4]);
  const bytes = await copy.save();
  assert.deepEqual(bytes, ownCopy.save());
  const [back, ownBack] = [
    await remote.session({ from: bytes, capacity: 20 }),
    local.session({ from: bytes, capacity: 20 }),
  ];
  assert.equal(back.length, copy.length);
  await both([5], back, ownBack);
  await expectRejects(session.remove(1, 99), 'Session.remove', 'out_of_range', 'end is 99');
  for (const each of [session, copy, back, own, ownCopy, ownBack]) await each.dispose();
  await expectRejects(copy.save(), 'Session.save', 'disposed');
});

test('a model with an encoder: sessions have their source, and prompts are one', async () => {
  const { metadata, tensors } = ggufModels.t5();
  const file = ggufFile(metadata, tensors);
  const [model, own] = [await away.loadModel({ weights: file }), await models.load(here, { weights: file })]; // prettier-ignore
  const source = Int32Array.of(4, 9, 1, 1);
  const [session, local] = [await model.session({ source, batch: 2 }), own.session({ source, batch: 2 })]; // prettier-ignore
  const said = await model.forward([3, 3], { session, batch: 2 });
  expectSame(said.logits.data, own.forward([3, 3], { session: local, batch: 2 }).logits.data);
  assert.equal(session.bytes, local.bytes);
  const expected = await all(own.generate([4, 9, 1], { maxTokens: 5 }));
  assert.deepEqual(await all(model.generate([4, 9, 1], { maxTokens: 5 })), expected);
  await expectRejects(model.session(), 'LanguageModel.session', 'invalid_argument', 'source is undefined'); // prettier-ignore
  await expectRejects(model.forward([3]), 'LanguageModel.forward', 'invalid_argument', 'session is absent'); // prettier-ignore
  own.dispose();
  await model.dispose();
});

describe('what stands beside the weights', () => {
  const bert = ggufModels.bert();
  const score = { shape: [1, 64], values: new Float32Array(64) };

  test('the files say how a vector is made, and what is left out', async () => {
    const metadata = [...bert.metadata, ['bert.pooling_type', gguf.u32(2)]];
    const file = ggufFile(metadata, { ...bert.tensors, 'cls.weight': score });
    const model = await away.loadModel({ weights: file });
    assert.deepEqual([model.pooling, model.ignored], ['cls', ['cls.weight']]);
    const own = await models.load(here, { weights: file });
    expectSame((await model.embed([[1, 2, 3]])).data, (await own.embed([[1, 2, 3]])).data);
    own.dispose();
    await model.dispose();
  });

  test('generation_config.json and 1_Pooling/config.json, parsed or where they are', async () => {
    const llama = ggufModels.llama();
    const file = new Blob([ggufFile(llama.metadata, llama.tensors)]);
    const prompt = [1, 2, 3];
    const address = (value) => `data:application/json,${encodeURIComponent(JSON.stringify(value))}`;
    const plain = await away.loadModel({ weights: file });
    const [{ id: first }] = await all(plain.generate(prompt, { maxTokens: 1 }));
    assert.equal((await all(plain.generate(prompt, { maxTokens: 3 }))).length, 3);
    await plain.dispose();
    const generation = { eos_token_id: first };
    const pooling = { pooling_mode: 'lasttoken' };
    for (const source of [
      { generation, pooling },
      { generation: address(generation), pooling: address(pooling) },
      { generation: new URL(address(generation)), pooling: new URL(address(pooling)) },
    ]) {
      const model = await away.loadModel({ weights: file, ...source });
      assert.equal((await all(model.generate(prompt, { maxTokens: 3 }))).length, 1);
      assert.equal(model.pooling, 'last');
      await model.dispose();
    }
  });

  test('bytes of weights are copied, or moved if it is said so', async () => {
    const bytes = () => ggufFile(bert.metadata, bert.tensors);
    for (const make of [() => bytes().buffer, bytes]) {
      for (const transfer of [false, true]) {
        const [one] = [make()];
        const { byteLength } = one;
        const loading = away.loadModel({ weights: [one] }, { transfer });
        assert.equal(one.byteLength, transfer ? 0 : byteLength);
        await (await loading).dispose();
      }
    }
  });

  test('a config whose names have dots is not too deep', async () => {
    const file = new Blob(['{"a": 1}']);
    const dynamic = { '+:model.layers.0.mlp.down_proj.experts.3.weight.of': { bits: 4 } };
    const config = { model_type: 'llama', quantization_config: { quant_method: 'gptq', dynamic } };
    const safe = safetensors({ 'norm.weight': { shape: [1], values: [0] } });
    const loading = away.loadModel({ config, weights: safe });
    await expectRejects(loading, 'load', 'unsupported', 'config.quantization_config is {"quant_method":"gptq"'); // prettier-ignore
    const deep = { a: { b: { c: { d: { e: { f: { g: { h: 1 } } } } } } } };
    const refused = away.loadModel({ config: deep, weights: file });
    await expectRejects(refused, 'loadModel', 'invalid_argument', 'nested too deeply');
  });
});

describe('tokens', () => {
  const drawn = { maxTokens: 10, temperature: 1, seed: 5 };

  test('they come one at a time, the same as here', async () => {
    const expected = await all(local.generate(ids, drawn));
    assert.deepEqual(await all(remote.generate(ids, drawn)), expected);
    const session = await remote.session();
    const seen = [];
    for await (const { id } of remote.generate(ids, { ...drawn, session })) {
      seen.push(id);
      if (seen.length === 4) break;
    }
    assert.deepEqual(seen, expected.slice(0, 4).map(({ id }) => id)); // prettier-ignore
    // The last one is read on the way out.
    assert.equal(session.length, 8 + 4);
    await remote.forward([1], { session });
    assert.equal(session.length, 8 + 4 + 1);
    await session.dispose();
  });

  test('options that are inherited count', async () => {
    const expected = await all(local.generate(ids, { ...drawn, maxTokens: 2 }));
    const inherited = Object.create({ ...drawn, maxTokens: 2 });
    assert.deepEqual(await all(remote.generate(ids, inherited)), expected);
    const half = await away.loadModel(
      Object.create({ weights }),
      Object.create({ format: 'bf16' }),
    );
    assert.equal(half.format, 'bf16');
    await half.dispose();
  });

  test('a seed is read once, and what its getter throws is a typed error of the first token', async () => {
    const getter = (get) => ({ ...drawn, get seed() { return get(); } }); // prettier-ignore
    for (const name of ['generate', 'generateAll']) {
      const [input, seedOf] =
        name === 'generate' ? [ids, ({ seed }) => seed] : [[ids], ({ seeds }) => seeds[0]];
      let reads = 0;
      const tokens = remote[name](input, getter(() => drawn.seed + reads++)); // prettier-ignore
      assert.equal(seedOf(tokens), drawn.seed);
      assert.deepEqual(await all(tokens), await all(local[name](input, drawn)));
      assert.equal(reads, 1);
      const cause = new Error('of the caller');
      const refused = remote[name](input, getter(() => { throw cause; })).next(); // prettier-ignore
      await expectRejects(refused, `LanguageModel.${name}`, 'invalid_argument', 'options cannot be read (Error: of the caller), expected plain values'); // prettier-ignore
    }
  });

  test('readings come along', async () => {
    const inspect = { layers: [1], weights: true };
    const [one] = await all(remote.generate(ids, { maxTokens: 1, inspect }));
    const [same] = await all(local.generate(ids, { maxTokens: 1, inspect }));
    expectSame(one.layers.get(1).weights.data, same.layers.get(1).weights.data, 'weight');
  });

  test('prompt and options are those at the call', async () => {
    const expected = await all(local.generate(ids, { ...drawn, maxTokens: 2 }));
    const [prompt, given] = [[...ids], { ...drawn, maxTokens: 2, stop: undefined }];
    const made = remote.generate(prompt, given);
    prompt.fill(0);
    given.maxTokens = 5;
    assert.deepEqual(await all(made), expected);
    const view = Int32Array.from(ids);
    const late = remote.generate(view, { ...drawn, maxTokens: 2 });
    view.fill(0);
    assert.deepEqual(await all(late), expected);
    // Nobody has to ask for a token of a call that was refused.
    remote.generate(ids, { topP: 2 });
    await remote.loss(ids);
  });

  test('a session is in use as it is here, and its calls come in the order in which they were made', async (t) => {
    // Each piece of the prompt takes so long that others get a turn after it.
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 100));
    const { engine, close } = await overPort(options, initHere, models);
    t.after(close);
    const wide = checkpointConfig({ ...config, maxLength: 2000 });
    const model = await engine.loadModel({ weights: checkpoint(wide, randomWeights(wide, 3)) });
    const session = await model.session();
    const prompt = Array.from({ length: 1500 }, (_, i) => i % 19);
    const given = { session, maxTokens: 1, stopTokens: [] };
    const made = model.generate(prompt, given);
    const says = ['busy', 'generate() still uses the session'];
    // The worker has heard of it by now. Nobody waits for the first token.
    await model.loss([1, 2]);
    const first = made.next();
    const cut = session.truncate(0);
    const pass = model.forward([1], { session });
    const other = all(model.generate([1, 2], given));
    const apart = model.forward([1, 2]);
    await Promise.all([
      expectRejects(cut, 'Session.truncate', ...says),
      expectRejects(pass, 'LanguageModel.forward', ...says),
      expectRejects(other, 'LanguageModel.generate', ...says),
    ]);
    assert.ok((await first).value.id >= 0);
    assert.deepEqual((await apart).logits.shape, [1, 2, 19]);
    assert.equal(session.length, 1500);
    // Here the loop has ended before the session is cut.
    const over = made.next();
    const later = [session.truncate(3), model.forward([1], { session })];
    assert.equal((await over).done, true);
    await Promise.all(later);
    assert.equal(session.length, 4);
    const again = model.generate(prompt, { ...given, maxTokens: 2 });
    await model.loss([1, 2]);
    const long = again.next();
    const gone = session.dispose();
    assert.ok((await long).value.id >= 0);
    await gone;
    await expectRejects(again.next(), 'LanguageModel.generate', 'disposed');
  });

  test('they are for one loop, as here', async () => {
    const tokens = remote.generate(ids, drawn);
    assert.deepEqual(await all(tokens), await all(local.generate(ids, drawn)));
    await expectRejects(all(tokens), 'LanguageModel.generate', 'busy', 'one loop');
  });

  test('an abort during the prompt ends it there: nothing is told, and the session is as it was', async (t) => {
    // Each piece of the prompt takes so long that others get a turn after it.
    let now = 0;
    t.mock.method(performance, 'now', () => (now += 100));
    const { engine, sent, close } = await overPort(options, initHere, models);
    t.after(close);
    const wide = checkpointConfig({ ...config, maxLength: 5000 });
    const file = checkpoint(wide, randomWeights(wide, 3));
    const model = await engine.loadModel({ weights: file });
    const session = await model.session();
    await model.forward([1, 2], { session });
    const stop = new AbortController();
    const reason = new Error('enough');
    const push = sent.push.bind(sent);
    sent.push = (one) => {
      if (one.message.method === 'next') queueMicrotask(() => stop.abort(reason));
      return push(one);
    };
    let count = 0;
    const iterate = async () => {
      const prompt = Array.from({ length: 4000 }, (_, i) => i % 19);
      const given = { session, signal: stop.signal, maxTokens: 2 };
      for await (const { id } of model.generate(prompt, given)) count += Number(id >= 0);
    };
    await assert.rejects(iterate(), (error) => error === reason);
    assert.deepEqual([count, session.length], [0, 2]);
    await model.forward([1], { session });
    assert.equal(session.length, 3);
  });

  test('a token that came before the abort is told, as the session holds it', async (t) => {
    const { engine, sent, close } = await overPort(options, initHere, models);
    t.after(close);
    const model = await engine.loadModel({ weights });
    const session = await model.session();
    const stop = new AbortController();
    const push = sent.push.bind(sent);
    sent.push = (one) => {
      if (one.message.method === 'next') queueMicrotask(() => stop.abort());
      return push(one);
    };
    const told = [];
    const iterate = async () => {
      const given = { session, signal: stop.signal, maxTokens: 5, stopTokens: [] };
      for await (const { id } of model.generate(ids, given)) told.push(id);
    };
    await assert.rejects(iterate(), { name: 'AbortError' });
    // One pass reads so short a prompt, so that nothing can come between.
    assert.deepEqual([told.length, session.length], [1, 9]);
  });

  test('an abort before the worker has heard of it is told at once, and leaves nothing behind', async () => {
    const { engine, ports } = await puppetEngine(init, 1);
    const [port] = ports;
    const loading = engine.loadModel({ weights: new Uint8Array(8) });
    await settled();
    port.answer({ handle: { id: 0 } });
    const model = await loading;
    const busy = model.loss(ids);
    const stop = new AbortController();
    const made = model.generate(ids, { signal: stop.signal });
    const next = made.next();
    await settled();
    const reason = new Error('enough');
    stop.abort(reason);
    await assert.rejects(inTime(next), (error) => error === reason);
    assert.equal((await made.next()).done, true);
    port.answer({ value: 1 });
    assert.equal(await busy, 1);
    assert.deepEqual(port.methods, ['loadModel', 'loss', 'generate']);
    port.answer({ handle: { id: 7 }, lengths: [0] });
    await settled();
    const { method, target } = port.sent.at(-1);
    assert.deepEqual([method, target], ['dispose', 7]);
    await engine.dispose();
  });

  test('an abort after the last token changes nothing, as it does here', async () => {
    for (const model of [local, remote]) {
      const stop = new AbortController();
      let count = 0;
      const given = { signal: stop.signal, maxTokens: 2, stopTokens: [] };
      for await (const { id } of model.generate(ids, given)) {
        count += Number(id >= 0);
        if (count === 2) stop.abort();
      }
      assert.equal(count, 2, String(model));
    }
  });

  test('one that was never asked for a token is given back by return()', async (t) => {
    const { engine, sent, close } = await overPort(options, initHere, models);
    t.after(close);
    const model = await engine.loadModel({ weights });
    const made = model.generate(ids);
    await made.return();
    assert.deepEqual(
      sent.map(({ message }) => message.method),
      ['loadModel', 'generate', 'dispose'],
    );
    assert.equal((await made.next()).done, true);
  });

  test('with a signal it goes on while another model is loaded', async (t) => {
    let open;
    const gate = new Promise((resolve) => (open = resolve));
    let isSlow = false;
    const load = async (...given) => {
      if (isSlow) await gate;
      return models.load(...given);
    };
    const { engine, close } = await overPort(options, initHere, { load });
    t.after(close);
    const model = await engine.loadModel({ weights });
    isSlow = true;
    let isLoaded = false;
    const loading = engine.loadModel({ weights }).then(() => (isLoaded = true));
    const { signal } = new AbortController();
    const tokens = model.generate(ids, { signal, maxTokens: 2, stopTokens: [] });
    assert.equal((await inTime(all(tokens))).length, 2);
    await inTime(model.loss(ids));
    assert.equal(isLoaded, false);
    open();
    await loading;
  });

  test('what makes no sense is refused as it is here, by rejection', async () => {
    const fn = 'LanguageModel.generate';
    const refused = (...given) => all(remote.generate(...given));
    await expectRejects(refused(ids, { topP: 2 }), fn, 'out_of_range', 'topP is 2');
    await expectRejects(refused('text'), fn, 'invalid_argument', 'no tokenizer');
    await expectRejects(refused(ids, { signal: 3 }), fn, 'invalid_argument', 'signal is 3');
    await expectRejects(refused(ids, { session: {} }), fn, 'invalid_argument', 'session is Object');
    for (const options of [0, null, 3n, [], 'beams']) {
      const beams = remote.beams(ids, options);
      await expectRejects(beams, 'LanguageModel.beams', 'invalid_argument', 'options is');
    }
  });
});

describe('loading', () => {
  test('from an ArrayBuffer, in another format, with progress', async () => {
    const bytes = await weights.arrayBuffer();
    const told = [];
    const model = await away.loadModel(
      { weights: bytes },
      { format: 'int8', onProgress: (now) => told.push(now) },
    );
    assert.equal(model.format, 'int8');
    assert.equal(told.at(-1).loaded, told.at(-1).total);
    assert.ok(bytes.byteLength > 0, 'it is still there');
    await model.dispose();
    await expectRejects(model.loss(ids), 'LanguageModel.loss', 'disposed', 'model');
  });

  test('what onProgress throws is what it is rejected with', async () => {
    const error = new Error('of the caller');
    const onProgress = () => {
      throw error;
    };
    await assert.rejects(away.loadModel({ weights }, { onProgress }), (e) => e === error);
  });

  test('what cannot be loaded is refused as it is here', async () => {
    const refused = (...given) => away.loadModel(...given);
    await expectRejects(refused({ weights: new Blob() }), 'load', 'invalid_argument');
    await expectRejects(refused({ weights }, { format: 'f8' }), 'load', 'invalid_argument', 'f8');
    const fn = 'loadModel';
    for (const [given, said] of [
      [3, 'options is 3'],
      [null, 'options is null'],
      [[], 'options is an array'],
      [new Map(), 'options is Map'], // of which no field would be sent
    ]) {
      await expectRejects(refused({ weights }, given), fn, 'invalid_argument', said);
      const generate = all(remote.generate(ids, given));
      await expectRejects(generate, 'LanguageModel.generate', 'invalid_argument', said);
    }
    await expectRejects(refused({ weights }, { onProgress: 3 }), fn, 'invalid_argument');
    await expectRejects(refused({ weights }, { worker: 1 }), fn, 'out_of_range', 'worker is 1');
    // Nobody looks at each of so many.
    const endless = new Array(2 ** 32 - 1);
    await expectRejects(refused({ weights: endless }), fn, 'invalid_argument', '4294967295');
    const tokenizer = { encode: () => [], decode: () => '' };
    await expectRejects(refused({ weights, tokenizer }), fn, 'invalid_argument', 'tokenizer');
    const other = { model: { type: 'Other', vocab: {} } };
    await expectRejects(refused({ weights, tokenizer: other }), 'load', 'unsupported', '"Other"');
  });

  test('texts by a tokenizer.json, parsed or by its address', async (t) => {
    const letters = Array.from('abcdefghijklmnopqrs');
    const vocab = Object.fromEntries(letters.map((letter, id) => [letter, id]));
    const json = { model: { type: 'BPE', vocab, merges: [] }, decoder: { type: 'Fuse' } };
    const path = join(mkdtempSync(join(tmpdir(), 'qkv-tokenizer-')), 'tokenizer.json');
    writeFileSync(path, JSON.stringify(json));
    t.after(() => rmSync(dirname(path), { recursive: true }));
    const how = { maxTokens: 4, stopTokens: [] };
    const expected = await all(local.generate([0, 1, 2], how));
    for (const tokenizer of [json, path, pathToFileURL(path)]) {
      const model = await away.loadModel({ weights, tokenizer });
      assert.equal(model.tokenizerProblem, undefined);
      const said = await all(model.generate('abc', how));
      assert.deepEqual(said.map(({ id }) => id), expected.map(({ id }) => id)); // prettier-ignore
      assert.equal(said.map(({ text }) => text).join(''), expected.map(({ id }) => letters[id]).join('')); // prettier-ignore
      await model.dispose();
      const here2 = await models.load(here, { weights, tokenizer });
      assert.deepEqual([...here2.tokenizer.encode('sab')], [18, 0, 1]);
      here2.dispose();
    }
  });

  test('a model of a hub, kept in a folder: the second time from there', async (t) => {
    const { tensors, config: hubConfig, truth } = families.gpt2();
    const commit = 'a'.repeat(40);
    const files = {
      'model.safetensors': Buffer.from(safetensors(tensors)),
      'config.json': JSON.stringify(hubConfig),
      'tokenizer_config.json': JSON.stringify({ chat_template: '{{ messages }}' }),
    };
    const siblings = Object.keys(files).map((rfilename) => ({ rfilename }));
    const hub = await serveFiles((path) => {
      if (path === '/api/models/a/b/revision/main') return { body: JSON.stringify({ sha: commit, siblings }) }; // prettier-ignore
      const [, name] = new RegExp(`^/a/b/resolve/${commit}/(.*)$`).exec(path) ?? [];
      return name in files ? { body: files[name] } : undefined;
    });
    const folder = mkdtempSync(join(tmpdir(), 'qkv-worker-cache-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const cache = models.modelCache({ folder });
    const told = [];
    const given = { hub: { host: hub.url }, cache, onProgress: (each) => told.push(each) };
    const logits = [];
    for (let i = 0; i < 2; i += 1) {
      const loaded = await away.loadModel(i === 0 ? 'hub:a/b' : { weights: new URL('hub:a/b') }, given); // prettier-ignore
      assert.equal(loaded.chatTemplates.templates.default, '{{ messages }}');
      logits.push((await loaded.forward([1, 2, 3])).logits.data);
      await loaded.dispose();
      await hub.close().catch(() => undefined);
    }
    assert.ok(truth);
    expectSame(logits[0], logits[1], 'logit');
    assert.equal(hub.requests.length, 4);
    const { rate, ...last } = told.at(-1);
    assert.ok(rate >= 0);
    assert.deepEqual({ ...last, loaded: 0, total: 0 }, { loaded: 0, total: 0, file: 'model.safetensors' }); // prettier-ignore
    assert.deepEqual(
      (await cache.list()).map(({ address }) => address.slice(hub.url.length)).sort(),
      [
        ...['config.json', 'model.safetensors', 'tokenizer_config.json'].map((name) => `/a/b/resolve/${commit}/${name}`), // prettier-ignore
        '/api/models/a/b/revision/main?blobs=true',
      ],
    );
    const load = (options) => away.loadModel('hub:a/b', { ...given, ...options });
    await expectRejects(load({ fetch: () => 1 }), 'loadModel', 'invalid_argument', 'fetch is a function'); // prettier-ignore
    await expectRejects(load({ headers: () => 1 }), 'loadModel', 'invalid_argument', 'headers is a function'); // prettier-ignore
    await expectRejects(load({ cache: 5 }), 'load', 'invalid_argument', 'cache is 5');
  });

  test('workers without models say so', async () => {
    const plain = await init({ ...options, workers: 1 });
    await expectRejects(plain.loadModel({ weights }), 'loadModel', 'unsupported', 'models: true');
    await plain.dispose();
    await expectRejects(init({ models: 1 }), 'init', 'invalid_argument', 'models is 1');
  });

  test('a worker of somebody has models, and a tokenizer, if it serves them', async (t) => {
    const port = workerOf(`
      import { parentPort } from 'node:worker_threads';
      import { init } from 'index.js';
      import * as models from 'models.js';
      import { serve } from 'worker.js';
      const tokenizer = models.charactersTokenizer(Array.from('abcdefghijklmnopqrs'));
      serve(parentPort, init, {
        load: (engine, source, options) => models.load(engine, { ...source, tokenizer }, options),
      });`);
    t.after(() => port.terminate());
    const own = await init({ ...options, worker: port });
    const model = await own.loadModel({ weights });
    const tokens = await all(model.generate('abc', { maxTokens: 4, stopTokens: [] }));
    const expected = await all(local.generate([0, 1, 2], { maxTokens: 4, stopTokens: [] }));
    assert.deepEqual(tokens.map(({ id }) => id), expected.map(({ id }) => id)); // prettier-ignore
    assert.equal(tokens.map(({ text }) => text).join('').length, 4);
    const { logits } = await model.forward('abc', { plain: true });
    expectSame(logits.data, local.forward([0, 1, 2]).logits.data, 'logit');
    assert.equal(await model.loss('abc'), local.loss([0, 1, 2]));
    assert.equal(model.tokenizerProblem, undefined);
    const refusal = { ...options, worker: port, models: true };
    await expectRejects(init(refusal), 'init', 'invalid_argument', 'models and worker');
    await own.dispose();
    const channel = new MessageChannel();
    const wrong = () => serve(channel.port1, initHere, { load: 3 });
    expectThrows(wrong, 'serve', 'invalid_argument', 'models is Object');
    channel.port1.close();
  });
});
