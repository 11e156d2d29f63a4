// TensorFlow.js with its WebAssembly backend, one thread, in a page. It has no attention operator, so
// attention is what its users write: products, a mask, a softmax. Tensors stay in its memory.
import { tfjsSteps } from './train.js';

const at = (path) =>
  new URL(`../../build/peers/node_modules/@tensorflow/${path}`, import.meta.url).href;

/** The bundles are classic scripts that leave a global `tf`. */
const script = (url) =>
  new Promise((resolve, reject) => {
    const element = document.createElement('script');
    element.src = url;
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${url} did not load`));
    document.head.append(element);
  });

export function tfjs() {
  let tf;
  const load = async ({ op } = {}) => {
    // The core alone has no gradients.
    const bundle =
      op === 'train' ? 'tfjs/dist/tf.es2017.min.js' : 'tfjs-core/dist/tf-core.es2017.min.js';
    await script(at(bundle));
    await script(at('tfjs-backend-wasm/dist/tf-backend-wasm.es2017.min.js'));
    tf = globalThis.tf;
    // The bundle of the backend replaces the global or adds to it, depending on its version.
    const backend = tf.wasm ?? tf;
    backend.setWasmPaths(at('tfjs-backend-wasm/dist/'));
    // Set to two, in a page that is isolated, its backend says that it has one, and takes as long.
    tf.env().set('WASM_HAS_MULTITHREAD_SUPPORT', false);
    await tf.setBackend('wasm');
    await tf.ready();
  };
  const tensor = ({ data, shape }) => tf.tensor(data, shape, 'float32');

  /** `compute` in tidy(): only its result lives on, until the next run. */
  function entry(way, compute) {
    let last;
    return {
      way,
      run() {
        last?.dispose();
        last = tf.tidy(compute);
      },
      output: () => last.dataSync().slice(),
    };
  }

  function causalMask(tokens) {
    const data = new Float32Array(tokens * tokens);
    for (let i = 0; i < tokens; i += 1) data.fill(-1e9, i * tokens + i + 1, (i + 1) * tokens);
    return tf.tensor(data, [tokens, tokens]);
  }

  /** `turned`: k is [1, H, d, T] already. */
  function attend(q, k, v, { mask, turned = false } = {}) {
    const scaled = tf.mul(q, 1 / Math.sqrt(q.shape[3]));
    const scores = tf.matMul(scaled, k, false, !turned);
    return tf.matMul(tf.softmax(mask ? tf.add(scores, mask) : scores), v);
  }

  const makers = {
    attention({ tokens, causal }, inputs) {
      const [q, k, v] = [inputs.q, inputs.k, inputs.v].map(tensor);
      const mask = causal ? causalMask(tokens) : undefined;
      const kt = tf.transpose(k, [0, 1, 3, 2]);
      return [
        entry('matMul softmax matMul', () => attend(q, k, v, { mask })),
        entry('matMul softmax matMul, k transposed', () =>
          attend(q, kt, v, { mask, turned: true }),
        ),
      ];
    },
    decode(_, inputs) {
      const [q, k, v, pastK, pastV] = ['q', 'k', 'v', 'pastK', 'pastV'].map((key) =>
        tensor(inputs[key]),
      );
      return [
        entry('concat matMul softmax matMul', () =>
          attend(q, tf.concat([pastK, k], 2), tf.concat([pastV, v], 2)),
        ),
      ];
    },
    gemm(_, inputs) {
      const [a, b] = [inputs.a, inputs.b].map(tensor);
      return [entry('matMul', () => tf.matMul(a, b))];
    },
    layer({ tokens, model, heads }, inputs) {
      const [wq, wk, wv, wo] = ['wq', 'wk', 'wv', 'wo'].map((key) => tensor(inputs[key]));
      const x = tf.tensor(inputs.x.data, [tokens, model]);
      const mask = causalMask(tokens);
      const split = (w) =>
        tf.transpose(tf.reshape(tf.matMul(x, w), [1, tokens, heads, model / heads]), [0, 2, 1, 3]);
      return [
        entry('matMul x 3, matMul softmax matMul, matMul', () => {
          const attended = attend(split(wq), split(wk), split(wv), { mask });
          return tf.matMul(tf.reshape(tf.transpose(attended, [0, 2, 1, 3]), [tokens, model]), wo);
        }),
      ];
    },
    train: (what, inputs) => tfjsSteps(tf, what, inputs),
    softmax(_, inputs) {
      const x = tensor(inputs.x);
      return [entry('softmax', () => tf.softmax(x))];
    },
    gelu(_, inputs) {
      const x = tensor(inputs.x);
      const half = () => tf.mul(x, 0.5);
      return [entry('erf', () => tf.mul(half(), tf.add(tf.erf(tf.mul(x, Math.SQRT1_2)), 1)))];
    },
    layernorm(_, inputs) {
      const [x, gamma, beta] = [inputs.x, inputs.gamma, inputs.beta].map(tensor);
      return [
        entry('moments', () => {
          const { mean, variance } = tf.moments(x, -1, true);
          const unit = tf.mul(tf.sub(x, mean), tf.rsqrt(tf.add(variance, 1e-5)));
          return tf.add(tf.mul(unit, gamma), beta);
        }),
      ];
    },
    rmsnorm(_, inputs) {
      const [x, gamma] = [inputs.x, inputs.gamma].map(tensor);
      return [
        entry('mean of squares', () => {
          const square = tf.mean(tf.square(x), -1, true);
          return tf.mul(tf.mul(x, tf.rsqrt(tf.add(square, 1e-5))), gamma);
        }),
      ];
    },
  };

  return {
    load,
    prepare: (what, inputs) => makers[what.op]?.(what, inputs) ?? [],
    async first({ q, k, v }) {
      await load();
      const [, , tokens] = q.shape;
      const [only] = makers.attention({ tokens, causal: true }, { q, k, v });
      only.run();
      return only.output();
    },
  };
}
