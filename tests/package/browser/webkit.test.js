// @build any
// The package in WebKitGTK, whose engine is Safari's. Its bits are compared in tests/package/determinism.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { read } from '../../support/js/files.js';
import { inFullRun } from '../../support/js/full.js';
import { answer } from '../../support/js/server.js';
import { launchWebKit, noWebKit } from '../../support/js/webdriver.js';
import { packageTests } from './package-tests.js';

const austen = 'models/austen/austen.safetensors';

/** A test of a browser that not every machine has. */
const webKitTest = (title, body) =>
  test(`package in WebKitGTK: ${title}`, { skip: noWebKit }, body);

function register() {
  const of = packageTests('WebKitGTK', {
    ...{ launch: launchWebKit, variant: 'simd', skip: noWebKit },
    routes: { [`/${austen}`]: answer(read(austen), 'application/octet-stream') },
  });

  webKitTest(
    'threads that are asked for are not started where memory cannot be shared',
    async () => {
      const report = await of.pages.run(
        `import { init } from '/dist/index.js';
      const { info } = await init({ threads: 4 });
      report([info.variant, info.threads, typeof SharedArrayBuffer]);`,
        { isolated: true },
      );
      assert.deepEqual(
        report,
        ['simd', 1, 'undefined'],
        'with shared memory there is more to test',
      );
    },
  );

  webKitTest('qkv/worker gives the bits of the main thread in every method', async () => {
    const report = await of.pages.run(`
      import * as main from '/dist/index.js';
      import { init } from '/dist/worker.js';
      import { everything } from '/support/everything.js';
      const engine = await init({ workers: 2 });
      const [expected, actual] = [await everything(await main.init()), await everything(engine)];
      const differ = Object.keys({ ...expected, ...actual }).filter(
        (name) => String(bits(actual[name])) !== String(bits(expected[name])),
      );
      report({ differ, compared: Object.keys(expected).length, workers: engine.info.workers });
    `);
    assert.deepEqual(report.differ, []);
    assert.ok(report.compared > 35);
    assert.equal(report.workers, 2);
  });

  webKitTest('a model generates the text that it generates in Node', async () => {
    const options = { maxTokens: 40, temperature: 0 };
    const inPage = await of.pages.run(`
      import { init } from '/dist/index.js';
      import { load } from '/dist/models.js';
      const weights = await (await fetch('/${austen}')).blob();
      const model = await load(await init(), { weights });
      let said = '';
      for await (const { text } of model.generate('She was', ${JSON.stringify(options)})) said += text;
      report(said);
    `);
    const model = await load(await init({ variant: 'simd' }), {
      weights: new Blob([read(austen)]),
    });
    let inNode = '';
    for await (const { text: more } of model.generate('She was', options)) inNode += more;
    assert.equal(inPage.length, 40);
    assert.equal(inPage, inNode);
  });
}

inFullRun('the package in WebKitGTK', register);
