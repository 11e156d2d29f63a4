export const newWorker = () =>
  new Worker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'qkv learn' });
