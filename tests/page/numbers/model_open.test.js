// How the page opens a model, in Node: small files of every kind, by the button and as files of the reader, with what is said of
// each; and what is refused, with what nothing is kept of.
import assert from 'node:assert/strict';
import { afterEach, before, describe, mock, test } from 'node:test';
import { families } from '../../package/models/support/families.js';
import { llama2cTokens, safetensors } from '../../package/models/support/files.js';
import { ownMetadata, ownModel } from '../../package/models/support/own.js';
import { checkpoint, checkpointConfig } from '../../support/js/checkpoints.js';
import { modules, packageModule } from '../support/engine.js';

const web = await modules('features/model/worker/open_model');
let qkv;
let prototype;
before(async () => {
  qkv = await (await packageModule('index')).init();
  const { model } = await open([own()]);
  prototype = Object.getPrototypeOf(model);
});
afterEach(() => mock.restoreAll());

// ---- files ----

const weights = (bytes, name = 'model.safetensors') => new File([bytes], name);
const bytesOf = (files) =>
  files.reduce((sum, { name, size }) => sum + (/json$|^tokenizer/.test(name) ? 0 : size), 0);
const json = (value, name = 'config.json') =>
  new File([typeof value === 'string' ? value : JSON.stringify(value)], name);

/** As a trainer saves it, with changes of its config and metadata besides. */
function own({ format, changes, more, without = [] } = {}) {
  const { tensors } = ownModel({ format });
  for (const name of without) delete tensors[name];
  return weights(safetensors(tensors, { ...ownMetadata(changes), ...more }), 'own.safetensors');
}
const characters = (tokens) => ({ tokenizer: JSON.stringify({ type: 'characters', tokens }) });
const pieces = (tokens) => ({ tokenizer: JSON.stringify({ type: 'pieces', tokens }) });
const letters = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];

/** As the hub has it. */
function hub(family) {
  const { tensors, config } = families[family]();
  return [weights(safetensors(tensors)), json(config), json('{', 'generation_config.json')];
}
/** The same in two files. */
function shards(family) {
  const { tensors, config } = families[family]();
  const entries = Object.entries(tensors);
  const part = (name, of) => weights(safetensors(Object.fromEntries(of)), name);
  return [
    part('1.safetensors', entries.slice(0, 5)),
    part('2.safetensors', entries.slice(5)),
    json(config),
  ];
}
/** A checkpoint with a tokenizer of bytes and letters. */
async function llama2c() {
  const bytes = Array.from({ length: 256 }, (_, i) => [
    `<0x${i.toString(16).toUpperCase().padStart(2, '0')}>`,
    0,
  ]);
  const tokens = [['<unk>', 0], ['\n<s>\n', 0], ['\n</s>\n', 0], ...bytes, [' ', -9], ['a', -9]];
  const sizes = { vocabulary: tokens.length, numLayers: 1, dModel: 16, numHeads: 2, numKvHeads: 2 };
  const config = checkpointConfig({ ...sizes, dFeedForward: 8, maxLength: 6 });
  return [
    new File([checkpoint(config)], 'stories.bin'),
    new File([llama2cTokens(tokens)], 'tokenizer.bin'),
  ];
}

const still = { signal: new AbortController().signal, onProgress: () => undefined };
const open = (files, options = {}) =>
  web.open(qkv, Array.isArray(files) ? { kind: 'files', files } : files, { ...still, ...options });

/** What is said of a model of a trainer, unless its file says otherwise. */
const PLAIN = {
  ...{ name: null, family: '', format: 'f32', positions: 'learned', causal: true, speaks: true },
  ...{ tokenizer: 'none', unread: null, notDrawn: null },
};

