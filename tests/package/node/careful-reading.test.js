// @build any
// Arguments that answer differently the second time, lie about themselves, or take something away while they are
// read: what the fuzzer found (tests/core/fuzz), one by one.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { init } from 'qkv';
import { problem, randomArray } from '../../support/js/arrays.js';
import { expectSame, expectThrows } from '../../support/js/check.js';
import { config, context, weights, x } from '../../support/js/small-layer.js';
import { unreadable } from '../../support/js/unreadable.js';

const engine = await init({ deterministic: true });
const { q, k, v } = problem();
const expected = engine.attention(q, k, v).output.data;

/** A getter that answers `first`, and `then` ever after. */
const turning = (object, name, first, then) => {
  let reads = 0;
  const get = () => (reads++ === 0 ? first : then);
  return Object.defineProperty({ ...object }, name, { get, enumerable: true });
};
/** `object` with a getter that does something before it answers. */
const doing = (object, name, deed) => {
  const value = object[name];
  const get = () => {
    deed();
    return value;
  };
  return Object.defineProperty({ ...object }, name, { get, enumerable: true });
};

describe('arguments: what is checked is what is used', () => {
  test('a shape, its extents, and an option that change', () => {
    const far = [2 ** 14, 2 ** 14];
    const shape = new Proxy([2, 3], {
      reads: 0,
      get(target, name) {
        return name === '0' && this.reads++ > 0 ? 2 ** 20 : target[name];
      },
    });
    const data = randomArray([2, 3], 1).data;
    const right = engine.softmax({ data, shape: [2, 3] });
    for (const input of [{ data, shape }, turning({ data }, 'shape', [2, 3], far)]) {
      const { data: got, shape: of } = engine.softmax(input);
      expectSame(got, right.data);
      assert.deepEqual([...of], [2, 3]);
    }
    const rows = turning({ returnWeights: true }, 'rows', [1, 3], [0, 10 ** 6]);
    assert.deepEqual([...engine.attention(q, k, v, rows).weights.shape], [2, 4, 2, 7]);
    const late = turning({}, 'returnWeights', false, true);
    assert.deepEqual(Object.keys(engine.attention(q, k, v, late)), ['output']);
  });

  test('a subclass that lies about its length and its memory', () => {
    class Liar extends Float32Array {
      get length() {
        return 2 ** 20;
      }
      get buffer() {
        return new ArrayBuffer(8);
      }
    }
    const { output } = engine.attention({ ...q, data: Liar.from(q.data) }, k, v);
    expectSame(output.data, expected);
    const bytes = Object.defineProperty(new Uint8Array(8), Symbol.toStringTag, {
      value: 'Float32Array',
    });
    const call = () => engine.gelu({ data: bytes, shape: [8] });
    expectThrows(call, 'gelu', 'invalid_argument', 'x is { data:');
  });

  test('the shape of a tensor, which nobody may set', () => {
    const tensor = engine.tensor([2, 3]);
    assert.throws(() => (tensor.shape = [2 ** 20]), TypeError);
    const heir = Object.create(tensor, { shape: { value: [2 ** 20] } });
    for (const fake of [heir, new Proxy(tensor, {})]) {
      expectThrows(() => engine.gelu(fake), 'gelu', 'invalid_argument', 'x is');
    }
    tensor.dispose();
  });

  test('a list that is too long is not read', () => {
    let reads = 0;
    const get = (target, name) => {
      reads++;
      return target[name];
    };
    for (const name of ['rows', 'window']) {
      const list = new Proxy(new Array(2 ** 20), { get });
      const call = () => engine.attention(q, k, v, { returnWeights: true, [name]: list });
      const told = `${name} is [more than 8 elements], expected [`;
      expectThrows(call, 'attention', 'invalid_argument', told);
    }
    const offset = new Proxy(new Array(2 ** 20), { get });
    const call = () => engine.attention(q, k, v, { causalOffset: offset });
    const told = 'causalOffset is an array without causal';
    expectThrows(call, 'attention', 'invalid_argument', told);
    assert.ok(reads < 20, `${reads} reads`);
    for (const name of ['rows', 'window', 'causalOffset']) {
      const refused = () => engine.attention(q, k, v, { [name]: unreadable() });
      expectThrows(refused, 'attention', 'invalid_argument', name);
    }
  });

  test('a list that is just not too long is told in full', () => {
    const rows = [1, 2, 3, 4, 5, 6, 7, 8];
    const call = (list) => () => engine.attention(q, k, v, { returnWeights: true, rows: list });
    expectThrows(call(rows), 'attention', 'invalid_argument', 'rows is [1,2,3,4,5,6,7,8]');
    const told = 'rows is [more than 8 elements]';
    expectThrows(call([...rows, 9]), 'attention', 'invalid_argument', told);
  });

  test('a result has a shape of its own', () => {
    const array = { data: new Float32Array(16), shape: [1, 2, 2, 4] };
    const tensor = engine.tensor(array.shape);
    for (const input of [array, tensor]) {
      for (const name of ['gelu', 'softmax', 'rmsNorm', 'layerNorm', 'rotaryEmbedding']) {
        const { shape } = engine[name](input);
        assert.notEqual(shape, input.shape, name);
        assert.ok(!Object.isFrozen(shape), name);
        assert.deepEqual(shape, [...input.shape], name);
      }
    }
    tensor.dispose();
  });
});

