// @build each
// init({ threads }): which build is loaded, with how many threads, and that info says so.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { expectRejects } from '../../support/js/check.js';
import { expectedVariant, wasmFile, wasmSources } from '../../support/js/files.js';
import { resultOf } from '../../support/js/node.js';

const isRelaxed = expectedVariant === 'relaxed';
// Each is about an engine that has, or has not, relaxed SIMD.
const testRelaxed = isRelaxed ? test : () => undefined;
const testSimdOnly = isRelaxed ? () => undefined : test;

/** The engine for these options says that it is this variant with so many threads. */
async function expectInfo(options, variant, threads) {
  const engine = await init(options);
  const { info } = engine;
  assert.deepEqual([info.variant, info.threads], [variant, threads]);
  assert.equal(info.isa, variant.startsWith('simd') ? 'wasm-simd128' : 'wasm-relaxed-simd');
  assert.ok(Object.isFrozen(info));
  // Where memory is shared, it is; elsewhere it is not.
  const { buffer } = engine.tensor([1]).view();
  assert.equal(buffer instanceof SharedArrayBuffer, variant.endsWith('-threads'));
  engine.dispose();
}

describe('without a file', () => {
  const threaded = `${expectedVariant}-threads`;
  const most = Math.min(availableParallelism(), 64);
  const cases = [
    [{}, expectedVariant, 1],
    [{ threads: 1 }, expectedVariant, 1],
    [{ threads: 2 }, threaded, 2],
    [{ threads: 5 }, threaded, 5],
    [{ threads: 'auto' }, most > 1 ? threaded : expectedVariant, most],
    [{ threads: 2, variant: 'auto' }, threaded, 2],
    [{ threads: 2, deterministic: true }, 'simd-threads', 2],
    [{ threads: 1, deterministic: true }, 'simd', 1],
    [{ variant: 'simd-threads' }, 'simd-threads', 1],
    [{ variant: 'simd-threads', threads: 3 }, 'simd-threads', 3],
    [{ variant: 'simd-threads', threads: 'auto', deterministic: true }, 'simd-threads', most],
    [{ variant: 'simd', threads: 1 }, 'simd', 1],
    [{ variant: 'simd' }, 'simd', 1],
    ...(isRelaxed
      ? [
          [{ variant: 'relaxed' }, 'relaxed', 1],
          [{ variant: 'relaxed-threads', threads: 2 }, 'relaxed-threads', 2],
        ]
      : []),
  ];
  for (const [options, ...expected] of cases) {
    test(`${JSON.stringify(options)} is ${expected.join(', ')}`, () =>
      expectInfo(options, ...expected));
  }

  testSimdOnly('relaxed-threads where relaxed SIMD is absent is told so', () =>
    expectRejects(
      init({ variant: 'relaxed-threads', threads: 2 }),
      ...['init', 'unsupported', "'relaxed-threads'", "expected 'auto' or 'simd-threads'"],
    ),
  );
});

describe("threads: 'auto' in a Node", () => {
  /** What init() says where there are so many cores; workers are counted and refused. */
  const withCores = (cores) =>
    resultOf(
      [],
      `import { init } from 'qkv';
      let workers = 0;
      globalThis.Worker = class {
        constructor() {
          workers += 1;
          throw new Error('refused');
        }
      };
      Object.defineProperty(globalThis, 'navigator', { value: ${cores}, configurable: true });
      const { info } = await init({ threads: 'auto', deterministic: true });
      console.log(JSON.stringify([info.variant, 1 + workers]));`,
    );

  test('that tells its cores as browsers do is that many', async () => {
    assert.deepEqual(await withCores('{ hardwareConcurrency: 3 }'), ['simd-threads', 3]);
    assert.deepEqual(await withCores('{ hardwareConcurrency: 1 }'), ['simd', 1]);
    assert.deepEqual(await withCores('{ hardwareConcurrency: 0 }'), ['simd', 1]);
    assert.deepEqual(await withCores('{ hardwareConcurrency: 200 }'), ['simd-threads', 64]);
  });

  test('that does not is as many as the system has', async () => {
    const [, workers] = await withCores('undefined');
    assert.equal(workers, Math.min(availableParallelism(), 64));
  });
});

describe('with a file', () => {
  const cases = [
    ['simd', { threads: 2 }, 'simd', 1],
    ['simd', { threads: 'auto' }, 'simd', 1],
    ['simd-threads', {}, 'simd-threads', 1],
    ['simd-threads', { threads: 2 }, 'simd-threads', 2],
    ['simd-threads', { variant: 'simd-threads', threads: 2 }, 'simd-threads', 2],
    ['simd-threads', { deterministic: true, threads: 2 }, 'simd-threads', 2],
    ...(isRelaxed
      ? [
          ['relaxed', { threads: 2 }, 'relaxed', 1],
          ['relaxed-threads', { threads: 2 }, 'relaxed-threads', 2],
          ['relaxed-threads', { variant: 'relaxed-threads' }, 'relaxed-threads', 1],
        ]
      : []),
  ];
  for (const [file, options, ...expected] of cases) {
    test(`the ${file} file and ${JSON.stringify(options)} are ${expected.join(', ')}`, () =>
      expectInfo({ wasm: wasmFile(file), ...options }, ...expected));
  }

  for (const [name, source] of Object.entries(wasmSources('simd-threads'))) {
    test(`it may be ${name}`, () => expectInfo({ wasm: source(), threads: 2 }, 'simd-threads', 2));
  }

  const refused = [
    ['simd', { variant: 'simd-threads' }],
    ['simd', { variant: 'simd-threads', threads: 2 }],
    ['simd-threads', { variant: 'simd' }],
    ...(isRelaxed
      ? [
          ['simd-threads', { variant: 'relaxed-threads' }],
          ['relaxed', { variant: 'relaxed-threads' }],
          ['relaxed-threads', { variant: 'relaxed' }],
          ['relaxed-threads', { variant: 'simd-threads' }],
        ]
      : []),
  ];
  for (const [file, options] of refused) {
    test(`the ${file} file is refused for ${JSON.stringify(options)}`, () =>
      expectRejects(
        init({ wasm: wasmFile(file), ...options }),
        ...['init', 'load_failed', `the ${file} build`, `'${options.variant}'`],
      ));
  }

  testRelaxed('the relaxed-threads file is refused for deterministic', () =>
    expectRejects(
      init({ wasm: wasmFile('relaxed-threads'), deterministic: true, threads: 2 }),
      ...['init', 'load_failed', 'the relaxed build', 'deterministic'],
    ),
  );

  testSimdOnly('the relaxed-threads file is told from a broken one', () =>
    expectRejects(
      init({ wasm: wasmFile('relaxed-threads'), threads: 2 }),
      ...['init', 'unsupported', 'is the relaxed build', 'no relaxed SIMD'],
    ),
  );
});