test('model: what is said of a file, by its kind', async () => {
  const llama = { positions: 'rotary', family: 'llama' };
  for (const [files, said] of [
    [[own()], {}],
    [[own({ format: 'int8' })], { format: 'int8' }],
    [[own({ format: 'bf16' })], { format: 'bf16' }],
    [[own({ more: characters(['\n', ...letters]) })], { tokenizer: 'characters' }],
    [[own({ more: pieces(['\n', ...letters]) })], { tokenizer: 'pieces' }],
    [
      [own({ changes: { positions: 'alibi' }, without: ['positions'] })],
      { positions: 'alibi', notDrawn: 'alibi' },
    ],
    [[own({ changes: { window: 3 } })], { notDrawn: 'window' }],
    [[own({ changes: { attentionSoftcap: 1 } })], { notDrawn: 'softcap' }],
    [[own({ changes: { causal: false } })], { causal: false, speaks: false }],
    [hub('llama'), llama],
    [hub('mistral'), { ...llama, family: 'mistral', notDrawn: 'window' }],
    [hub('qwen2'), { ...llama, family: 'qwen2', notDrawn: 'window' }], // in one layer
    [hub('gemma2'), { ...llama, family: 'gemma2', notDrawn: 'softcap' }],
    [hub('bert'), { family: 'bert', causal: false, speaks: false }],
    [shards('gpt2'), { family: 'gpt2' }],
    [await llama2c(), { ...llama, tokenizer: 'file' }],
  ]) {
    const { info, model, embedding } = await open(files);
    const expected = { ...PLAIN, ...said };
    const found = Object.fromEntries(Object.keys(expected).map((name) => [name, info[name]]));
    assert.deepEqual(found, expected, files[0].name);
    assert.equal(info.fileBytes, bytesOf(files));
    if (embedding) assert.equal(embedding.length, info.vocabulary * info.dModel);
    const counted = info.types.reduce((sum, [, count]) => sum + count, 0);
    // A file may have more than its model computes with.
    assert.ok(info.types.length === 0 || counted >= info.parameters, `${counted}`);
    model.dispose();
  }
});

test('model: a text is read by the tokenizer of the file, or as numbers where it has none', async () => {
  const text = 'ab\nz za!';
  for (const [more, begin, labels, ids, unknown] of [
    [characters(['\n', ...letters]), 0, ['↵', 'a', 'b'], [1, 2, 0, 1], ['z', ' ', '!']],
    [characters([...letters, ' ']), null, ['a', 'b', 'c'], [0, 1, 8, 0], ['\n', 'z', '!']],
    [{}, null, ['0', '1', '2'], [], []],
  ]) {
    const opened = await open([own({ more })]);
    assert.deepEqual([opened.begin, [0, 1, 2].map(opened.label)], [begin, labels]);
    assert.deepEqual(opened.encode(text), { ids, unknown });
    opened.model.dispose();
  }
  const words = ['\n', ' Mary', ' and', ' ran', '.', '玛丽', '和', ' R', ' a'];
  const opened = await open([own({ more: pieces(words) })]);
  const label = (id) => opened.label(id);
  assert.deepEqual([opened.begin, [0, 1, 4, 5].map(label)], [0, ['↵', 'Mary', '.', '玛丽']]);
  assert.deepEqual(opened.encode('Mary and Tom ran, Mary.'), {
    ids: [1, 2, 3, 1, 4],
    unknown: ['Tom', ','],
  });
  assert.deepEqual(opened.encode('玛丽 和小明'), { ids: [5, 6], unknown: ['小', '明'] });
  opened.model.dispose();
  // A space is written where it is all that two tokens differ by.
  const twins = await open([own({ more: pieces(['\n', ' a', 'a', ' b', ...'cdefg']) })]);
  assert.deepEqual([1, 2, 3].map(twins.label), ['␣a', 'a', '␣b']);
  twins.model.dispose();
  const { encode, model } = await open([own()]);
  assert.deepEqual(encode('1 2 99 007 99 9 8'), { ids: [1, 2, 7, 8], unknown: ['99', '9'] });
  model.dispose();
});

// ---- progress ----

