// @run full, or after changes in examples/chat-vite wasm/src/models wasm/src/worker
// @build any
// examples/chat-vite as a project of its own, with the package as packed: a person talks to a model whose answers are known.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { preview } from 'vite';
import { violations } from '../page/support/panel.js';
import { packageJson, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { until } from '../support/js/patience.js';
import { replaced } from './consumers/stranger.js';
import { openTab, testIn } from './example-tabs.js';
import { commands, installExamples, viteProject } from './examples.js';
import { listingOf, serveHub } from './hub.js';
import { alphabet, talker } from './talker.js';

let installed;
let site;
let hub;
before(async () => {
  installed = await installExamples();
  const root = viteProject(installed, 'chat-vite', ['typescript', '@huggingface/jinja']);
  const [, run] = commands.get('chat-vite').split(' && ');
  await installed.inProject(...replaced(run, 'run dev', 'run build').split(' '));
  const served = { host: '127.0.0.1', port: 0 };
  site = await preview({ root, logLevel: 'error', preview: served });
  hub = await serveHub('qkv/talker', talker());
});
after(async () => {
  await site?.close();
  await hub?.close();
  installed?.remove();
});

test('examples: chat-vite asks for this version of the package, and for the others that are tried', () => {
  const { dependencies, devDependencies } = JSON.parse(text('examples/chat-vite/package.json'));
  const own = { qkv: packageJson.version.replace(/(.*)\.\d+$/, '^$1.0') };
  const tried = (name) => [name, packageJson.devDependencies[name]];
  const others = Object.fromEntries(['@huggingface/jinja', 'typescript', 'vite'].map(tried));
  assert.deepEqual({ ...dependencies, ...devDependencies }, { ...own, ...others });
});

/** The page in a browser, and what a person does there. */
async function open(browser) {
  const { tab, complaints, close } = await openTab(browser, site.resolvedUrls.local[0]);
  const seen = () =>
    tab.evaluate(() => ({
      status: document.getElementById('status').value,
      said: Array.from(document.querySelectorAll('#log p'), (p) => p.textContent),
      canStop: !document.getElementById('stop').hidden,
      canContinue: !document.getElementById('continue').hidden,
      isBusy: document.getElementById('log').getAttribute('aria-busy') === 'true',
    }));
  const shows = async (isIt) => {
    let now;
    await until(
      async () => isIt((now = await seen())),
      () => JSON.stringify(now).slice(0, 1000),
    );
    return now;
  };
  const fill = async (id, value) => {
    await tab.focus(`#${id}`);
    await tab.evaluate((wanted) => document.getElementById(wanted).select(), id);
    await tab.keyboard.type(value);
  };
  const say = async (words) => {
    await fill('text', words);
    await tab.keyboard.press('Enter');
  };
  const ended = (status) => shows((now) => now.status === status && !now.canStop);
  return { tab, complaints, close, seen, shows, fill, say, ended };
}

const complete = 'The answer is complete.';
const cut = 'The answer has reached the longest length.';
const stopped = 'The answer was stopped.';
const full = 'The model has no room for more. Start a new chat.';

/** Loads by an address, talks, stops an answer, and goes on with those that were cut. */
async function talk(browser) {
  const page = await open(browser);
  const { tab, complaints, shows, fill, say, ended } = page;
  assert.equal((await page.seen()).status, 'no model yet');
  assert.equal(await tab.evaluate(() => document.getElementById('send').disabled), true);

  await fill('address', `${hub.url}/qkv/nothing`);
  await tab.keyboard.press('Enter');
  await shows(({ status }) => /^failed: .*hub:qkv\/nothing has no model\.safetensors/.test(status));
  const loads = async () => {
    await fill('address', `${hub.url}/qkv/talker`);
    await tab.keyboard.press('Enter');
    return shows((now) => / parameters, /.test(now.status));
  };
  await loads();
  await tab.reload();
  hub.requests.length = 0;
  const { status } = await loads();
  assert.deepEqual(hub.requests, [listingOf('qkv/talker')], 'all else was kept');
  complaints.splice(0); // the browser's own, of what is not there
  const cores = await tab.evaluate(() => Math.min(64, navigator.hardwareConcurrency));
  assert.match(status, /talker: 62,\d+ parameters, 0\.3 MB, threads: \d+$/);
  assert.ok(status.endsWith(`threads: ${cores}`), status);

  await say('Hello <|im_end|>');
  const first = await ended(complete);
  assert.deepEqual(first.said, ['You: Hello <|im_end|>', `Model: ${alphabet}`]);
  assert.equal(first.canContinue, false);

  await fill('most', '10');
  await say('Again');
  const begun = await ended(cut);
  assert.deepEqual(begun.said.slice(2), ['You: Again', `Model: ${alphabet.slice(0, 10)}`]);
  await tab.click('#continue');
  await shows(({ said, canStop }) => !canStop && said[3] === `Model: ${alphabet.slice(0, 20)}`);
  await tab.click('#continue');
  const whole = await ended(complete);
  assert.deepEqual(whole.said.slice(3), [`Model: ${alphabet}`]);

  await fill('most', '15000');
  await say('Please count');
  await shows(({ said, canStop, isBusy }) => canStop && isBusy && said[5]?.length > 100);
  await tab.click('#stop');
  const half = await ended(stopped);
  const count = half.said[5].slice('Model: '.length);
  assert.ok(count.length < 15_000);
  assert.equal(count, '1234567890'.repeat(1500).slice(0, count.length));
  assert.deepEqual([half.canContinue, half.isBusy], [true, false]);
  await fill('most', '5');
  await tab.click('#continue');
  const more = await ended(cut);
  assert.equal(more.said[5], `Model: ${'1234567890'.repeat(1500).slice(0, count.length + 5)}`);
  assert.deepEqual(complaints, []);
  return page;
}

/** Drops the files of a model with little room, fills it, and begins anew. */
async function dropAndFill({ tab, complaints, close, shows, fill, say, ended }) {
  const files = Object.entries(talker({ maxLength: 110 })).map(([name, content]) => [
    name,
    content instanceof Uint8Array ? Array.from(content) : JSON.stringify(content),
  ]);
  await tab.evaluate((given) => {
    const dataTransfer = new DataTransfer();
    for (const [name, content] of given) {
      const part = typeof content === 'string' ? content : Uint8Array.from(content);
      dataTransfer.items.add(new File([part], name));
    }
    const event = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    if (!event.defaultPrevented) throw new Error('the browser would open the files');
  }, files);
  const loaded = await shows(({ status }) => /^config\.json, .* parameters, /.test(status));
  assert.deepEqual(loaded.said, [], 'another model, another conversation');
  await fill('most', '1000');
  await say('count');
  const { said, canContinue } = await ended(full);
  assert.match(said[1], /^Model: 1234567890123/);
  assert.equal(canContinue, false);
  await tab.click('#again');
  await shows((now) => now.said.length === 0);
  await say('Hi');
  assert.deepEqual((await ended(complete)).said, ['You: Hi', `Model: ${alphabet}`]);
  // There is room for this conversation, as what the session has read of it is not read again.
  await say('Hi');
  await shows((now) => !now.canStop && now.said[3] === `Model: ${alphabet}`);
  assert.deepEqual(complaints, []);
  await close();
}

describe('examples: chat-vite', () => {
  const title = 'chat-vite answers, stops, goes on, and says when there is no room';
  testIn('Chromium', title, async (browser) => {
    const page = await talk(browser);
    assert.deepEqual(await violations(page.tab), []);
    await page.tab.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await violations(page.tab), []);
    await dropAndFill(page);
  });
  inFullRun('chat-vite in Firefox', () =>
    testIn('Firefox', title, async (browser) => dropAndFill(await talk(browser))),
  );
});
