// @build any
// qkv/worker: errors are those of the main thread, and come from where they were thrown.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import * as main from 'qkv';
import { init } from 'qkv/worker';
import { attention } from '../node/bad-input/attention.js';
import {
  forwardBlock,
  forwardLayer,
  multiHeadAttention,
  transformerBlock,
} from '../node/bad-input/layers.js';
import { linear, linearLayer } from '../node/bad-input/linear.js';
import { nameOf, place } from '../node/bad-input/harness.js';
import { operators } from '../node/bad-input/operators.js';
import { randomArray, zeros } from '../../support/js/arrays.js';
import { expectQkvError, expectRejects } from '../../support/js/check.js';
import { unreadable } from '../../support/js/unreadable.js';
import { overPort } from '../../support/js/workers.js';

const x = randomArray([1, 1, 2, 4], 1);
let engine;
let here;
before(async () => {
  engine = await init();
  here = await main.init();
});
after(() => engine.dispose());

/** What a call of either engine says of its mistake. */
const saidBy = async (work) => {
  try {
    await work();
    return undefined;
  } catch ({ name, code, message }) {
    return { name, code, message };
  }
};

describe('worker: the mistakes of the tables of bad input', () => {
  const onEngine = [
    ...[attention, multiHeadAttention, transformerBlock, linear, linearLayer],
    ...operators,
  ].filter(({ method }) => method.startsWith('Qkv.'));
  assert.ok(onEngine.length > 15);

  for (const { method, base, kinds } of onEngine) {
    const name = method.slice(4);
    test(`${name} is refused with the same words`, async () => {
      let compared = 0;
      for (const [path, kind] of Object.entries(kinds)) {
        for (const { value, with: others = {} } of kind(nameOf(path))) {
          // What only a world of engines can make is for the tests of handles.
          const makes = [value?.make, ...Object.values(others)].some(
            (v) => typeof v === 'function',
          );
          if (makes || typeof value === 'function' || typeof value === 'symbol') continue;
          let args = place(base({}), path, value);
          for (const [at, other] of Object.entries(others)) args = place(args, at, other);
          const expected = await saidBy(() => here[name](...Object.values(args)));
          const actual = await saidBy(() => engine[name](...Object.values(args)));
          if (actual?.message.includes('can be sent to a worker')) {
            expectQkvError(
              Object.assign(new main.QkvError(actual.code, actual.message)),
              name,
              'invalid_argument',
            );
          } else {
            assert.deepEqual(actual, expected, path);
          }
          compared += 1;
        }
      }
      assert.ok(compared > 3, `${compared} compared`);
    });
  }

  test('forward is refused with the same words', async () => {
    for (const [make, table] of [
      ['multiHeadAttention', [multiHeadAttention, forwardLayer]],
      ['transformerBlock', [transformerBlock, forwardBlock]],
    ]) {
      const { config, weights } = table[0].base({});
      const [there, layer] = [await engine[make](config, weights), here[make](config, weights)];
      for (const given of [zeros([3, 3]), 'x', null, { data: [1], shape: [1] }]) {
        const expected = await saidBy(() => layer.forward(given));
        assert.ok(expected);
        assert.deepEqual(await saidBy(() => there.forward(given)), expected);
      }
      const wrong = { casual: true };
      const expected = await saidBy(() => layer.forward(zeros([3, config.dModel]), wrong));
      assert.match(expected.message, /unknown key 'casual'/);
      assert.deepEqual(
        await saidBy(() => there.forward(zeros([3, config.dModel]), wrong)),
        expected,
      );
      await there.dispose();
      layer.dispose();
    }
  });
});

test('worker: an error has the stack of the worker, and no other cause than there', async () => {
  const error = await engine.gelu(x, { approximate: 'no' }).catch((e) => e);
  expectQkvError(error, 'gelu', 'invalid_argument', 'approximate');
  assert.match(error.stack, /worker-host\.js/);
  assert.equal(error.cause, undefined);
});

