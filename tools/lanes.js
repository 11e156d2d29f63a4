// Runs jobs side by side: as many as there are lanes, each when what it needs is there.

/**
 * A job is { id, after, alone, run }. It starts when every job of `after` has ended well, in the order of the list; one
 * that is `alone` starts when nothing else runs. Where a job of `after` has failed, `give(job, why)` is called
 * instead of `run`. Names in `after` that no job has are passed over.
 */
export async function runInLanes(jobs, lanes, { give }) {
  const known = new Set(jobs.map(({ id }) => id));
  const ended = new Map();
  const waiting = [...jobs];
  let running = 0;
  let alone = false;

  const missing = (job) => job.after.filter((id) => known.has(id) && !ended.has(id));
  const broken = (job) => job.after.find((id) => ended.get(id) === false);

  function next() {
    for (const job of waiting.filter((candidate) => broken(candidate))) {
      waiting.splice(waiting.indexOf(job), 1);
      ended.set(job.id, false);
      give(job, `not run, because ${broken(job)} failed`);
      return next();
    }
    const room = running < lanes && !alone;
    const fits = (job) => missing(job).length === 0 && (job.alone ? running === 0 : room);
    // Jobs that share go first: one that is alone would keep the others waiting twice.
    return (
      waiting.find((job) => !job.alone && fits(job)) ??
      waiting.find((job) => job.alone && fits(job))
    );
  }

  await new Promise((resolve, reject) => {
    const fill = () => {
      for (let job = next(); job; job = next()) start(job);
      if (running > 0) return;
      if (waiting.length > 0)
        reject(new Error(`these wait for each other: ${waiting.map(({ id }) => id)}`));
      else resolve();
    };
    const start = (job) => {
      waiting.splice(waiting.indexOf(job), 1);
      ++running;
      alone = job.alone ?? false;
      job.run().then((good) => {
        ended.set(job.id, good);
        --running;
        alone = false;
        fill();
      }, reject);
    };
    fill();
  });
}
