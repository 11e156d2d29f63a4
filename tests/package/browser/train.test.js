// @build any
// qkv/train in Chromium: in a page and in a worker of the page, which get the same weights.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { init } from 'qkv/train';
import { isolation, strictPolicy } from '../../support/js/chromium.js';
import { text } from '../../support/js/files.js';
import { startPages } from '../../support/js/pages.js';
import { answer } from '../../support/js/server.js';
import { hashAfter } from '../train/run-200.js';

const steps = 20;

const training = `
  import { init } from '/dist/train.js';
  import { hashAfter } from '/run-200.js';
  export async function trained(options) {
    const engine = await init(options);
    const { variant, threads } = engine.info; // of threads it tells those that are there
    const hash = hashAfter(engine, ${steps});
    engine.dispose();
    return { variant, threads, hash };
  }
`;
const worker = `
  import { trained } from '/training.js';
  addEventListener('message', ({ data }) =>
    trained(data).then(postMessage, ({ message }) => postMessage({ error: message })));
`;

/** Scripts of workers need the header of isolation themselves. */
const script = (body) => answer(body, 'text/javascript', isolation);

let pages;
before(async () => {
  pages = await startPages({
    '/training.js': script(training),
    '/worker.js': script(worker),
    '/run-200.js': script(text('tests/package/train/run-200.js')),
  });
});
after(() => pages?.close());

/** What 20 steps come to in the page and in its worker. */
const ask = (options, more) =>
  pages.run(
    `
    import { trained } from '/training.js';
    const options = ${JSON.stringify(options)};
    const worker = new Worker('/worker.js', { type: 'module' });
    const there = new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = () => reject(new Error('the worker cannot be loaded'));
    });
    worker.postMessage(options);
    report({ there: await there, here: await trained(options) });
  `,
    { policy: strictPolicy, ...more },
  );

describe('train in Chromium:', () => {
  test(`a worker gets the weights of the page in ${steps} steps, with relaxed SIMD`, async () => {
    const { there, here } = await ask({});
    assert.deepEqual(there, here);
    assert.deepEqual([here.variant, here.threads], ['relaxed', 1]);
  });

  for (const threads of [1, 2]) {
    test(`a worker gets those of Node with the simd build, ${threads} threads`, async () => {
      const engine = await init({ deterministic: true });
      const hash = hashAfter(engine, steps);
      engine.dispose();
      const { there, here } = await ask({ deterministic: true, threads }, { isolated: true });
      const variant = threads === 1 ? 'simd' : 'simd-threads';
      assert.deepEqual(there, { variant, threads, hash });
      assert.deepEqual(here, there);
    });
  }
});
