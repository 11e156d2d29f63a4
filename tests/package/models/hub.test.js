// @build any
// Models of a hub: which files are found and read, by which addresses, and what is said of those that are not there.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { describe, test } from 'node:test';
import { expectRejects, expectThrows } from '../../support/js/check.js';
import { models } from './support/bundle.js';
import { collect } from './support/collect.js';
import { families } from './support/families.js';
import { gguf, ggufFile, safetensors } from './support/files.js';
import { ggufModels } from './support/gguf-models.js';
import { expectModel } from './support/truth.js';

const { openModel, Opener, parseHubAddress, Requests } = models;
const { truth, tensors, config } = families.gpt2();
const commit = '0123456789abcdef0123456789abcdef01234567';
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

const tokenizer = { version: '1.0', model: { type: 'BPE', vocab: { a: 0, b: 1 }, merges: [] } };
const files = {
  'model.safetensors': safetensors(tensors),
  'config.json': config,
  'generation_config.json': { eos_token_id: [3, 4] },
  'tokenizer.json': tokenizer,
  'tokenizer_config.json': {
    chat_template: 'from tokenizer_config',
    bos_token: '<s>',
    eos_token: { content: '</s>', lstrip: false },
    pad_token: null,
  },
};
const bytesOf = (file) => (file instanceof Uint8Array ? file : Buffer.from(typeof file === 'string' ? file : JSON.stringify(file))); // prettier-ignore

/**
 * A hub with one model, a/b, of these files: lists them with `lists`, and answers 404 for others. `hashes`: SHA-256 that it tells of
 * files. Resolves to { hub, paths }.
 */
async function serveHub(t, has, { lists = true, hashes = {}, status, token } = {}) {
  const paths = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    paths.push(path);
    const say = (code, body = '') => response.writeHead(code).end(body);
    if (status !== undefined) return say(status);
    if (token && request.headers.authorization !== `Bearer ${token}`) return say(401);
    const [, revision] = /^\/api\/models\/a\/b\/revision\/(.+)\?blobs=true$/.exec(path) ?? [];
    if (revision !== undefined) {
      if (!lists || !['main', 'v1', 'refs/pr/1'].includes(revision)) return say(404, 'Not Found');
      const siblings = Object.keys(has).map((rfilename) => ({
        ...{ rfilename, size: 1, blobId: 'x' },
        ...(hashes[rfilename] && { lfs: { sha256: hashes[rfilename], size: 1, pointerSize: 1 } }),
      }));
      return say(200, JSON.stringify({ id: 'a/b', sha: commit, siblings }));
    }
    const wanted = lists ? commit : 'main';
    const [, name] = new RegExp(`^/a/b/resolve/${wanted}/(.+)$`).exec(path) ?? [];
    return name !== undefined && name in has ? say(200, bytesOf(has[name])) : say(404);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { hub: { host: `http://127.0.0.1:${server.address().port}` }, paths };
}
const open = (source, hub, more) => openModel(source, { opener: new Opener(new Requests({ hub, ...more })) }); // prettier-ignore

