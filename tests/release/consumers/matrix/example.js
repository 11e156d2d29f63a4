// Copied into every project of the matrix, beside the few lines that import the package: the causal example
// of wasm/docs/worked-example.md.
const array = (...rows) => ({
  data: Float32Array.from(rows.flat()),
  shape: [rows.length, rows[0].length],
});

/** What ran, and what it made of the example. Awaits the result, which `qkv/worker` only promises. */
export async function compute(init, options) {
  const engine = await init(options);
  const q = array([0.1, 0.2], [0.3, 0.4], [0.5, 0.6]);
  const k = array([0.7, 0.8], [0.9, 1.0], [1.1, 1.2]);
  const v = array([1.3, 1.4], [1.5, 1.6], [1.7, 1.8]);
  const asked = { numHeads: 1, causal: true, returnWeights: true };
  const { weights, output } = await engine.attention(q, k, v, asked);
  const { variant, threads } = engine.info;
  return { variant, threads, weights: Array.from(weights.data), output: Array.from(output.data) };
}

/** Says it on the console, and keeps it for drivers of browsers that do not see the console. */
export function print(value) {
  (globalThis.qkvReports ??= []).push(value);
  console.log(`report ${JSON.stringify(value)}`);
}

/** The same, printed for whoever runs the project. */
export const report = (init, options) =>
  compute(init, options).then(print, (error) => print({ error: error.message }));
