// @build any
// Anything at all as options of init(), of qkv and of qkv/worker: an engine, or a promise that is rejected with a
// typed error; never a throw, and never a promise that nobody settles.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { init, QkvError } from 'qkv';
import { init as initWorker } from 'qkv/worker';
import { wasmFile } from '../../support/js/files.js';
import { inTime, PATIENCE } from '../../support/js/patience.js';
import { about, settings, watchdog } from './support/settings.js';
import { anything, make, planted } from './support/values.js';
import { World } from './support/world.js';

const usual = 100;
const codes = ['invalid_argument', 'out_of_range', 'load_failed', 'unsupported'];
const wasm = await WebAssembly.compile(wasmFile('simd'));
const engine = await init({ wasm });
const watch = watchdog();
after(watch.stop);

const option = fc.record({
  name: fc.constantFrom('variant', 'threads', 'deterministic', 'wasm', 'unknown'),
  value: anything,
  throws: fc.boolean(),
});
const shapes = fc.oneof(
  { weight: 1, arbitrary: fc.record({ whole: anything }) },
  { weight: 4, arbitrary: fc.record({ options: fc.array(option, { minLength: 1, maxLength: 2 }) }) },
); // prettier-ignore

const world = new World(
  () => engine,
  () => engine,
);

/** The options that a description stands for; a file is named, so that nothing is fetched or kept. */
function optionsOf(what) {
  if ('whole' in what) return make(what.whole, world);
  const options = { wasm };
  for (const { name, value, throws } of what.options) {
    const made = make(value, world);
    const get = () => {
      if (throws && name === 'variant') throw planted(name);
      return made;
    };
    Object.defineProperty(options, name, { get, enumerable: true, configurable: true });
  }
  return options;
}

function settle(promise) {
  assert.ok(promise instanceof Promise, 'a promise');
  return inTime(promise);
}

function expectRefusal(error) {
  assert.ok(error instanceof QkvError, `no QkvError: ${error?.stack ?? String(error)}`);
  assert.ok(codes.includes(error.code), error.message);
  assert.match(error.message, /^init: /);
}

test('fuzz, init: init() of qkv', async (t) => {
  t.diagnostic(about(usual));
  let loaded = 0;
  await fc.assert(
    fc.asyncProperty(shapes, async (what) => {
      watch.note(JSON.stringify(what));
      let made;
      try {
        made = await settle(init(optionsOf(what)));
      } catch (error) {
        expectRefusal(error);
        return;
      } finally {
        world.giveBack();
      }
      loaded += 1;
      assert.equal(made.alibiSlopes(4).length, 4);
      if (made !== engine) made.dispose();
    }),
    settings(usual),
  );
  t.diagnostic(`${loaded} of them made an engine`);
  assert.ok(loaded > 0);
  assert.equal(engine.alibiSlopes(4).length, 4);
});

test('fuzz, init: init() of qkv/worker', async (t) => {
  t.diagnostic(about(usual / 10));
  const names = fc.constantFrom('workers', 'worker', 'timeout', 'signal', 'variant', 'wasm');
  await fc.assert(
    fc.asyncProperty(names, anything, async (name, what) => {
      watch.note(`${name} ${JSON.stringify(what)}`);
      const value = make(what, world);
      // A pool of so many would be right, and take its time.
      if (name === 'workers' && typeof value === 'number' && value > 2) return;
      try {
        const made = await settle(
          initWorker({ deterministic: true, timeout: PATIENCE.wait / 2, [name]: value }),
        );
        assert.equal((await made.alibiSlopes(4)).length, 4);
        await made.dispose();
      } catch (error) {
        expectRefusal(error);
      } finally {
        world.giveBack();
      }
    }),
    settings(usual / 10),
  );
});