describe('arguments: what is gone when it is needed', () => {
  const token = randomArray([1, 2, 1, 4], 1);
  const cacheOf = () => engine.kvCache({ numKvHeads: 2, capacity: 4, dK: 4 });

  test('a cache that a getter disposes', () => {
    const cache = cacheOf();
    const keys = doing(token, 'data', () => cache.dispose());
    expectThrows(() => cache.append(keys, token), 'KvCache.append', 'disposed', 'cache');
    const other = cacheOf();
    const mask = doing({ data: Uint8Array.of(1), shape: [1] }, 'data', () => other.dispose());
    const call = () => engine.attention(token, token, token, { cache: other, causal: true, mask });
    expectThrows(call, 'attention', 'disposed', 'cache');
  });

  test('a layer that a getter disposes', () => {
    const layer = engine.multiHeadAttention(config, weights);
    const late = doing(context, 'shape', () => layer.dispose());
    expectThrows(() => layer.forward(x, { context: late }), 'forward', 'disposed', 'layer');
  });

  test('an array that a getter detaches or grows', () => {
    const data = q.data.slice();
    const taking = doing(k, 'data', () => structuredClone(data, { transfer: [data.buffer] }));
    const call = () => engine.attention({ ...q, data }, taking, v);
    expectThrows(call, 'attention', 'invalid_argument', 'q has 0 elements now');
    const buffer = new ArrayBuffer(q.data.byteLength, { maxByteLength: 2 ** 16 });
    const tracking = new Float32Array(buffer);
    tracking.set(q.data);
    const growing = doing(k, 'data', () => buffer.resize(2 ** 16));
    const grown = () => engine.attention({ ...q, data: tracking }, growing, v);
    expectThrows(grown, 'attention', 'invalid_argument', 'q has 16384 elements now');
    // What has no elements has them still.
    const none = new Float32Array(0);
    const leaving = doing({}, 'epsilon', () => structuredClone(none, { transfer: [none.buffer] }));
    assert.deepEqual(engine.rmsNorm({ data: none, shape: [0, 3] }, leaving).shape, [0, 3]);
    const tensor = engine.tensor([0, 3], none);
    tensor.set(none);
    tensor.dispose();
    expectSame(engine.attention(q, k, v).output.data, expected);
  });

  test('a getter that disposes a tensor which was looked at before', () => {
    const tensors = Object.entries(weights).map(([name, { data, shape }]) => [
      name,
      engine.tensor(shape, data),
    ]);
    const attention = Object.fromEntries(tensors);
    const gamma = new Float32Array(8).fill(1);
    const norm1 = doing({ gamma }, 'gamma', () => attention.wq.dispose());
    const [w1, w2] = [randomArray([8, 4], 1), randomArray([4, 8], 2)];
    const of = { ...config, dContext: 8, dFeedForward: 4 };
    const own = { attention: { ...attention, wk: weights.wq, wv: weights.wq }, norm1 };
    const rest = { norm2: { gamma }, w1, w2 };
    const call = () => engine.transformerBlock({ ...of, numKvHeads: 2 }, { ...own, ...rest });
    expectThrows(call, 'transformerBlock', 'disposed', 'wq is a disposed tensor');
    for (const [, tensor] of tensors) tensor.dispose();
  });

  test('what a getter throws is the cause', () => {
    const boom = new Error('boom');
    const options = doing({ causal: true }, 'causal', () => {
      throw boom;
    });
    assert.throws(() => engine.attention(q, k, v, options), {
      name: 'QkvError',
      code: 'invalid_argument',
      message: /^attention: options cannot be read \(Error: boom\), expected/,
      cause: boom,
    });
  });
});

test('arguments: empty arrays whose other extents no integer holds', () => {
  const data = new Float32Array(0);
  for (const shape of [
    [0, 2 ** 31],
    [2 ** 20, 0, 2 ** 20],
  ]) {
    expectThrows(() => engine.rmsNorm({ data, shape }), 'rmsNorm', 'out_of_range', '2147483647');
    expectThrows(() => engine.tensor(shape), 'tensor', 'out_of_range', '2147483647');
  }
});

/** Calls `work` while JavaScript has no memory for an array of floats that is asked for with `of`. */
function without(of, work) {
  const { Float32Array: Real } = globalThis;
  globalThis.Float32Array = class extends Real {
    constructor(...args) {
      if (args.length === 1 && args[0] === of)
        throw new RangeError('Array buffer allocation failed');
      super(...args);
    }
  };
  try {
    return work();
  } finally {
    globalThis.Float32Array = Real;
  }
}

test('Tensor.toNdArray: room for the copy that JavaScript does not have', () => {
  const tensor = engine.tensor([77]);
  without(77, () =>
    expectThrows(() => tensor.toNdArray(), 'Tensor.toNdArray', 'out_of_memory', '308 bytes'),
  );
  assert.equal(tensor.toNdArray().data.length, 77);
  tensor.dispose();
});

test('arguments: room for a copy of what lies in WebAssembly memory that JavaScript does not have', () => {
  const tensor = engine.tensor([3, 5]);
  const data = tensor.view();
  without(data, () => {
    const call = () => engine.softmax({ data, shape: [3, 5] });
    expectThrows(call, 'softmax', 'out_of_memory', '60 bytes');
    expectThrows(() => engine.tensor([15], data), 'tensor', 'out_of_memory', '60 bytes');
  });
  tensor.dispose();
});

test('arguments: room for the result that JavaScript does not have: the cache is as it was', () => {
  const cache = engine.kvCache({ numKvHeads: 2, capacity: 4, dK: 4 });
  const token = randomArray([1, 2, 1, 4], 1);
  without(8, () => {
    const call = () => engine.attention(token, token, token, { cache, causal: true });
    expectThrows(call, 'attention', 'out_of_memory', '32 bytes');
  });
  assert.equal(cache.length, 0);
  engine.attention(token, token, token, { cache, causal: true });
  assert.equal(cache.length, 1);
  expectSame(cache.keys().data, token.data);
  cache.dispose();
});
