// The core's kernels without the package around them, from build/wasm/bench/bench_<variant>.wasm.

/** In the order of WeightFormat. */
export const formats = ['f32', 'bf16', 'int8', 'f16', 'int4'];

/** In the order of Elementwise in wasm_kernels.cpp. */
export const elementwise = ['softmax', 'gelu', 'layernorm', 'rmsnorm', 'rotary'];

/** `{ peak, product, attention, elementwise, read }` of a variant, from its bytes. */
export async function loadKernels(bytes) {
  // What the C library could ask of its host; nothing here does.
  const nothing = new Proxy({}, { get: () => () => 0 });
  const imports = { env: nothing, wasi_snapshot_preview1: nothing };
  const { instance } = await WebAssembly.instantiate(bytes, imports);
  const core = instance.exports;
  core._initialize?.();
  const given = (array) => {
    const at = core.bench_take(array.length);
    floats(at, array.length).set(array);
    return at;
  };
  const floats = (pointer, count) => new Float32Array(core.memory.buffer, pointer, count);
  return {
    /** One call of the roof: `run()` and the floating-point operations in it. */
    peak() {
      const steps = 200_000;
      return { run: () => core.bench_peak(steps), flops: steps * core.bench_peak_flops() };
    },
    /** y[m, n] = x[m, k] w[k, n], w packed beforehand in a format: one of `formats`. */
    product({ format, m, n, k }, x, w) {
      const raw = core.bench_take(k * n);
      floats(raw, k * n).set(w);
      const packed = core.bench_product(formats.indexOf(format), m, n, k, raw);
      if (packed === 0) throw new Error('out of memory');
      core.bench_give(raw);
      const from = core.bench_take(m * k);
      floats(from, m * k).set(x);
      const to = core.bench_take(m * n);
      return {
        run: () => core.bench_multiply(packed, m, from, to),
        output: () => floats(to, m * n).slice(),
      };
    },
    /** Of [heads, rows, width] on [heads, keys, width], causal: the last row sees all keys. */
    attention({ heads, rows, keys, width }, q, k, v) {
      const [atQ, atK, atV] = [q, k, v].map(given);
      const to = core.bench_take(q.length);
      const run = () => core.bench_attention(heads, rows, keys, width, atQ, atK, atV, to);
      if (!run()) throw new Error('attention was refused');
      return { run, output: () => floats(to, q.length).slice() };
    },
    /** One of `elementwise` on [rows, width]. */
    elementwise({ name, rows, width }, x) {
      const from = given(x);
      const to = core.bench_take(x.length);
      const op = elementwise.indexOf(name);
      const run = () => core.bench_elementwise(op, rows, width, from, to);
      if (!run()) throw new Error(`${name} was refused`);
      return { run, output: () => floats(to, x.length).slice() };
    },
    /** Reads so many bytes, and does nothing else. */
    read({ bytes }) {
      const from = core.bench_take(bytes / 4);
      floats(from, bytes / 4).fill(1);
      return { run: () => core.bench_read(from, bytes / 4) };
    },
  };
}
