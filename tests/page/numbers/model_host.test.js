// What the worker of a trained model says to whom asks it, in Node: small models of the reader, what is told again and what is not, in
// which order and in how long slices of work, and what becomes of work that something else has taken the place of.
import assert from 'node:assert/strict';
import { afterEach, before, describe, mock, test } from 'node:test';
import { families } from '../../package/models/support/families.js';
import { safetensors } from '../../package/models/support/files.js';
import { until } from '../../support/js/patience.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules('features/model/worker/{model_host,open_model}');

/** Files of a model: two layers of four heads over 11 tokens that are numbers, of at most 9 in a text. */
function filesOf(family) {
  const { tensors, config } = families[family]();
  const file = new File([safetensors(tensors)], `${family}.safetensors`);
  return [file, new File([JSON.stringify(config)], 'config.json')];
}
let qkv;
let prototype;
before(async () => {
  qkv = await (await packageModule('index')).init();
  const options = { signal: new AbortController().signal, onProgress: () => undefined };
  const { model } = await web.open(qkv, { kind: 'files', files: filesOf('llama') }, options);
  prototype = Object.getPrototypeOf(model);
  model.dispose();
});
afterEach(() => mock.restoreAll());

const ASK = {
  ...{ text: '1 2 3 4', length: null, at: null, ablated: [], near: null },
  ...{ head: null, brought: false },
  sampling: { temperature: 1, topK: 0, topP: 1 },
};
/** A message in a word. */
const word = ({ kind, of, news, changes, generated, failure, speed }) => {
  if (news) return Object.keys(news).join();
  if (kind === 'changes') return `changes ${changes.running}`;
  if (kind === 'speed') return `speed ${speed.running}`;
  if (kind === 'generated') return `generated ${generated.running}`;
  if (kind === 'failed') return `failed ${of} ${failure.code}`;
  return failure ? `${kind} ${failure.code}` : kind;
};

/** A host, what it says, and ways to ask it and to wait. */
async function hosted(family) {
  const said = [];
  const host = new web.ModelHost(qkv, (message) => said.push(message));
  // What fails says so, and is not waited for.
  const isOver = ({ kind }) => kind === 'failed' || kind === 'refused';
  const heard = (test) => until(() => said.some((message) => test(message) || isOver(message)));
  const load = (files) => host.receive({ kind: 'load', files: { kind: 'files', files } });
  const of = {
    ...{ host, said, heard, load },
    tell: (message) => host.receive(message),
    /** What is said until all of this is answered, in words. */
    async asked(change = {}) {
      said.length = 0;
      host.receive({ kind: 'ask', ask: { ...ASK, ...change } });
      await heard(({ kind }) => kind === 'answered');
      return said.map(word).filter((name) => name !== 'answered');
    },
    news: (name) => said.findLast(({ news }) => news && name in news).news[name],
  };
  if (family) {
    load(filesOf(family));
    await heard(({ kind }) => kind === 'loaded');
  }
  return of;
}
const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve));
};
/** What follows from the tokens of a text. */
const OF_TEXT = ['next', 'losses', 'lens', 'rollout', 'scores', 'grid', 'reads'];
const ALL = ['reading', ...OF_TEXT, 'plane', 'near'];

