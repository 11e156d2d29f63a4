// @build any
// examples/cloudflare-worker with the package as packed: as a module of Node that may compile and evaluate no more than those hosts allow,
// and in a full run in workerd, which is their server.
import assert from 'node:assert/strict';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { init } from 'qkv';
import { load } from 'qkv/models';
import { packageJson, read, root, text } from '../support/js/files.js';
import { inFullRun } from '../support/js/full.js';
import { bundleWorker, serveWorker, workerd } from './consumers/matrix/workerd.js';
import { installExamples } from './examples.js';
import { isLocked } from './tools.js';

const weights = 'models/austen/austen.safetensors';
const qkv = await init();
const model = await load(qkv, { weights: read(weights) });
after(() => qkv.dispose());

let installed;
let folder;
before(async () => {
  installed = await installExamples();
  cpSync(join(root, weights), join(installed.project, weights));
  folder = join(installed.project, 'examples/cloudflare-worker');
});
after(() => installed?.remove());

/** What the worker has to answer, asked by `ask(path)`, by the package in Node. */
async function answersRightly(ask) {
  const said = 'Emma was very fond of Emma';
  const attention = await ask(`attention?text=${encodeURIComponent(said)}`);
  assert.equal(attention.headers.get('content-type'), 'application/json');
  const { tokens, heads } = await attention.json();
  assert.deepEqual(tokens, Array.from(said));
  const { numLayers, numHeads } = model.config;
  assert.equal(heads.length, numLayers * numHeads);
  const { layers } = model.forward(said, { inspect: { weights: true } });
  const [T, last] = [said.length, said.length - 1];
  for (const { layer, head, weights: row } of heads) {
    const exact = layers
      .get(layer)
      .weights.data.subarray((head * T + last) * T, (head + 1) * T * T);
    assert.equal(row.length, T);
    row.forEach((weight, key) =>
      assert.ok(Math.abs(weight - exact[key]) < 1e-2, `${layer}.${head}`),
    );
  }

  const greedy = await model.generate('It is a truth', { maxTokens: 30 }).text();
  const likeliest = await ask('continue?text=It%20is%20a%20truth&tokens=30&temperature=0');
  assert.equal(await likeliest.text(), greedy);
  const drawn = () => ask('continue?text=It&tokens=60&seed=7').then((answer) => answer.text());
  const [one, other] = [await drawn(), await drawn()];
  assert.equal(one.length, 60);
  assert.equal(other, one, 'the same seed');

  for (const [path, status, what] of [
    ['attention', 400, /^expected \?text=\n$/],
    ['attention?text=%C3%A9', 400, /the text has/],
    ['continue?text=It&tokens=none', 400, /maxTokens is NaN/],
    ['elsewhere?text=It', 404, /^expected \/attention or \/continue\n$/],
  ]) {
    const answer = await ask(path);
    assert.deepEqual([answer.status, what.test(await answer.text())], [status, true], path);
  }
}

/** What workers import as modules, for Node. */
const modulesOfNode = {
  name: 'modules',
  setup({ onLoad }) {
    const bytes = (path) =>
      `Uint8Array.from(atob('${readFileSync(path, 'base64')}'), (c) => c.charCodeAt(0))`;
    onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `export default new globalThis.ModuleOfTest(${bytes(path)});`,
    }));
    onLoad({ filter: /\.safetensors$/ }, ({ path }) => ({
      contents: `export default ${bytes(path)}.buffer;`,
    }));
  },
};

/** Runs `body` where nothing is compiled but what is a module, nothing is evaluated and nothing is fetched. */
async function asInWorkers(body) {
  const { WebAssembly: all, fetch, Function: make } = globalThis;
  const refuse = (name) => () => {
    throw new Error(`${name} is not allowed here`);
  };
  const Module = new Proxy(all.Module, { construct: refuse('new WebAssembly.Module') });
  const less = Object.fromEntries(Object.getOwnPropertyNames(all).map((name) => [name, all[name]]));
  for (const name of ['compile', 'compileStreaming', 'instantiateStreaming'])
    less[name] = refuse(`WebAssembly.${name}`);
  less.Module = Module;
  less.instantiate = (module, imports) =>
    module instanceof all.Module
      ? all.instantiate(module, imports)
      : refuse('WebAssembly.instantiate')();
  globalThis.ModuleOfTest = all.Module;
  globalThis.WebAssembly = less;
  globalThis.fetch = refuse('fetch');
  globalThis.Function = new Proxy(make, {
    construct: refuse('new Function'),
    apply: refuse('Function'),
  });
  try {
    await body();
  } finally {
    Object.assign(globalThis, { WebAssembly: all, fetch, Function: make });
    delete globalThis.ModuleOfTest;
  }
}

describe('examples: cloudflare-worker', () => {
  test('asks for this version of the package', () => {
    const { dependencies } = JSON.parse(text('examples/cloudflare-worker/package.json'));
    assert.deepEqual(dependencies, { qkv: packageJson.version.replace(/(.*)\.\d+$/, '^$1.0') });
  });

  test('answers with modules alone', async () => {
    await bundleWorker(folder, 'src/worker.js', [modulesOfNode]);
    await asInWorkers(async () => {
      const { default: worker } = await import(pathToFileURL(join(folder, 'dist/worker.js')));
      await answersRightly(async (path) => worker.fetch(new Request(`http://worker.test/${path}`)));
    });
  });

  inFullRun('cloudflare-worker in workerd', () =>
    test('answers in workerd', { skip: !isLocked(workerd) }, async () => {
      await bundleWorker(folder, 'src/worker.js');
      const server = await serveWorker(join(folder, 'dist'), 'worker.js');
      try {
        await answersRightly((path) => fetch(`${server.url}${path}`));
      } finally {
        server.close();
      }
    }),
  );
});
