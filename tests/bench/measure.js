// Timing, the same in Node and in a page. Machines drift by tens of percent within minutes, so what is
// to be compared is timed in turns, a little of each again and again, and compared by medians.

const now = () => performance.now();

/** How many calls take about `target` ms, after the engine has compiled them. */
async function calibrate(run, target) {
  const start = now();
  let calls = 0;
  while (calls < 3 || now() - start < target) {
    await run();
    calls += 1;
    if (now() - start > 4 * target) break;
  }
  const from = now();
  await run();
  const once = Math.max(now() - from, 1e-3);
  return Math.max(1, Math.round(target / once));
}

/** Milliseconds per call over `calls` calls. */
async function once(run, calls) {
  const start = now();
  for (let i = 0; i < calls; i += 1) {
    const pending = run();
    if (pending instanceof Promise) await pending;
  }
  return (now() - start) / calls;
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))];

/** Of a list of times: median, fastest, and the quartiles. */
export function summarize(times) {
  const sorted = [...times].sort((a, b) => a - b);
  return {
    median: quantile(sorted, 0.5),
    fastest: sorted[0],
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    samples: sorted.length,
  };
}

/**
 * Times contestants, { name: () => any }, in turns A B A B. Resolves to { name: summary }, times in
 * milliseconds for one call. `sample` is how long one turn of one of them lasts, at least one call.
 */
export async function compare(contestants, { rounds = 9, sample = 60 } = {}) {
  const entries = Object.entries(contestants);
  const calls = {};
  for (const [name, run] of entries) calls[name] = await calibrate(run, sample);
  const times = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? entries : [...entries].reverse();
    for (const [name, run] of order) times[name].push(await once(run, calls[name]));
  }
  return Object.fromEntries(entries.map(([name]) => [name, summarize(times[name])]));
}
