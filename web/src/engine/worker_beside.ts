/** The worker of the page: a file beside it, which a strict policy allows. */
export const newWorker = () =>
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
