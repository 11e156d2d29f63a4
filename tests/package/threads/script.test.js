// @build any
// dist/thread.js, the script of a thread, with a module made for the test in the place of the engine's: which function
// it enters, with what, on whose memory, and what it says.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { root } from '../../support/js/files.js';
import { distUrl } from '../../support/js/workers.js';

/**
 * Entry 1 writes down what it was given, and where; entry 2 calls an import, which no thread may. Entry 3 is told which
 * worker has failed.
 */
const WAT = `
  (module
    (import "env" "memory" (memory 1 1 shared))
    (import "a" "print" (func $print))
    (table (export "t") 4 4 funcref)
    (elem (i32.const 1) $note $call $abandon)
    (func $note (param $stack i32) (param $bytes i32)
      (i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))
      (i32.store (i32.const 4) (local.get $stack))
      (i32.store (i32.const 8) (local.get $bytes)))
    (func $call (param i32 i32) (call $print))
    (func $abandon (param $worker i32) (i32.store (i32.const 12) (local.get $worker))))`;

const temporary = mkdtempSync(join(tmpdir(), 'qkv-thread-'));
after(() => rmSync(temporary, { recursive: true, force: true }));
const [source, binary] = ['thread.wat', 'thread.wasm'].map((name) => join(temporary, name));
writeFileSync(source, WAT);
const assembler = join(root, 'node_modules/binaryen/bin/wasm-as');
execFileSync(process.execPath, [assembler, '-all', source, '-o', binary]);
const module = new WebAssembly.Module(readFileSync(binary));

/** A thread that was told to enter the table at `entry`; what it said and what it threw until it ended. */
async function runThread(entry, times = 1) {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
  const worker = new Worker(distUrl('thread.js'), { execArgv: [] });
  const said = [];
  const thrown = [];
  worker.on('message', (message) => said.push(message));
  worker.on('error', ({ message }) => thrown.push(message));
  for (let i = 0; i < times; ++i) {
    const stack = { stack: 4096, stackBytes: 512 };
    worker.postMessage({ module, memory, entry, abandon: 3, worker: 9, ...stack });
  }
  // A thread that does not end keeps nothing alive but this, so that the test fails and does not hang.
  worker.unref();
  const awake = setTimeout(() => undefined, 20_000);
  await new Promise((resolve) => worker.once('exit', resolve));
  clearTimeout(awake);
  return { said, thrown, words: new Int32Array(memory.buffer, 0, 4) };
}

describe('threads: the script of a thread', () => {
  test('says that it is ready and enters the function, with its stack, on the memory of all', async () => {
    const { said, thrown, words } = await runThread(1);
    assert.deepEqual(thrown, []);
    assert.deepEqual(said, ['qkv thread ready']);
    assert.deepEqual([...words], [1, 4096, 512, 0]);
  });

  test('serves once, and ends when it is sent home', async () => {
    const { said, words } = await runThread(1, 2);
    assert.deepEqual(said, ['qkv thread ready']);
    assert.equal(words[0], 1);
  });

  test('that calls an import says which, and that it serves no longer', async () => {
    const { thrown, words } = await runThread(2);
    assert.deepEqual(thrown, ['qkv: a thread called a.print']);
    assert.deepEqual([...words], [0, 0, 0, 9]);
  });
});
