// @run full, or after changes in wasm/src/models/cache wasm/src/models/hub
// @build any
// Models from servers of other origins, kept in Chromium: in both kinds of store, by two tabs, without room, denied; and whom a token reaches.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { startPages } from '../../support/js/pages.js';
import { families } from '../models/support/families.js';
import { safetensors } from '../models/support/files.js';
import { serveFile } from '../models/support/server.js';

const large = randomBytes(20_000_001);
const hash = createHash('sha256').update(large).digest('hex');
const { tensors, config } = families.gpt2();
const model = safetensors(tensors);

const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'authorization, x-key',
  'access-control-expose-headers': 'etag, content-range',
};

/** What every page below has: the hash of a Blob, and what fits into a report. */
const head = `
  import { modelCache, load } from '/dist/models.js';
  const hashOf = async (blob) => {
    const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', await blob.arrayBuffer()));
    return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
`;

describe('files of servers that are kept in Chromium', () => {
  let pages;
  before(async () => {
    pages = await startPages({});
  });
  after(() => pages.close());

  for (const kind of ['cache', 'opfs']) {
    test(`${kind}: a broken download goes on where it ended, and the file is asked for once`, async (t) => {
      // A broken connection takes with it what the page has not read yet: it breaks when the page has read a stretch and more.
      let tellRead;
      const hasRead = new Promise((resolve) => {
        tellRead = resolve;
      });
      const { url, requests } = await serveFile(t, large, {
        breaks: (n) => (n === 0 ? 14_000_000 : Infinity),
        gate: (sent) => sent >= 14_000_000 && hasRead,
        headers: { ...cors, etag: '"a"' },
      });
      const prepare = (tab) => tab.exposeFunction('tellRead', () => tellRead());
      const { first, partial, hashes, list, size, rest } = await pages.look(
        `${head}
        const cache = modelCache({ kind: '${kind}' });
        const onProgress = ({ loaded }) => loaded > 2 ** 23 && tellRead();
        const first = await attempt(() => cache.blob('${url}', { tries: 0, onProgress }));
        const partial = (await cache.list()).map(({ kept }) => kept);
        const hashes = [];
        for (let i = 0; i < 2; i += 1) hashes.push(await hashOf(await cache.blob('${url}')));
        const list = (await cache.list()).map(({ address, size, kept }) => ({ address, size, kept }));
        const size = await cache.size();
        await cache.remove('${url}');
        report({ first, partial, hashes, list, size, rest: await cache.size(), problem: cache.problem });
      `,
        { prepare },
      );
      assert.match(first.error.message, /broke off/);
      assert.deepEqual(partial, [2 ** 23]);
      assert.deepEqual(hashes, [hash, hash]);
      assert.deepEqual(list, [{ address: url, size: large.length, kept: large.length }]);
      assert.equal(size, large.length);
      assert.equal(rest, 0);
      assert.deepEqual(requests.map(({ range }) => range), ['bytes=0-', `bytes=${2 ** 23}-`]); // prettier-ignore
    });

    test(`${kind}: two tabs load it once`, async (t) => {
      const { url, requests } = await serveFile(t, large, { headers: cors, gate: () => new Promise(setImmediate) }); // prettier-ignore
      const script = `${head}
        const other = new BroadcastChannel('hashes');
        const told = new Promise((resolve) => {
          other.onmessage = ({ data }) => {
            if (data === 'there?') other.postMessage(mine ?? 'wait');
            else if (data !== 'wait') resolve(data);
          };
        });
        let mine;
        mine = await hashOf(await modelCache({ kind: '${kind}' }).blob('${url}'));
        const asking = setInterval(() => other.postMessage('there?'), 50);
        const its = await told;
        other.postMessage(mine);
        report([mine, its]);
      `;
      const prepare = async (tab) => {
        const second = await tab.context().newPage();
        // The same page, which is there as soon as the first has asked for it.
        tab.once('request', (request) => void second.goto(request.url()));
      };
      assert.deepEqual(await pages.run(script, { prepare }), [hash, hash]);
      assert.equal(requests.length, 1);
    });

    test(`${kind}: a model in a worker`, async (t) => {
      const { url, requests } = await serveFile(t, model, { headers: cors });
      const found = await pages.run(`${head}
        import { init } from '/dist/worker.js';
        const engine = await init({ models: true });
        const cache = modelCache({ kind: '${kind}', name: 'of-workers' });
        const progress = [];
        const results = [];
        for (let i = 0; i < 2; i += 1) {
          const model = await engine.loadModel(
            { config: ${JSON.stringify(config)}, weights: '${url}' },
            { cache, onProgress: (each) => progress.push(each) },
          );
          results.push(bits((await model.forward([1, 2, 3])).logits));
          await model.dispose();
        }
        await engine.dispose();
        report({ results, kept: await cache.size(), last: progress.at(-1) });
      `);
      const { rate, ...last } = found.last;
      assert.deepEqual(found.results[0], found.results[1]);
      assert.equal(found.kept, model.length);
      assert.equal(last.loaded, last.total);
      assert.equal(last.file, 'model');
      assert.ok(rate >= 0);
      assert.equal(requests.length, 1);
    });

    test(`${kind}: without room the load goes on`, async (t) => {
      const { url } = await serveFile(t, large, { headers: cors });
      const prepare = async (tab) => {
        const session = await tab.context().newCDPSession(tab);
        await session.send('Storage.overrideQuotaForOrigin', {
          origin: pages.url,
          quotaSize: 12e6,
        });
      };
      const {
        hash: found,
        problem,
        told,
      } = await pages.look(
        `${head}
        const cache = modelCache({ kind: '${kind}' });
        const told = [];
        const blob = await cache.blob('${url}', { onProgress: ({ cacheProblem }) => told.push(cacheProblem) });
        report({ hash: await hashOf(blob), problem: cache.problem, told: told.at(-1) });`,
        { prepare },
      );
      assert.equal(found, hash);
      assert.match(problem, /the cache takes no more \((Quota|Abort)/);
      assert.equal(told, problem);
    });
  }

  test('where stores are denied the load goes on', async (t) => {
    const { url } = await serveFile(t, large, { headers: cors });
    const found = await pages.run(`${head}
      const denied = () => { throw new DOMException('no', 'SecurityError'); };
      Object.defineProperty(globalThis, 'caches', { get: denied });
      navigator.storage.getDirectory = denied;
      const results = [];
      for (const kind of ['cache', 'opfs']) {
        const cache = modelCache({ kind });
        results.push([await hashOf(await cache.blob('${url}')), cache.problem, (await cache.list()).length]);
      }
      report(results);
    `);
    for (const [sum, problem, count] of found) {
      assert.equal(sum, hash);
      assert.match(problem, /the cache cannot be read \(SecurityError: no\)/);
      assert.equal(count, 0);
    }
  });

  test('a redirect to another origin takes no token along', async (t) => {
    const away = await serveFile(t, model, { headers: cors });
    const first = await serveFile(t, model, {
      answer: () => undefined,
      headers: cors,
      redirect: away.url,
    });
    const { bytes, refusal } = await pages.look(`${head}
      const cache = modelCache({ name: 'redirected' });
      const ask = (headers) => cache.blob('${first.url}', { headers });
      const bytes = (await ask({ authorization: 'Bearer abc' })).size;
      await cache.clear();
      report({ bytes, refusal: await attempt(() => ask({ 'x-key': 'abc' })) });
    `);
    assert.equal(bytes, model.length);
    assert.match(refusal.error.message, /it redirects, and a browser would pass on x-key/);
    const asked = (server) => server.requests.filter(({ range }) => range !== undefined);
    assert.ok(asked(first).some(({ headers }) => headers.authorization === 'Bearer abc'));
    assert.ok(asked(away).length > 0);
    for (const { headers } of away.requests) {
      assert.equal(headers.authorization, undefined);
      assert.equal(headers['x-key'], undefined);
    }
  });
});
