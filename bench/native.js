// Runs the native benchmark, once for each instruction set.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../tools/environment.js';
import { run } from '../tools/run.js';
import { nativeIsas, newerIsas } from '../tools/runners.js';
import { summarize } from './measure.js';
import { milliseconds, textTable } from './report.js';

const binary = join(root, 'build/native/bench/qkv_bench');
const isas = [...nativeIsas, ...newerIsas];

/** Results of one instruction set, or undefined where it cannot run. */
async function runIsa(isa, { quick, filter }) {
  const repetitions = quick ? 3 : 9;
  // A part of a name, not a pattern; and the roof is always wanted.
  const part = filter === '' ? '.' : filter.replace(/[^\w ,]/g, '\\$&');
  const { code, output, stdout } = await run(
    binary,
    [
      `--benchmark_filter=^peak|${part}`,
      `--benchmark_repetitions=${repetitions}`,
      '--benchmark_enable_random_interleaving=true',
      `--benchmark_min_time=${quick ? 0.02 : 0.06}`,
      '--benchmark_format=json',
    ],
    { env: { QKV_ISA: isa } },
  );
  if (code === 4) return undefined;
  if (code !== 0) throw new Error(`qkv_bench failed with ${code}:\n${output}`);
  return stdout.trim() === '' ? [] : JSON.parse(stdout).benchmarks;
}

/** A table of every instruction set that this machine has. */
export async function nativeTable(options) {
  if (!existsSync(binary)) return 'native: not built';
  const rows = [];
  for (const isa of isas) {
    const byName = new Map();
    // In the order of the program, which interleaving them does not keep.
    const all = ((await runIsa(isa, options)) ?? []).sort(
      (a, b) => a.family_index - b.family_index,
    );
    for (const one of all) {
      one.run_name = one.run_name.replace(/\/real_time$/, '');
      byName.set(one.run_name, [...(byName.get(one.run_name) ?? []), one]);
    }
    const samples = (name) =>
      (byName.get(name) ?? []).filter((one) => one.run_type === 'iteration');
    const peak = Math.max(0, ...samples('peak').map((one) => one.flops / 1e9));
    for (const name of byName.keys()) {
      const summaryOf = (of) => summarize(samples(name).map(of));
      const times = summaryOf((one) => one.real_time / 1e6);
      const rate = summaryOf((one) => (one.flops ?? 0) / 1e9).median;
      const bytes = summaryOf((one) => one.bytes_per_second ?? 0).median;
      rows.push([
        name,
        isa,
        milliseconds(times.median),
        times.quartiles.map(milliseconds).join(' - '),
        rate > 0 ? rate.toFixed(1) : '',
        rate > 0 && peak > 0 ? `${((100 * rate) / peak).toFixed(0)} %` : '',
        bytes > 0 ? (bytes / 1e9).toFixed(1) : '',
      ]);
    }
  }
  return `native\n\n${textTable(['case', 'isa', 'median ms', 'quartiles', 'GFLOP/s', 'of peak', 'GB/s'], rows)}`;
}
