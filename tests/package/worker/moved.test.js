// @build any
// qkv/worker where a development server has copied its module away from its scripts: the server is asked where they are.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { PuppetPort, soon } from '../../support/js/puppet.js';

/** What was fetched, and which scripts were started. */
const [fetched, started] = [[], []];
const { fetch } = globalThis;
let folder;
let init;

class Started extends PuppetPort {
  constructor(script, options) {
    super();
    started.push([String(script), options]);
  }
  postMessage(message, transfer) {
    super.postMessage(message, transfer);
    if (this.sent.length === 1) queueMicrotask(() => this.ready());
  }
  terminate() {}
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'qkv-moved-'));
  const copies = join(folder, 'node_modules/.vite/deps');
  mkdirSync(copies, { recursive: true });
  for (const name of ['worker.js', 'errors.js'])
    copyFileSync(join(root, 'dist', name), join(copies, name));
  globalThis.fetch = async (address) => {
    fetched.push(address);
    const name = /@id\/qkv\/(.+)\?url&import$/.exec(address)?.[1];
    return new Response(`export default "/@fs/elsewhere/${name}.js"`);
  };
  globalThis.Worker = Started;
  // As the server names the copies that it makes.
  ({ init } = await import(`${pathToFileURL(join(copies, 'worker.js'))}?v=0a1b2c3d`));
});
after(() => {
  globalThis.fetch = fetch;
  delete globalThis.Worker;
  rmSync(folder, { recursive: true });
});

for (const [wanted, script] of [
  [{}, 'worker-host'],
  [{ models: true }, 'models-host'],
  [{ train: true }, 'train-host'],
  [{ models: true, train: true }, 'train-host'],
]) {
  test(`worker: with ${JSON.stringify(wanted)}, a moved module asks for ${script} and starts what is named`, async () => {
    fetched.length = started.length = 0;
    const engine = await init({ ...wanted, timeout: soon });
    const base = pathToFileURL(folder).href;
    assert.deepEqual(fetched, [`${base}/@id/qkv/${script}?url&import`]);
    const address = new URL(`/@fs/elsewhere/${script}.js`, base).href;
    assert.deepEqual(started, [[address, { type: 'module' }]]);
    await engine.dispose();
  });
}