test('worker: causes come as text', async () => {
  const error = await init({ wasm: 'file:///nowhere/qkv.wasm' }).catch((e) => e);
  expectQkvError(error, 'init', 'load_failed');
  assert.ok(error.cause instanceof Error);
  assert.match(error.cause.message, /ENOENT/);
});

test('worker: what the worker throws that is no QkvError becomes one', async () => {
  const broken = () => ({
    info: engine.info,
    gelu() {
      throw new TypeError('broken');
    },
    rmsNorm() {
      throw new RangeError('Array buffer allocation failed');
    },
    entropy: () => () => 1,
  });
  const { engine: odd, close } = await overPort({ variant: 'simd' }, async () => broken());
  const error = await odd.gelu(x).catch((e) => e);
  assert.deepEqual(
    [error.name, error.code, error.message],
    ['QkvError', 'unsupported', 'gelu: broken'],
  );
  assert.deepEqual([error.cause.name, error.cause.message], ['TypeError', 'broken']);
  await expectRejects(odd.rmsNorm(x), 'rmsNorm', 'out_of_memory');
  assert.equal((await odd.entropy(x).catch((e) => e)).name, 'QkvError');
  await close();
});

describe('worker: what cannot be sent is refused by name:', () => {
  const says = 'expected a value that can be sent to a worker';
  const detached = () => {
    const array = zeros([2, 4]);
    structuredClone(array.data.buffer, { transfer: [array.data.buffer] });
    return array;
  };
  const circle = { numHeads: 1 };
  circle.mask = circle;
  const cases = [
    ['a function among the options', [x, x, x, { mask: () => 1 }], 'mask is a function'],
    ['a symbol', [x, x, Symbol('v')], 'v is a symbol'],
    ['a promise', [Promise.resolve(x), x, x], 'q is Promise'],
    ['a detached array', [x, detached(), x], 'k.data is a detached Float32Array'],
    ['an object that holds itself', [x, x, x, circle], 'is nested too deeply'],
    ['a function in an array', [x, x, x, { rows: [0, () => 1] }], 'rows[1] is a function'],
  ];
  for (const [what, args, ...told] of cases) {
    test(what, async () => {
      const call = engine.attention(...args);
      await expectRejects(call, 'attention', 'invalid_argument', ...told, says);
      const moved = engine.attention(...args.slice(0, 3), { ...args[3], transfer: true });
      await expectRejects(moved, 'attention', 'invalid_argument', ...told, says);
    });
  }

  test('what is given beyond the last argument, which has a number instead of a name', async () => {
    const call = engine.attention(x, x, x, {}, () => 1);
    await expectRejects(call, 'attention', 'invalid_argument', 'argument 5 is a function');
  });

  test("a tensor of the main thread's engine", async () => {
    const tensor = here.tensor([2, 4]);
    const told = ["q is a Tensor of the main thread's engine", says];
    await expectRejects(engine.attention(tensor, x, x), 'attention', 'invalid_argument', ...told);
    tensor.dispose();
  });

  test('a tensor or cache of another engine', async () => {
    const other = await init({ workers: 2 });
    const tensor = await other.tensor([1, 1, 2, 4]);
    const cache = await other.kvCache({ numKvHeads: 1, capacity: 4, dK: 4 });
    const of = (what) => `is a ${what} of another engine`;
    await expectRejects(engine.gelu(tensor), 'gelu', 'invalid_argument', `x ${of('tensor')}`);
    const call = engine.attention(x, x, x, { cache });
    await expectRejects(call, 'attention', 'invalid_argument', `cache ${of('cache')}`);
    assert.equal(cache.length, 0);
    await other.dispose();
  });

  test('arguments that cannot be read', async () => {
    const refused = engine.gelu(unreadable());
    await expectRejects(refused, 'gelu', 'invalid_argument', 'cannot be read');
  });

  test('unknown options of a method that has only those of every call', async () => {
    const told = ["unknown key 'singal'", "'signal'"];
    await expectRejects(engine.entropy(x, { singal: 1 }), 'entropy', 'invalid_argument', ...told);
    await expectRejects(
      engine.alibiSlopes(2, 3),
      'alibiSlopes',
      'invalid_argument',
      'options is 3',
    );
  });
});