describe('model: how much of a model has arrived', () => {
  const address = { kind: 'address', name: 'austen', url: 'https://a.example/m' };
  /** A server that sends these bytes in parts of this size. */
  function serve(bytes, size, headers) {
    const parts = Math.ceil(bytes.length / size);
    let part = 0;
    const body = new ReadableStream({
      pull(controller) {
        if (part === parts) return controller.close();
        controller.enqueue(bytes.subarray(part * size, ++part * size));
      },
    });
    const asked = [];
    mock.method(globalThis, 'fetch', async (url, options) => {
      asked.push([url, options]);
      return new Response(body, { headers });
    });
    return asked;
  }
  async function told(headers) {
    const bytes = new Uint8Array(await own({ format: 'int8' }).arrayBuffer());
    const size = Math.ceil(bytes.length / 3);
    const asked = serve(bytes, size, headers(bytes.length));
    const said = [];
    const { info } = await open(address, { onProgress: (...of) => said.push(of) });
    assert.deepEqual(asked, [['https://a.example/m', { signal: still.signal }]]);
    return { said, info, size, length: bytes.length };
  }

  test('is told of a server, once for every part of it', async () => {
    const { said, info, size, length } = await told((all) => ({ 'content-length': `${all}` }));
    assert.deepEqual(said, [
      [size, length],
      [2 * size, length],
      [length, length],
    ]);
    assert.equal(info.name, 'austen');
    assert.equal(info.file, 'austen.safetensors');
    assert.equal(info.fileBytes, length);
    assert.equal(info.format, 'f32', 'whatever the file has');
  });

  for (const [what, headers] of [
    ['does not say how much it sends', () => ({})],
    ['sends it compressed', () => ({ 'content-length': '100' })],
  ]) {
    test(`is all so far, of a server that ${what}`, async () => {
      const { said, size, length } = await told(headers);
      assert.deepEqual(
        said,
        [size, 2 * size, length].map((loaded) => [loaded, loaded]),
      );
    });
  }

  test('is told of a file as the package tells it', async () => {
    const said = [];
    const { info } = await open([own({ format: 'int8' })], {
      onProgress: (...of) => said.push(of),
    });
    const [loaded, total] = said.at(-1);
    assert.ok(said.length > 0 && loaded === total && total <= info.fileBytes, `${said}`);
    assert.equal(info.format, 'int8');
  });

  for (const [what, response] of [
    ['a missing file', () => new Response('', { status: 404 })],
    ['an answer without a body', () => new Response(null, { status: 204 })],
  ]) {
    test(`nothing has, of ${what}`, async () => {
      const answer = response();
      mock.method(globalThis, 'fetch', async () => answer);
      await assert.rejects(open(address), {
        code: 'load_failed',
        message: `https://a.example/m: status ${answer.status}, expected 200`,
      });
    });
  }
});

// ---- what is refused ----

describe('model: what cannot be opened', () => {
  test('is told by the names of the files', async () => {
    await assert.rejects(open([own(), json('{', 'my_config.json')]), {
      ...{ code: 'config_json', message: 'my_config.json' },
    });
    await assert.rejects(open([json({}), json({}, 'b.json')]), {
      ...{ code: 'no_weights', message: 'config.json, b.json' },
    });
    await assert.rejects(open([]), { code: 'no_weights', message: '' });
    await assert.rejects(open([weights('nothing')]), { code: 'invalid_argument' });
  });

  test('is not loaded any further once it is given up', async () => {
    const reason = new Error('enough');
    await assert.rejects(open([own()], { signal: AbortSignal.abort(reason) }), reason);
  });

  test('gives the memory back when its embeddings cannot be read', async () => {
    const whole = own();
    /** A file that is gone after so many reads. */
    class Going extends File {
      reads = 0;
      last = Infinity;
      slice(...range) {
        if (this.reads++ >= this.last) throw new Error('gone');
        return super.slice(...range);
      }
    }
    const bytes = await whole.arrayBuffer();
    const disposed = mock.method(prototype, 'dispose');
    const there = new Going([bytes], 'a.safetensors');
    await open([there]);
    assert.equal(disposed.mock.callCount(), 0);
    const going = Object.assign(new Going([bytes], 'a.safetensors'), { last: there.reads - 1 });
    await assert.rejects(open([going]), /gone/);
    assert.equal(disposed.mock.callCount(), 1);
  });
});
