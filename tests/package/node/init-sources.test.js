// @build each
// Everything that init({ wasm }) takes.
import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { after, before, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { init } from 'qkv';
import { init as inline } from 'qkv/inline';
import { problem } from '../../support/js/arrays.js';
import { asIfOnPage } from '../../support/js/as-if-on-page.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { expectedVariant, root, wasmFile, wasmSources } from '../../support/js/files.js';
import { answer, serve } from '../../support/js/server.js';

const { q, k, v } = problem();
const bytes = wasmFile('simd');
const file = new URL('../../../dist/qkv-simd.wasm', import.meta.url);
let server;
let expected;

before(async () => {
  server = await serve((path) =>
    path === '/qkv.wasm' ? answer(bytes, 'application/wasm') : undefined,
  );
  expected = (await init({ variant: 'simd' })).attention(q, k, v).output.data;
});
after(() => server.close());

/** A copy in the middle of a larger buffer. */
function inTheMiddle() {
  const larger = new Uint8Array(bytes.length + 100).fill(0xee);
  larger.set(bytes, 33);
  return larger.subarray(33, 33 + bytes.length);
}

/** As of jsdom: what a URL does, and no instance of this realm's class. */
class ForeignURL {
  constructor({ href }) {
    this.href = href;
  }
  get [Symbol.toStringTag]() {
    return 'URL';
  }
  toString() {
    return this.href;
  }
}

const sources = {
  ...wasmSources('simd'),
  'an http: URL': () => new URL(`${server.url}/qkv.wasm`),
  'the text of an http: URL': () => `${server.url}/qkv.wasm?text`,
  'a data: URL': () => `data:application/wasm;base64,${bytes.toString('base64')}`,
  'a Buffer of Node': () => Buffer.from(bytes),
  'a DataView': () => new DataView(new Uint8Array(bytes).buffer),
  'a view of a part of a buffer': inTheMiddle,
  'a promise of a Response': () => fetch(`${server.url}/qkv.wasm`),
  'a promise of bytes': () => Promise.resolve(new Uint8Array(bytes)),
  'an ArrayBuffer of another realm': () => {
    const foreign = runInNewContext('new ArrayBuffer(length)', { length: bytes.length });
    new Uint8Array(foreign).set(bytes);
    return foreign;
  },
  'a WebAssembly.Module of another realm': () =>
    runInNewContext('new WebAssembly.Module(bytes)', { bytes }),
  'a URL of another realm': () => new ForeignURL(file),
  'a Uint8Array of another realm': () => {
    const foreign = runInNewContext('new Uint8Array(length)', { length: bytes.length });
    foreign.set(bytes);
    return foreign;
  },
};

for (const [name, source] of Object.entries(sources)) {
  test(`init: wasm may be ${name}, which itself says its variant`, async () => {
    const engine = await init({ wasm: source() });
    assert.equal(engine.info.variant, 'simd');
    expectSame(engine.attention(q, k, v).output.data, expected);
    engine.dispose();
  });
}

test('init: the bytes are not modified', async () => {
  const given = new Uint8Array(bytes);
  (await init({ wasm: given })).dispose();
  assert.ok(bytes.equals(given));
});

test('init: one WebAssembly.Module serves many engines', async () => {
  const wasm = new WebAssembly.Module(bytes);
  const one = await init({ wasm });
  const other = await init({ wasm, variant: 'simd' });
  assert.notEqual(one, other);
  one.dispose();
  expectSame(other.attention(q, k, v).output.data, expected);
  other.dispose();
});

if (expectedVariant === 'relaxed') {
  test('init: the relaxed file is recognised', async () => {
    const engine = await init({ wasm: wasmFile('relaxed') });
    assert.equal(engine.info.variant, 'relaxed');
    assert.equal(engine.info.isa, 'wasm-relaxed-simd');
    engine.dispose();
  });
} else {
  test('init: the relaxed file fails with a reason where relaxed SIMD is absent', async () => {
    const bytes = wasmFile('relaxed');
    const type = { headers: { 'content-type': 'application/wasm' } };
    for (const wasm of [bytes, new Response(bytes), new Response(bytes, type)]) {
      const says = ['is the relaxed build', 'no relaxed SIMD', 'the simd build'];
      await expectRejects(init({ wasm }), 'init', 'unsupported', ...says);
    }
  });

  test('init: a broken relaxed file is told from a sound one of the wrong build', async () => {
    const cut = wasmFile('relaxed').subarray(0, 20_000);
    await expectRejects(init({ wasm: cut }), 'init', 'load_failed', 'does not compile');
  });
}

test('init: a path is one in Node, also where a test runner has made a page of it', async () => {
  for (const wasm of [`${root}/dist/qkv-simd.wasm`, relative('.', `${root}/dist/qkv-simd.wasm`)]) {
    for (const how of [(run) => run(), asIfOnPage]) {
      const engine = await how(() => init({ wasm, shared: false }));
      assert.equal(engine.info.variant, 'simd');
      engine.dispose();
    }
  }
});

test('init: without code generation while the program runs, the error says how to give it a module', async () => {
  const { compile } = WebAssembly;
  WebAssembly.compile = () =>
    Promise.reject(
      new WebAssembly.CompileError(
        'WebAssembly.compile(): Wasm code generation disallowed by embedder',
      ),
    );
  try {
    for (const from of [inline, init]) {
      const given = from === inline ? {} : { wasm: wasmFile('simd') };
      const error = await from({ ...given, shared: false }).catch((reason) => reason);
      assert.equal(error.code, 'load_failed');
      assert.match(
        error.message,
        /import wasm from 'qkv\/qkv-simd\.wasm' and call init\(\{ wasm \}\)/,
      );
      assert.doesNotMatch(error.message, /import qkv\/inline/);
    }
  } finally {
    WebAssembly.compile = compile;
  }
});
