// @build any
// What init() asks an engine before it chooses a build, and the codes that the module may answer with.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { probes, text } from '../../support/js/files.js';
import { resultOf } from '../../support/js/node.js';

test('probes: each probe has one opcode that it is about', () => {
  assert.deepEqual(Object.keys(probes).sort(), ['relaxed', 'simd', 'threads']);
  assert.ok(probes.simd.includes(Buffer.of(0xfd, 0x13)), 'f32x4.splat');
  assert.ok(probes.relaxed.includes(Buffer.of(0xfd, 0x85, 0x02)), 'f32x4.relaxed_madd');
  assert.ok(!probes.simd.includes(Buffer.of(0xfd, 0x85, 0x02)));
  assert.ok(probes.threads.includes(Buffer.of(0xfe, 0x01)), 'memory.atomic.wait32');
  assert.ok(probes.threads.includes(Buffer.of(0x02, 0x03, 0x01, 0x01)), 'a shared memory');
});

/** What WebAssembly.validate() says of the probes in a Node with these flags. */
const validateWith = (flags) =>
  resultOf(
    flags,
    `const probes = ${JSON.stringify({ simd: [...probes.simd], relaxed: [...probes.relaxed] })};
    const valid = (bytes) => WebAssembly.validate(Uint8Array.from(bytes));
    console.log(JSON.stringify({ simd: valid(probes.simd), relaxed: valid(probes.relaxed) }));`,
  );

test('probes: the simd and threads probes validate here', () => {
  assert.ok(WebAssembly.validate(probes.simd));
  assert.ok(WebAssembly.validate(probes.threads));
});

// Node 20 has relaxed SIMD behind a flag; from V8 11.4 on it is always there, and the flag is gone.
const [major, minor] = process.versions.v8.split('.').map(Number);
const alwaysOn = major > 11 || (major === 11 && minor >= 4);

test('probes: the relaxed probe validates if, and only if, the engine has relaxed SIMD', async () => {
  assert.deepEqual(await validateWith([]), { simd: true, relaxed: alwaysOn });
  const flags = alwaysOn ? [] : ['--experimental-wasm-relaxed-simd'];
  assert.deepEqual(await validateWith(flags), { simd: true, relaxed: true });
});

// An engine without SIMD can be had on this processor alone.
if (process.arch === 'x64') {
  test('probes: neither probe validates where the engine has no SIMD', async () => {
    assert.deepEqual(await validateWith(['--no-enable-sse4-1']), { simd: false, relaxed: false });
  });
}

test('probes: every status code of the core is a QkvErrorCode, and only JavaScript adds three', () => {
  const header = text('core/include/qkv/status.hpp');
  const table = /#define QKV_STATUS_CODES\(X\)(.*?)\n\n/s.exec(header)[1];
  const ofCore = Array.from(table.matchAll(/X\(k\w+, "(\w+)", /g), ([, name]) => name);
  const union = /export type QkvErrorCode =(.*?);/s.exec(text('wasm/src/api/errors.ts'))[1];
  const ofPackage = Array.from(union.matchAll(/'(\w+)'/g), ([, name]) => name);
  assert.ok(ofCore.length >= 6 && ofCore[0] === 'ok', `codes: ${ofCore}`);
  assert.deepEqual(
    [...ofCore.slice(1), 'busy', 'disposed', 'load_failed'].sort(),
    ofPackage.sort(),
  );
});
