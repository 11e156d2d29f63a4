// @build each
// A .wasm that cannot be had, is something else, or is the wrong one.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { init } from 'qkv';
import { hashOf, schema } from '../../../tools/abi.js';
import { problem } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import {
  expectedVariant,
  foreignWasm,
  packageJson,
  root,
  wasmFile,
  withText,
  withVersion,
} from '../../support/js/files.js';
import { resultOf } from '../../support/js/node.js';
import { answer, serve } from '../../support/js/server.js';

const simd = wasmFile('simd');
const page = '<!doctype html><title>App</title>';
const remedy = 'in the folder of its index.js';
let server;

before(async () => {
  const answers = {
    '/page.wasm': answer(page, 'text/html; charset=utf-8'),
    '/page-as-wasm.wasm': answer(page, 'application/wasm'),
    '/broken.wasm': { ...answer('oops', 'text/plain'), status: 500 },
    '/plain.wasm': answer(simd, 'application/octet-stream'),
    '/parameter.wasm': answer(simd, 'application/wasm; charset=utf-8'),
    '/untyped.wasm': { body: simd },
    '/truncated.wasm': answer(simd.subarray(0, 20_000), 'application/wasm'),
    '/cut-off.wasm': answer(simd, 'text/plain', {
      'content-length': String(simd.length + 9),
      connection: 'close',
    }),
  };
  server = await serve((path) => answers[path]);
});
after(() => server.close());

const rejects = (wasm, ...says) => expectRejects(init({ wasm }), 'init', 'load_failed', ...says);

/** An address of the server, which is known when the tests run. */
class At {
  constructor(path) {
    this.path = path;
  }
  get url() {
    return `${server.url}${this.path}`;
  }
}
const at = (path) => new At(path);

const missing = new URL('./missing.wasm', import.meta.url);
const hash = hashOf(schema);
const otherHash = hash.replace(/./g, (digit) => (digit === '0' ? '1' : '0'));
const module = (bytes) => new WebAssembly.Module(bytes);
/** What is given, an address of the server as its path, and what the message says besides that. */
const refused = [
  ['a missing file', missing, missing.href, 'ENOENT', remedy],
  ...['./qkv-simd.wasm', '/lib/qkv-simd.wasm', 'qkv-simd.wasm'].map((path) => [
    ...[`the path ${path} to nothing`, path, path, 'could not be read', 'ENOENT', remedy],
  ]),
  ['a 404', at('/nowhere.wasm'), '404', 'text/html', remedy],
  ['a 500', at('/broken.wasm'), '500', 'text/plain'],
  ['a page', at('/page.wasm'), '(200, text/html', '<!doctype', '\\0asm', remedy],
  ['a page of another type', at('/page-as-wasm.wasm'), 'does not compile', remedy],
  ['a file cut short', at('/truncated.wasm'), 'does not compile'],
  ['a connection that breaks off', at('/cut-off.wasm')],
  ['bytes cut short', simd.subarray(0, 20_000), 'the given buffer', 'does not compile'],
  ['no bytes', new Uint8Array(0), 'the given buffer'],
  ['the bytes of something else', foreignWasm, 'not of this package'],
  ['the module of something else', module(foreignWasm), 'not of this package'],
  ['bytes of another version', withVersion('0.0.9', simd), 'version 0.0.9', packageJson.version],
  ['a module of another version', module(withVersion('9.9.9', simd)), '9.9.9', packageJson.version],
  ['another schema', withText(hash, otherHash, simd), hash, otherHash, 'another build'],
];
for (const [what, wasm, ...says] of refused) {
  test(`init: ${what} is refused, and the message says what it is`, () =>
    wasm instanceof At ? rejects(wasm.url, wasm.url, ...says) : rejects(wasm, ...says));
}

test('init: a server that is not there is named', async () => {
  const gone = await serve(() => undefined);
  await gone.close();
  await rejects(`${gone.url}/qkv.wasm`, gone.url, 'could not be read', 'ECONNREFUSED', remedy);
});