describe('model: answers', () => {
  test('are told in their order, and only those that follow from what has changed', async () => {
    const { asked, news } = await hosted('llama');
    assert.deepEqual(await asked(), ALL);
    assert.deepEqual(await asked(), []);
    const sampling = { temperature: 2, topK: 3, topP: 0.5 };
    const changes = [
      [{ at: 3 }, []],
      [{ at: 1 }, ['next', 'lens', 'rollout', 'reads', 'near']],
      [{ at: 1, head: [1, 3] }, ['reads']],
      [{ at: 1, brought: true }, ['reads']],
      [{ at: 1 }, ['reads']],
      [{ at: 1, near: 2 }, []],
      [{ at: 1, near: 5 }, ['near']],
      [{ at: 1, near: 5, sampling }, ['next']],
      [{ at: 1, near: 5, sampling, ablated: [[1, 2]] }, ['next', 'losses', 'lens']],
      [{ at: 1, near: 5, sampling, ablated: [[1, 2]], text: '1 2 3' }, ['reading', ...OF_TEXT]],
      [
        { at: 1, near: 5, sampling, ablated: [[1, 2]], text: '1 2 3', length: 6 },
        ['reading', ...OF_TEXT],
      ],
    ];
    for (const [change, names] of changes) {
      assert.deepEqual(await asked(change), names, JSON.stringify(change));
    }
    const { id, ids, labels, text, length, total } = news('reading');
    assert.deepEqual(
      { id, ids, labels, text, length, total },
      {
        ...{ id: 3, ids: [1, 2, 3, 1, 2, 3], labels: ['1', '2', '3', '1', '2', '3'] },
        ...{ text: '1 2 3', length: 6, total: 3 },
      },
    );
  });

  test('are about the token that is asked for, or the last', async () => {
    const { asked, news } = await hosted('llama');
    for (const [at, place] of [
      [null, 3],
      [0, 0],
      [2, 2],
      [200, 3],
    ]) {
      await asked({ at, text: at === null ? '1 2 3 4' : '4 3 2 5', near: at });
      for (const name of ['next', 'lens', 'rollout']) assert.equal(news(name).at, place, name);
    }
    assert.equal(await asked({ near: 11 }).then(() => news('near')), null);
    await asked({ at: 1 });
    assert.equal(news('near').id, 2);
  });

  test('are none of a text without tokens, but for the embeddings', async () => {
    const { asked, said, news } = await hosted('llama');
    assert.deepEqual(await asked({ text: 'words' }), ALL);
    for (const name of OF_TEXT) assert.equal(news(name), null, name);
    assert.deepEqual([news('reading').ids, news('reading').surprisal.length], [[], 0]);
    assert.equal(news('near').id, 0, 'of the first token');
    said.length = 0;
    assert.deepEqual(await asked({ text: '' }), ['reading']);
  });

  test('of an encoder are what it has', async () => {
    const { asked, news, host } = await hosted('bert');
    await asked();
    for (const name of ['next', 'losses', 'lens', 'grid']) assert.equal(news(name), null, name);
    assert.ok(news('reading').surprisal.every(Number.isNaN));
    assert.equal(news('reading').surprisal.length, 4);
    assert.equal(news('scores').previous.length, 8);
    const { list, count, inputs, model, x } = host.heads({ model: 1, ids: [1, 2] });
    assert.deepEqual([list.length, count, inputs, model, x.length], [8, 2, null, null, 0]);
  });

  test('that were asked for before there was a model come with it, and again with the next one', async () => {
    const { tell, load, heard, said } = await hosted();
    tell({ kind: 'ask', ask: ASK });
    await turns();
    assert.deepEqual(said, []);
    for (const id of [1, 2]) {
      said.length = 0;
      load(filesOf('llama'));
      await heard(({ kind }) => kind === 'answered');
      const words = said.map(word);
      const from = words.indexOf('loaded');
      assert.ok(words.slice(0, from).every((name) => name === 'progress'));
      assert.equal(said[from].info.id, id);
      assert.deepEqual(words.slice(from + 1), [...ALL, 'answered']);
    }
  });

  test('that cannot be worked out are a failure, and the next ask is answered', async () => {
    const { asked, news } = await hosted('llama');
    const words = await asked({ sampling: { ...ASK.sampling, temperature: 1e300 } });
    assert.equal(words[0], 'reading');
    assert.match(words.at(-1), /^failed answers /);
    assert.equal(words.length, 2);
    assert.deepEqual(await asked(), ALL.slice(1));
    assert.equal(news('next').at, 3);
  });

  test('say which work it was that failed', async () => {
    const { asked, tell, heard, said } = await hosted('llama');
    await asked();
    for (const [method, kind, of] of [
      ['loss', 'changes', 'changes'],
      ['forward', 'speed', 'speed'],
      ['generate', 'generate', 'generated'],
    ]) {
      said.length = 0;
      mock.method(prototype, method, () => { throw new Error('no room'); }); // prettier-ignore
      tell({ kind, seed: 1, tokens: 2, pace: null });
      await heard(() => false);
      assert.equal(word(said.at(-1)), `failed ${of} unexpected`);
      mock.restoreAll();
    }
  });

  test('of an ask that another has taken the place of are not told', async () => {
    const { tell, asked, said } = await hosted('llama');
    tell({ kind: 'ask', ask: { ...ASK, text: '9' } });
    tell({ kind: 'ask', ask: { ...ASK, text: '8' } });
    await asked();
    await turns();
    assert.deepEqual(said.map(word), [...ALL, 'answered']);
  });
});

