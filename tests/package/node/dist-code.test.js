// @run full, or after changes in core wasm/bindings wasm/CMakeLists.txt tools/build tools/bootstrap
// @build any
// The code of the .wasm files, disassembled: the instructions of a build are those that its probes ask for, and its memory is what init() expects.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { root } from '../../support/js/files.js';
import { buildsOf, modules, single } from './wasm-names.js';

const disassemble = async (name) => {
  const wasmDis = join(root, 'node_modules/binaryen/bin/wasm-dis');
  const file = join(root, `dist/${name}.wasm`);
  const args = [wasmDis, '--all-features', file];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 28 });
  return stdout;
};
const disassembled = await Promise.all(single.map(disassemble));
const builds = Object.fromEntries(single.map((name, i) => [name, disassembled[i]]));

test('dist: the builds differ: relaxed opcodes are in the relaxed files alone', () => {
  for (const module of Object.values(modules).filter((of) => buildsOf(of).length > 1)) {
    const [simd, relaxed] = ['simd', 'relaxed'].map((kind) => builds[`${module}-${kind}`]);
    for (const wat of [simd, relaxed]) assert.match(wat, /f32x4\.mul/);
    assert.doesNotMatch(simd, /relaxed_/);
    assert.match(relaxed, /f32x4\.relaxed_madd/);
    const others = relaxed.match(/[a-z0-9]+\.relaxed_(?!madd)\w+/g);
    assert.equal(others, null, 'the probe asks for relaxed_madd alone');
  }
});

for (const [name, wat] of Object.entries(builds)) {
  test(`dist: ${name} has what its probes ask for and no more`, () => {
    assert.equal(wat.match(/\btry_table\b|\(try\b|\(throw\b|\bstruct\.new/g), null);
    assert.doesNotMatch(wat, /\bshared\b/);
    // It traps where memory is not shared: a thread of the pool waits, and the start of an instance while another one starts.
    assert.equal(wat.match(/memory\.atomic\.wait/g).length, 2);
  });

  test(`dist: ${name} imports its memory and what embind registers with, and nothing else`, () => {
    const imports = Array.from(wat.matchAll(/\(import "(\S+)" "(\S+)"/g), ([, from, what]) => ({
      ...{ from, what },
    }));
    const memories = imports.filter(({ what }) => what === 'memory');
    assert.equal(memories.length, 1);
    assert.ok(imports.length > 5);
    for (const { from, what } of imports) {
      assert.equal(from, 'env');
      assert.match(what, /^(memory|_embind_register_\w+)$/);
    }
  });

  test(`dist: the memory of ${name} starts below 2 MB and may grow to 4 GB`, () => {
    const memory = /\(memory \$\S+ (\d+) (\d+)\)/.exec(wat);
    assert.ok(Number(memory[1]) <= 32, `${memory[1]} pages`);
    assert.equal(Number(memory[2]), 65_536);
  });
}
