// How long tests wait. Nothing waits without a limit, and no test depends on how long anything takes: it waits for a
// condition, and fails when that has not come true long after it should have. For Node and for pages.

/** When a wait or a test counts as hung, in ms. A machine that shares its processors may be ten times as slow. */
export const PATIENCE = { wait: 180_000, test: 600_000 };

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves once `condition()` holds, which may be a promise; rejects with what `what()` says if it never does. */
export async function until(condition, what = () => String(condition)) {
  const end = performance.now() + PATIENCE.wait;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`it never was so: ${what()}`);
    await pause(5);
  }
}

/** What `promise` settles to; rejects if it does not settle. */
export async function inTime(promise, what = 'a promise') {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} never settled`)), PATIENCE.wait);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
