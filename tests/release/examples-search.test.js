// @run full, or after changes in examples/search-page wasm/src/models wasm/src/language
// @build any
// examples/search-page with the package as packed: what it finds is what the package in Node finds, and a second visit computes nothing.
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { init } from 'qkv';
import { load, nearest } from 'qkv/models';
import { safetensors } from '../package/models/support/files.js';
import { violations } from '../page/support/panel.js';
import { text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { until } from '../support/js/patience.js';
import { folder } from '../support/js/server.js';
import { encoder, ofHub, sentences, wordTokenizer } from './encoder.js';
import { openTab, testIn } from './example-tabs.js';
import { installExamples, replacements } from './examples.js';
import { listingOf, serveHub } from './hub.js';

const { config, tensors } = encoder();
const weights = safetensors(tensors);
const qkv = await init();
const model = await load(qkv, { config, weights, tokenizer: ofHub() });
after(() => qkv.dispose());

/** The files of the encoder as a hub has them. */
const files = {
  ...{ 'config.json': config, 'model.safetensors': weights, ...wordTokenizer },
  '1_Pooling/config.json': { word_embedding_dimension: 64, pooling_mode_mean_tokens: true },
};
const listing = listingOf('qkv/encoder');
const page = 'examples/search-page/index.html';
let installed;
let server;
before(async () => {
  installed = await installExamples();
  const { here, there } = replacements.find(({ file }) => file === page);
  installed.write(
    page,
    text(page).replaceAll(here, () => there),
  );
  const own = folder(installed.project);
  server = await serveHub('qkv/encoder', files, (path) => own(path.replace(/\/$/, '/index.html')));
});
after(async () => {
  await server?.close();
  installed?.remove();
});

/** What the page should list: cosines and sentences. */
async function expected(query, text = sentences) {
  const vectors = await model.embed(text, { truncate: true });
  const found = nearest(vectors, await model.embed([query]), 5);
  return found.map(({ index, similarity }) => [similarity, text[index]]);
}

async function use(browser) {
  const { tab, complaints, close } = await openTab(browser, `${server.url}/examples/search-page/`);
  const fill = async (id, value) => {
    await tab.focus(`#${id}`);
    await tab.evaluate((wanted) => document.getElementById(wanted).select(), id);
    await tab.keyboard.type(value);
  };
  /** Searches: what the page then says, and what the server was asked for. */
  const searches = async (query, computed, kept, text = sentences) => {
    server.requests.length = 0;
    await fill('query', query);
    await tab.keyboard.press('Enter');
    const status = `${text.length} sentences; vectors computed: ${computed}, kept from before: ${kept}`;
    let said;
    await until(
      async () =>
        (said = await tab.evaluate(() => document.getElementById('status').value)) === status,
      () => `${said}; not ${status}`,
    );
    const found = await tab.evaluate(() =>
      Array.from(document.querySelectorAll('#found li'), (line) =>
        Array.from(line.childNodes, (node) => node.textContent),
      ),
    );
    const should = await expected(query, text);
    assert.deepEqual(
      found.map(([, sentence]) => sentence),
      should.map(([, sentence]) => sentence),
    );
    for (const [i, [cosine]] of found.entries())
      assert.ok(Math.abs(cosine - should[i][0]) < 6e-4, `${cosine}, ${should[i]}`);
    return server.requests.filter((path) => path.includes('/qkv/encoder/')).sort();
  };
  const visit = async () => {
    await fill('model', `${server.url}/qkv/encoder`);
    await fill('text', sentences.join(' '));
  };
  const count = sentences.length;
  await visit();
  const first = await searches('the dog in the park', count + 1, 0);
  assert.equal(first[0], listing);
  assert.deepEqual(
    first.slice(1).map((path) => path.replace(/.*\/resolve\/\w+\//, '')),
    Object.keys(files).sort(),
  );
  assert.deepEqual(await searches('a cat', 1, count), [], 'the model is there');
  if (browser.contexts) assert.deepEqual(await violations(tab), []);

  await tab.reload();
  await visit();
  assert.deepEqual(await searches('the dog in the park', 0, count + 1), [], 'nothing is computed');
  const running = await tab.evaluate(() =>
    performance.getEntriesByType('resource').map((e) => e.name),
  );
  assert.ok(!running.some((name) => /\.wasm|models-host/.test(name)), `${running}`);
  assert.deepEqual(await searches('the park', 1, count), [listing], 'the model was kept');
  const more = [...sentences, 'The cat sleeps.'];
  await fill('text', more.join(' '));
  assert.deepEqual(await searches('the park', 1, count + 1, more), []);
  assert.deepEqual(complaints, []);

  await fill('model', `${server.url}/qkv/nothing`);
  await tab.keyboard.press('Tab');
  await fill('query', 'the dog');
  await tab.keyboard.press('Enter');
  await until(
    () =>
      tab.evaluate(() =>
        /^failed: .*hub:qkv\/nothing has no /.test(document.getElementById('status').value),
      ),
    () => 'a model that is not there',
  );
  await close();
}

describe('examples: search-page', () => {
  const title = 'search-page finds what is nearest, and a second visit computes nothing';
  testIn('Chromium', title, use);
  inFullRun('search-page in Firefox', () => testIn('Firefox', title, use));
});
