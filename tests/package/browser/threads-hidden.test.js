// @run full
// @build any
// @alone
// Threads in pages that nobody looks at: hidden behind another, frozen and thawed, closed in the middle of a call.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import puppeteer from 'puppeteer-core';
import { init } from 'qkv';
import { launch, launchOptions, page } from '../../support/js/chromium.js';
import { serveBuilt } from '../../support/js/pages.js';
import { inTime, PATIENCE, until } from '../../support/js/patience.js';
import { randomArray } from '../../support/js/arrays.js';

const script = `
  import { init } from '/dist/index.js';
  import { init as initWorkers } from '/dist/worker.js';
  import { randomArray } from '/support/arrays.js';
  const x = randomArray([1, 4, 300, 64], 1);
  const sum = ({ output }) => new Uint32Array(output.data.buffer).reduce((hash, bits) => (Math.imul(hash, 31) + bits) >>> 0, 7);
  const own = await init({ deterministic: true, threads: 3 });
  const far = await initWorkers({ deterministic: true, threads: 2, workers: 2 });
  globalThis.states = [];
  document.addEventListener('visibilitychange', () => globalThis.states.push(document.visibilityState));
  document.addEventListener('freeze', () => globalThis.states.push('freeze'));
  document.addEventListener('resume', () => globalThis.states.push('resume'));
  globalThis.start = (calls) => {
    globalThis.done = Promise.all(Array.from({ length: calls }, () => far.attention(x, x, x).then(sum)));
  };
  globalThis.forever = () => {
    const again = () => far.attention(x, x, x).then(again);
    for (let i = 0; i < 4; ++i) again();
  };
  globalThis.finish = async () => [...new Set([...(await globalThis.done), sum(own.attention(x, x, x))])];
  globalThis.infos = [own.info, far.info];
  report(null);
`;

let server;
let browser;
let expected;
before(async () => {
  const routes = page('/page', script, { isolated: true });
  server = await serveBuilt(routes);
  // By this driver, because the other one tells every page that it is looked at.
  browser = await puppeteer.launch({
    ...launchOptions({ windowed: true }),
    ignoreDefaultArgs: [
      '--disable-renderer-backgrounding',
      '--disable-background-timer-throttling',
    ],
  });
  const x = randomArray([1, 4, 300, 64], 1);
  const { output } = (await init({ deterministic: true })).attention(x, x, x);
  expected = new Uint32Array(output.data.buffer).reduce(
    (hash, bits) => (Math.imul(hash, 31) + bits) >>> 0,
    7,
  );
});
after(async () => {
  await browser?.close();
  await server?.close();
});

async function open(where = browser) {
  const tab = await where.newPage();
  tab.setDefaultTimeout(PATIENCE.wait);
  await tab.goto(`${server.url}/page`);
  await tab.waitForFunction("'infos' in globalThis");
  const infos = await tab.evaluate(() => globalThis.infos);
  assert.deepEqual(
    infos.map(({ threads }) => threads),
    [3, 2],
  );
  return tab;
}

/** What the page has computed, or an error if it never does. */
const finish = (tab) =>
  inTime(
    tab.evaluate(() => globalThis.finish()),
    'the calls',
  );

test('threads in Chromium: frozen in the middle of calls and thawed: every call is answered, to the same bits', async () => {
  const tab = await open();
  const devtools = await tab.createCDPSession();
  for (let round = 0; round < 3; ++round) {
    await tab.evaluate(() => globalThis.start(12));
    await devtools.send('Page.setWebLifecycleState', { state: 'frozen' });
    await until(async () => {
      const states = await tab.evaluate(() => globalThis.states);
      return states.filter((state) => state === 'freeze').length > round;
    });
    await devtools.send('Page.setWebLifecycleState', { state: 'active' });
    await tab.bringToFront();
    assert.deepEqual(await finish(tab), [expected]);
  }
  const states = await tab.evaluate(() => globalThis.states);
  assert.ok(states.includes('resume'), String(states));
  await tab.close();
});

test('threads in Chromium: behind another page, whose threads work as well', async () => {
  const tab = await open();
  const front = await open();
  await front.bringToFront();
  assert.equal(await tab.evaluate(() => document.visibilityState), 'hidden');
  await Promise.all([tab, front].map((of) => of.evaluate(() => globalThis.start(12))));
  assert.deepEqual(await finish(tab), [expected]);
  assert.deepEqual(await finish(front), [expected]);
  await tab.bringToFront();
  await tab.evaluate(() => globalThis.start(4));
  assert.deepEqual(await finish(tab), [expected]);
  await Promise.all([tab.close(), front.close()]);
});

test('threads in Chromium: closed or left in the middle of calls, its workers end, and the next page computes', async (t) => {
  // By this driver, which counts the workers of a page that is gone.
  const other = await launch();
  t.after(() => other.close());
  for (const leave of [(tab) => tab.close(), (tab) => tab.goto('about:blank')]) {
    const tab = await open(other);
    await tab.evaluate(() => globalThis.forever());
    const workers = () => tab.workers().length;
    await until(
      () => workers() >= 4,
      () => `four workers, of which there are ${workers()}`,
    );
    await leave(tab);
    await until(
      () => workers() === 0,
      () => `no workers, of which there are ${workers()}`,
    );
    if (!tab.isClosed()) await tab.close();
  }
  const tab = await open(other);
  await tab.evaluate(() => globalThis.start(2));
  assert.deepEqual(await finish(tab), [expected]);
  await tab.close();
});
