// jax-js on its WebAssembly device, in a page, every computation under jit. Arrays stay in its memory.
import { swapHeads } from '../cases.js';
import { jaxSteps } from './train.js';

const library = new URL('../../build/peers/node_modules/@jax-js/jax/dist/index.js', import.meta.url)
  .href;

export function jax() {
  let js;
  const load = async () => {
    js = await import(library);
    await js.init('wasm');
    js.defaultDevice('wasm');
  };
  const array = ({ data, shape }) => js.numpy.array(data, { shape });

  /** `compute(...arrays)` under jit; the arrays are kept, the result lives until the next run. */
  function entry(way, compute, arrays, restore = (y) => y) {
    const compiled = js.jit(compute);
    let last;
    return {
      way,
      async run() {
        last?.dispose();
        last = compiled(...arrays.map((each) => each.ref));
        await last.blockUntilReady();
      },
      output: async () => restore(await last.ref.data()),
    };
  }

  const makers = {
    attention({ heads, tokens, width, causal }, { q, k, v }) {
      return [
        entry(
          'dotProductAttention',
          (a, b, c) => js.nn.dotProductAttention(a, b, c, { isCausal: causal }),
          [q, k, v].map((x) => array(swapHeads(x))),
          (data) => swapHeads({ data, shape: [1, tokens, heads, width] }).data,
        ),
      ];
    },
    decode(_, { q, k, v, pastK, pastV }) {
      return [
        entry(
          'concatenate, dotProductAttention',
          (a, b, c, oldB, oldC) =>
            js.nn.dotProductAttention(
              a,
              js.numpy.concatenate([oldB, b], 1),
              js.numpy.concatenate([oldC, c], 1),
            ),
          [q, k, v, pastK, pastV].map((x) => array(swapHeads(x))),
        ),
      ];
    },
    gemm: (_, { a, b }) => [entry('matmul', (x, y) => js.numpy.matmul(x, y), [a, b].map(array))],
    layer({ tokens, model, heads }, { x, wq, wk, wv, wo }) {
      const split = (y) => y.reshape([1, tokens, heads, model / heads]);
      const from = { data: x.data, shape: [tokens, model] };
      return [
        entry(
          'matmul x 3, dotProductAttention, matmul',
          (input, q, k, v, o) => {
            const attended = js.nn.dotProductAttention(
              split(js.numpy.matmul(input.ref, q)),
              split(js.numpy.matmul(input.ref, k)),
              split(js.numpy.matmul(input, v)),
              { isCausal: true },
            );
            return js.numpy.matmul(attended.reshape([tokens, model]), o);
          },
          [from, wq, wk, wv, wo].map(array),
        ),
      ];
    },
    train: (what, inputs) => jaxSteps(js, what, inputs),
    softmax: (_, { x }) => [entry('softmax', (y) => js.nn.softmax(y), [array(x)])],
    gelu: (_, { x }) => [entry('gelu', (y) => js.nn.gelu(y, { approximate: false }), [array(x)])],
  };

  return {
    load,
    prepare: (what, inputs) => makers[what.op]?.(what, inputs) ?? [],
    async first({ q, k, v }) {
      await load();
      const [, heads, tokens, width] = q.shape;
      const [only] = makers.attention({ heads, tokens, width, causal: true }, { q, k, v });
      await only.run();
      return only.output();
    },
  };
}
