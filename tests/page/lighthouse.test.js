// Lighthouse's judgement of the built page, as far as it does not depend on how fast this machine is.
import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, before, test as testWithin } from 'node:test';
import { serve } from '../../tools/serve.js';
import { load } from '../release/tools.js';
import { PATIENCE } from '../support/js/patience.js';
import { launch } from './support/page.js';

let server, browser, port, lighthouse;
before(async () => {
  ({ default: lighthouse } = await load('lighthouse'));
  server = await serve({ port: 0 });
  port = await freePort();
  browser = await launch([`--remote-debugging-port=${port}`]);
});
after(async () => {
  await browser?.close();
  await server?.close();
});

/** A port that nobody listens on: Lighthouse drives the browser beside playwright, over a socket. */
async function freePort() {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address();
  await new Promise((resolve) => taken.close(resolve));
  return port;
}

async function judge(settings) {
  const { lhr } = await lighthouse(server.url, { port, logLevel: 'silent', ...settings });
  assert.equal(lhr.runtimeError, undefined, lhr.runtimeError?.message);
  return lhr;
}

/** What cost points, for people. */
const complaints = ({ audits, categories }, category) =>
  categories[category].auditRefs
    .filter(({ id, weight }) => weight > 0 && (audits[id].score ?? 1) < 1)
    .map(({ id }) => `${id}: ${audits[id].displayValue ?? audits[id].title}`);

const test = (name, body) => testWithin(name, { timeout: PATIENCE.test }, body);

test('page: Lighthouse gives 100 for accessibility and best practices', async () => {
  const lhr = await judge({ onlyCategories: ['accessibility', 'best-practices'] });
  for (const category of ['accessibility', 'best-practices']) {
    const score = Math.round(100 * lhr.categories[category].score);
    assert.equal(score, 100, complaints(lhr, category).join('; '));
  }
});

/**
 * The slow network of Lighthouse's phone (150 ms a round trip, 1.6 Mbit/s), and processors that take no time: what is
 * left are bytes and round trips, one after the other. Times that a processor takes are measured here, so those would
 * be of this machine and of whatever else runs on it. A first view that came from one more round trip, or from 30 kB
 * more, is 150 ms later.
 */
const NETWORK = { throttling: { cpuSlowdownMultiplier: 0 } };
const AUDITS = [
  ...['first-contentful-paint', 'largest-contentful-paint', 'cumulative-layout-shift'],
  ...['total-byte-weight', 'network-requests', 'dom-size-insight', 'redirects'],
];
const SLOWEST = { 'first-contentful-paint': 2000, 'largest-contentful-paint': 2000 };

test('page: by its bytes and round trips the phone of Lighthouse sees it at once', async () => {
  const { audits, configSettings } = await judge({ onlyAudits: AUDITS, ...NETWORK });
  assert.equal(configSettings.throttling.rttMs, 150, 'the slow network of Lighthouse');
  const value = (id) => audits[id].numericValue;
  const { items } = audits['network-requests'].details;
  console.log(
    `Lighthouse: ${items.length} requests, ${value('total-byte-weight')} bytes, ` +
      Object.keys(SLOWEST)
        .map((id) => `${id} ${value(id).toFixed(0)} ms`)
        .join(', '),
  );
  for (const [id, most] of Object.entries(SLOWEST)) {
    assert.ok(value(id) > 0 && value(id) <= most, `${id}: ${value(id)} ms`);
  }
  assert.ok(value('cumulative-layout-shift') < 0.01, 'nothing jumps');
});
