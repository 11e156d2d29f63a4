// This library compiled natively, on the best instruction set of the machine, with one thread or more. It cannot be called from
// JavaScript, so each sample is a run of qkv_bench, which times itself.
const at = (path) => new URL(`../../${path}`, import.meta.url);

const ops = [
  ...['attention', 'gemm', 'layer', 'decode'],
  ...['softmax', 'gelu', 'layernorm', 'rmsnorm', 'rotary', 'train'],
];

export function native(threads = 1) {
  let node;
  let binary;

  /** One run of one benchmark: its JSON. */
  function bench({ name }, milliseconds, env = {}) {
    const { status, stdout, stderr } = node.spawnSync(
      binary,
      [
        `--benchmark_filter=^${name}/real_time$`,
        `--benchmark_min_time=${milliseconds / 1000}`,
        '--benchmark_format=json',
      ],
      { encoding: 'utf8', env: { ...process.env, QKV_BENCH_THREADS: String(threads), ...env } },
    );
    if (status !== 0) throw new Error(stderr || `qkv_bench ended with ${status}`);
    if (stdout.trim() === '') throw new Error(`qkv_bench has no case "${name}"`);
    const { benchmarks, context } = JSON.parse(stdout);
    const [{ real_time: nanoseconds, flops }] = benchmarks;
    return { ms: nanoseconds / 1e6, rate: flops, isa: context.isa };
  }

  return {
    async peak() {
      const peak = { name: 'peak' };
      const { ms, rate } = bench(peak, 10);
      const sample = (milliseconds) => bench(peak, milliseconds).ms;
      return { run: { sample }, flops: (rate * ms) / 1000 };
    },
    async load() {
      const { fileURLToPath } = await import('node:url');
      const [{ spawnSync }, fs, os, path] = await Promise.all([
        import('node:child_process'),
        import('node:fs'),
        import('node:os'),
        import('node:path'),
      ]);
      node = { spawnSync, fs, dump: path.join(os.tmpdir(), `qkv-bench-${process.pid}.f32`) };
      binary = fileURLToPath(at('build/native/bench/qkv_bench'));
      if (!fs.existsSync(binary)) throw new Error('qkv_bench is not built');
    },
    prepare(entry) {
      // The longest of the cases is not there natively.
      if (!ops.includes(entry.op) || entry.tokens > 8192) return [];
      let isa;
      return [
        {
          get way() {
            return `C++, ${isa}`;
          },
          run: () => ({ isa } = bench(entry, 1)),
          sample: (milliseconds) => bench(entry, milliseconds).ms,
          output() {
            bench(entry, 1, { QKV_BENCH_DUMP: node.dump });
            const { buffer, byteOffset, length } = node.fs.readFileSync(node.dump);
            node.fs.rmSync(node.dump);
            return new Float32Array(buffer.slice(byteOffset, byteOffset + length));
          },
        },
      ];
    },
  };
}
