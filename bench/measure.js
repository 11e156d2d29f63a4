// Timing, the same in Node and in a page. Machines drift by tens of percent within minutes, so what is
// to be compared is timed in turns, a little of each again and again, and compared by medians.

const now = () => performance.now();

/** Calls it `calls` times and resolves to the milliseconds of one. */
export async function timeOf(run, calls = 1) {
  const start = now();
  for (let i = 0; i < calls; i += 1) {
    const pending = run();
    if (pending instanceof Promise) await pending;
  }
  return (now() - start) / calls;
}

/**
 * Calls it until that gets no faster, because engines compile again what runs often, and says how many
 * calls take about `target` ms. A call of seconds is only made once.
 */
async function calibrate(run, target) {
  const start = now();
  const patience = 20 * target;
  let best = Infinity;
  let stale = 0;
  while (stale < 4 || now() - start < 2 * target) {
    const time = await timeOf(run);
    stale = time < 0.9 * best ? 0 : stale + 1;
    best = Math.min(best, time);
    if (now() - start > patience) break;
  }
  // A clock too coarse for one call is not too coarse for some dozens.
  const once = best < 0.05 ? await timeOf(run, 200) : best;
  return Math.max(1, Math.round(target / Math.max(once, 1e-5)));
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
 * Times contestants, { name: () => any }, in turns A B A B. Resolves to { name: summary with rounds }, times in
 * milliseconds for one call. `sample` is how long one turn of one of them lasts, at least one call. A
 * contestant that times itself is { sample(milliseconds) } and gives its own milliseconds for one call.
 */
export async function compare(contestants, { rounds = 9, sample = 60 } = {}) {
  const entries = Object.entries(contestants);
  const calls = {};
  for (const [name, run] of entries) {
    if (!run.sample) calls[name] = await calibrate(run, sample);
  }
  const times = Object.fromEntries(entries.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? entries : [...entries].reverse();
    for (const [name, run] of order) {
      const time = run.sample ? run.sample(sample) : timeOf(run, calls[name]);
      times[name].push(await time);
    }
  }
  return Object.fromEntries(
    entries.map(([name]) => [name, { ...summarize(times[name]), rounds: times[name] }]),
  );
}