describe('init: in a bundle of CommonJS or iife, which has no address', () => {
  const folder = mkdtempSync(join(tmpdir(), 'qkv-bundled-'));
  after(() => rmSync(folder, { recursive: true }));
  /** What a program prints that calls init of an entry. */
  async function printed(entry, format) {
    const outfile = join(folder, `${entry.replace('/', '-')}-${format}.cjs`);
    const contents = `import { init } from '${entry}';
init().then(({ info }) => console.log(info.variant), ({ code, message }) => console.log(code, message));`;
    const stdin = { contents, resolveDir: root };
    const options = { bundle: true, format, platform: 'node', outfile, logLevel: 'error' };
    await build({ stdin, ...options });
    return (await promisify(execFile)(process.execPath, [outfile])).stdout;
  }
  for (const format of ['cjs', 'iife']) {
    test(`${format}: qkv/inline works, qkv and qkv/train name it, qkv/worker names a worker of yours`, async () => {
      assert.match(await printed('qkv/inline', format), /^(simd|relaxed)\n$/);
      for (const entry of ['qkv', 'qkv/train']) {
        const said = await printed(entry, format);
        assert.match(said, /^load_failed init: this script has no address/);
        assert.match(said, /import qkv\/inline/);
      }
      assert.match(
        await printed('qkv/worker', format),
        /^load_failed .*start a worker that calls serve/,
      );
    });
  }
});

test('init: the right bytes work whatever type the server gives them', async () => {
  for (const path of ['/plain.wasm', '/parameter.wasm', '/untyped.wasm']) {
    const engine = await init({ wasm: at(path).url });
    assert.equal(engine.info.variant, 'simd');
    engine.dispose();
  }
});

test('init: a Response that was read already is refused', async () => {
  for (const headers of [{}, { 'content-type': 'application/wasm' }]) {
    const response = new Response(simd, { headers });
    await response.arrayBuffer();
    await rejects(response, 'the response');
  }
});

test('init: a promise of a Response that fails is a failed load, with the reason', async () => {
  const cause = new TypeError('fetch failed');
  const loading = init({ wasm: Promise.reject(cause) });
  await expectRejects(loading, 'init', 'load_failed', 'fetch failed');
  assert.equal((await loading.catch((error) => error)).cause, cause);
});

// With the relaxed build alone: elsewhere its engine does not exist.
const testRelaxed = expectedVariant === 'relaxed' ? test : () => undefined;

testRelaxed('init: the simd file is refused when relaxed is asked for', async () => {
  const loading = init({ wasm: simd, variant: 'relaxed' });
  await expectRejects(loading, 'init', 'load_failed', 'the simd build', "'relaxed'");
});

testRelaxed(
  'init: the relaxed file is refused when simd is asked for, or deterministic',
  async () => {
    const wasm = wasmFile('relaxed');
    await expectRejects(
      init({ wasm, variant: 'simd' }),
      'init',
      'load_failed',
      'the relaxed build',
      "'simd'",
    );
    const exact = init({ wasm, deterministic: true });
    await expectRejects(exact, 'init', 'load_failed', 'the relaxed build', 'deterministic');
  },
);

/** What init(options) says in a Node with these flags. */
const saysWith = (flags, options = '') =>
  resultOf(
    flags,
    `import { init } from 'qkv';
    console.log(JSON.stringify(await init(${options}).then(
      (engine) => engine.info.variant,
      ({ name, code, message }) => ({ name, code, message }),
    )));`,
  );

test('init: an engine without WebAssembly SIMD is told so, whatever is asked for', async () => {
  for (const options of [
    '',
    "{ variant: 'simd' }",
    "{ variant: 'relaxed' }",
    '{ deterministic: true }',
  ]) {
    const { name, code, message } = await saysWith(['--no-enable-sse4-1'], options);
    assert.deepEqual({ name, code }, { name: 'QkvError', code: 'unsupported' });
    assert.match(message, /^init: this engine has no WebAssembly SIMD .*expected/);
  }
});

test('init: an engine without WebAssembly is told so', async () => {
  const { code, message } = await saysWith(['--jitless']);
  assert.equal(code, 'unsupported');
  assert.match(message, /^init: this engine has no WebAssembly/);
});

test('init: relaxed asked for where it is absent is told so; with the flag it is there', async () => {
  const { code, message } = await saysWith([], "{ variant: 'relaxed' }");
  assert.equal(code, 'unsupported');
  assert.match(message, /^init: variant is 'relaxed' .*expected 'auto' or 'simd'/);
  const flags = ['--experimental-wasm-relaxed-simd'];
  assert.equal(await saysWith(flags, "{ variant: 'relaxed' }"), 'relaxed');
  assert.equal(await saysWith(flags), 'relaxed');
  assert.equal(await saysWith([]), 'simd');
});

test('init: after every failure the engines still load and compute', async () => {
  const { q, k, v } = problem();
  const [auto, again] = [await init(), await init({ wasm: simd })];
  assert.equal(auto.info.variant, expectedVariant);
  expectSame(
    again.attention(q, k, v).output.data,
    (await init({ deterministic: true })).attention(q, k, v).output.data,
  );
  again.dispose();
});