describe('openModel: a model of a hub', () => {
  for (const lists of [true, false]) {
    test(`by its name, from ${lists ? 'a hub that lists files' : 'a server of files alone'}`, async (t) => {
      const { hub, paths } = await serveHub(t, files, { lists });
      for (const source of ['hub:a/b', { weights: 'hub:a/b' }, new URL('hub:a/b')]) {
        const opened = await open(source, hub);
        assert.deepEqual(opened.endTokens, [3, 4]);
        assert.deepEqual([...opened.tokenizer.encode('ab')], [0, 1]);
        assert.equal(opened.chatTemplates?.templates.default, 'from tokenizer_config');
        await expectModel(opened, truth);
      }
      if (lists) {
        const read = paths.slice(0, paths.length / 3);
        assert.deepEqual(new Set(read.slice(1)), new Set(Object.keys(files).map((name) => `/a/b/resolve/${commit}/${name}`))); // prettier-ignore
        assert.equal(read.length, 6, 'each file once');
      }
    });

    test(`what is not there is not missed, but for what is needed (${lists ? 'listed' : 'asked for'})`, async (t) => {
      const { 'config.json': own, 'model.safetensors': weights } = files;
      const bare = await serveHub(t, { 'config.json': own, 'model.safetensors': weights }, { lists }); // prettier-ignore
      const opened = await open('hub:a/b', bare.hub);
      assert.equal(opened.tokenizer, undefined);
      assert.equal(opened.chatTemplates?.templates.default, undefined);
      await expectModel(opened, truth);
      const noConfig = await serveHub(t, { 'model.safetensors': weights }, { lists });
      await expectRejects(open('hub:a/b', noConfig.hub), 'load', 'invalid_argument', 'hub:a/b has no', '/a/b/resolve/', 'config.json'); // prettier-ignore
      await expectModel(await open({ config: own, weights: 'hub:a/b' }, noConfig.hub), truth);
      const none = await serveHub(t, { 'config.json': own }, { lists });
      await expectRejects(open('hub:a/b', none.hub), 'load', 'invalid_argument', 'hub:a/b has no model.safetensors', 'no GGUF file'); // prettier-ignore
    });
  }

  test('what is given goes before what is found', async (t) => {
    const { hub, paths } = await serveHub(t, files);
    const mine = { encode: () => [7], decode: () => 'x' };
    const given = { generation: { eos_token_id: 5 }, tokenizer: mine, chatTemplate: '{{ mine }}' };
    const opened = await open({ weights: 'hub:a/b', ...given }, hub);
    assert.deepEqual(opened.endTokens, [5]);
    assert.equal(opened.tokenizer, mine);
    assert.equal(opened.chatTemplates?.templates.default, '{{ mine }}');
    assert.ok(!paths.some((path) => /tokenizer\.json|generation/.test(path)), `${paths}`);
    opened.close();
  });

  test('chat_template.jinja goes before tokenizer_config.json, of which the usual template counts', async (t) => {
    const several = [
      { name: 'rag', template: 'r' },
      { name: 'default', template: 'd' },
    ];
    const two = { ...files, 'tokenizer_config.json': { chat_template: several } };
    const named = await open('hub:a/b', (await serveHub(t, two)).hub);
    assert.equal(named.chatTemplates.templates.default, 'd');
    named.close();
    const jinja = await open('hub:a/b', (await serveHub(t, { ...two, 'chat_template.jinja': 'j {{ x }}' })).hub); // prettier-ignore
    assert.equal(jinja.chatTemplates.templates.default, 'j {{ x }}');
    jinja.close();
  });

  test('shards by their index, a revision, a folder', async (t) => {
    const entries = Object.entries(tensors);
    const shard = (odd) => safetensors(Object.fromEntries(entries.filter((_, i) => i % 2 === odd)));
    const names = Object.fromEntries(entries.map(([name], i) => [name, `s-${i % 2}.safetensors`]));
    const { 'model.safetensors': _, ...others } = files;
    const sharded = {
      ...others,
      ...{ 's-0.safetensors': shard(0), 's-1.safetensors': shard(1) },
      'model.safetensors.index.json': { weight_map: names },
    };
    const { hub, paths } = await serveHub(t, sharded);
    await expectModel(await open('hub:a/b@refs/pr/1', hub), truth);
    assert.equal(paths[0], '/api/models/a/b/revision/refs/pr/1?blobs=true');
    const inFolder = Object.fromEntries(Object.entries(files).map(([name, file]) => [`x/${name}`, file])); // prettier-ignore
    const folder = await serveHub(t, inFolder);
    const opened = await open('hub:a/b/x/model.safetensors@v1', folder.hub);
    assert.equal(opened.chatTemplates?.templates.default, 'from tokenizer_config');
    await expectModel(opened, truth);
    await expectRejects(open('hub:a/b/y.safetensors', folder.hub), 'load', 'invalid_argument', 'has no y.safetensors'); // prettier-ignore
  });

  test('GGUF: the only one, one of several by name, all parts of one that was split', async (t) => {
    const { truth: own, tensors: arrays, metadata } = ggufModels.gemma();
    const whole = ggufFile(metadata, arrays);
    await expectModel(
      await open('hub:a/b', (await serveHub(t, { 'm-Q8_0.gguf': whole })).hub),
      own,
    );
    const two = await serveHub(t, { 'm-F32.gguf': whole, 'm-Q8_0.gguf': whole });
    await expectRejects(open('hub:a/b', two.hub), 'load', 'invalid_argument', '2 GGUF files (m-F32.gguf, m-Q8_0.gguf)', 'hub:a/b/m-F32.gguf'); // prettier-ignore
    await expectRejects(open('hub:a/b@v1', two.hub), 'load', 'invalid_argument', 'one of them: hub:a/b/m-F32.gguf@v1'); // prettier-ignore
    await expectModel(await open('hub:a/b/m-F32.gguf', two.hub), own);
    const entries = Object.entries(arrays);
    const part = (no, of) => ggufFile([...(no === 0 ? metadata : []), ['split.no', gguf.u16(no)], ['split.count', gguf.u16(2)]], Object.fromEntries(of)); // prettier-ignore
    const split = await serveHub(t, {
      'm-00001-of-00002.gguf': part(0, entries.slice(0, 3)),
      'm-00002-of-00002.gguf': part(1, entries.slice(3)),
    });
    await expectModel(await open('hub:a/b', split.hub), own);
  });

  test('a SHA-256 that the hub tells is checked', async (t) => {
    const right = { 'model.safetensors': hashOf(files['model.safetensors']) };
    const { hub } = await serveHub(t, files, { hashes: right });
    await expectModel(await open('hub:a/b', hub), truth);
    const wrong = await serveHub(t, files, { hashes: { 'model.safetensors': hashOf('other') } });
    await expectRejects(collect(await open('hub:a/b', wrong.hub)), 'load', 'load_failed', 'SHA-256', hashOf('other')); // prettier-ignore
  });

  test('a tokenizer that nothing here reads is a problem of texts, not of the model', async (t) => {
    const odd = { ...files, 'tokenizer.json': { model: { type: 'Odd' } } };
    const opened = await open('hub:a/b', (await serveHub(t, odd)).hub);
    assert.equal(opened.tokenizer, undefined);
    assert.match(
      opened.tokenizerProblem,
      /^the tokenizer\.json of the model cannot be read \(.*Odd/,
    );
    await expectModel(opened, truth);
  });

  test('a model that not everybody may read', async (t) => {
    const { hub } = await serveHub(t, files, { token: 'hf_x' });
    await expectRejects(open('hub:a/b', hub), 'load', 'load_failed', 'hub:a/b', '401', 'hub.token');
    await expectModel(await open('hub:a/b', { ...hub, token: 'hf_x' }), truth);
  });

  test('a hub that is not there, and one that has no such model', async (t) => {
    await expectRejects(open('hub:a/b', { host: 'http://127.0.0.1:9' }), 'load', 'load_failed', 'http://127.0.0.1:9/api/models/a/b'); // prettier-ignore
    const broken = await serveHub(t, files, { status: 500 });
    await expectRejects(open('hub:a/b', broken.hub), 'load', 'load_failed', '/a/b/resolve/main/model.safetensors answered 500'); // prettier-ignore
  });

  test('a hub that is not there, with a listing in a cache that is damaged', async () => {
    const fetch = () => Promise.reject(new TypeError('away'));
    const cache = {
      ...{ problem: undefined, source: async () => undefined, remember: async () => undefined },
      recall: async () => '{"sha": "0123',
    };
    const opener = new Opener(new Requests({ fetch }), cache);
    await expectRejects(openModel('hub:a/b', { opener }), 'load', 'load_failed', 'away');
  });

  test('other files by their addresses, and addresses that are none', async (t) => {
    const { hub } = await serveHub(t, files, { lists: false });
    const at = (name) => `hub:a/b/${name}`;
    await expectModel(await open({ config: at('config.json'), weights: [at('model.safetensors')] }, hub), truth); // prettier-ignore
    const wrong = [
      'hub:a',
      'hub:a/',
      'hub:a/../b',
      'hub:../b',
      'hub:a/b/../c',
      'hub:a/b@',
      'hub:a/b@../c',
      'hub:a b/c',
      'hub:a/b/',
    ];
    for (const place of wrong)
      expectThrows(() => parseHubAddress('weights', place), 'load', 'invalid_argument', 'weights is', 'hub:owner/name'); // prettier-ignore
    await expectRejects(open({ config: 'hub:a/b', weights: files['model.safetensors'] }, hub), 'load', 'invalid_argument', 'config is "hub:a/b"', 'the address of a file'); // prettier-ignore
    assert.deepEqual(parseHubAddress('weights', 'hub:a.b/c-d/e/f.gguf@v1.0'), { owner: 'a.b', name: 'c-d', file: 'e/f.gguf', revision: 'v1.0' }); // prettier-ignore
  });
});