describe('model: heads for the frames', () => {
  test('are those of the model that is there, over the tokens that are named', async () => {
    const { host, load, heard, said } = await hosted('llama');
    assert.equal(host.heads({ model: 2, ids: [1] }), null);
    assert.equal(host.heads({ model: 1, ids: [] }), null);
    const heads = host.heads({ model: 1, ids: [1, 2, 3] });
    assert.deepEqual([heads.list.length, heads.count], [8, 3]);
    const { q, k, width, scale } = heads.exact(5);
    const own = heads.list[5].projections();
    assert.deepEqual([[...q], [...k], width, scale], [[...own.q], [...own.k], 16, 0.25]);
    said.length = 0;
    load(filesOf('llama'));
    await heard(({ kind }) => kind === 'loaded');
    assert.equal(host.heads({ model: 1, ids: [1] }), null);
    assert.equal(host.heads({ model: 2, ids: [1] }).count, 1);
  });
});

describe('model: more that is asked for', () => {
  test('the loss without each head is told after every fourth, and at the end', async () => {
    const { asked, tell, heard, said, news } = await hosted('llama');
    tell({ kind: 'changes' });
    await turns();
    await asked({ text: '1' });
    tell({ kind: 'changes' });
    await turns();
    assert.ok(!said.some(({ kind }) => kind === 'changes'), 'there is no loss');
    await asked({ text: '1 2' });
    tell({ kind: 'changes' });
    await heard(({ changes }) => changes && !changes.running);
    await asked();
    const { id } = news('reading');
    tell({ kind: 'changes' });
    await heard(({ kind, changes }) => kind === 'changes' && !changes.running);
    const told = said.filter(({ kind }) => kind === 'changes').map(({ changes }) => changes);
    assert.deepEqual(
      told.map(({ reading, running, changes }) => [
        ...[reading, running, changes.length],
        changes.findIndex(Number.isNaN),
      ]),
      [
        [id, true, 8, 4],
        [id, true, 8, -1],
        [id, false, 8, -1],
      ],
    );
    assert.ok(told[2].changes.every((change) => change !== 0));
  });

  test('measuring that something else ends gives its session back', async () => {
    for (const end of [
      ({ tell }) => tell({ kind: 'speed' }),
      async ({ load, heard }) => {
        load(filesOf('llama'));
        await heard(({ kind }) => kind === 'loaded');
      },
    ]) {
      const of = await hosted('llama');
      await of.asked();
      const made = [];
      const { session } = prototype;
      mock.method(prototype, 'session', function open(...args) {
        const one = session.apply(this, args);
        made.push(mock.method(one, 'dispose').mock);
        return one;
      });
      let time = 0;
      mock.method(performance, 'now', () => (time += 10)); // a step is a slice
      of.tell({ kind: 'speed' });
      await of.heard(({ speed }) => speed?.running);
      assert.equal(made[0].callCount(), 0, 'it is under way');
      await end(of);
      assert.equal(made[0].callCount(), 1);
      mock.restoreAll();
    }
  });

  test('the time of a token is told of a text that has some', async () => {
    const { asked, tell, heard, said } = await hosted('llama');
    tell({ kind: 'speed' });
    await turns();
    assert.ok(!said.some(({ kind }) => kind === 'speed'));
    await asked();
    said.length = 0;
    tell({ kind: 'speed' });
    await heard(({ speed }) => speed && !speed.running);
    assert.deepEqual(said.map(word), ['speed true', 'speed false']);
    await asked({ text: '' });
    said.length = 0;
    tell({ kind: 'speed' });
    await turns();
    assert.deepEqual(said, []);
  });
});
