// @build any
// qkv/worker: the methods of an engine are functions that need no `this`, and there is nothing beside them.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { init as initHere } from 'qkv';
import { init } from 'qkv/worker';
import { randomArray } from '../../support/js/arrays.js';
import { expectRejects, expectSame } from '../../support/js/check.js';
import { operatorCalls } from '../../support/js/everything.js';
import { puppetEngine } from '../../support/js/puppet.js';

const here = await initHere();
const engine = await init();
after(() => engine.dispose());
const x = randomArray([2, 3], 1);

describe('worker: a method that was taken off its engine', () => {
  for (const method of new Set(operatorCalls.map(([name]) => name))) {
    test(method, async () => {
      const { [method]: taken } = engine;
      const [, ...args] = operatorCalls.find(([name]) => name === method);
      const numbersOf = (result) =>
        result.data ?? result.output?.data ?? result.entropy?.data ?? result;
      expectSame(numbersOf(await taken(...args)), numbersOf(here[method](...args)));
    });
  }

  test('makes handles, and tells of memory', async () => {
    const { tensor, kvCache, memory } = engine;
    const [data, cache] = [
      await tensor([2], [1, 2]),
      await kvCache({ numKvHeads: 1, capacity: 1, dK: 1 }),
    ];
    assert.deepEqual([...(await data.toNdArray()).data], [1, 2]);
    assert.equal((await memory()).handles, 2);
    await Promise.all([data.dispose(), cache.dispose()]);
  });

  test('ends the engine', async () => {
    const { engine: other } = await puppetEngine(init, 1);
    const { dispose, gelu } = other;
    await dispose();
    await dispose();
    await expectRejects(gelu(x), 'gelu', 'disposed', 'the engine is disposed');
  });
});

test('worker: an engine has the methods of one of qkv, loadModel, info, and no others', async () => {
  const names = (object) => {
    const found = new Set();
    for (let at = object; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
      for (const name of Object.getOwnPropertyNames(at))
        if (name !== 'constructor') found.add(name);
    }
    return [...found].sort();
  };
  assert.deepEqual(names(engine), [...names(here), 'loadModel'].sort());
  assert.equal(Object.prototype.toString.call(engine), '[object AsyncQkv]');
  assert.equal(typeof engine[Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')], 'function');
});
