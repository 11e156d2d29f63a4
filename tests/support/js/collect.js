// Garbage collection on demand, in a process that was started without --expose-gc.
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
export const collect = runInNewContext('gc');

/** The heap of JavaScript in bytes, without what a collection frees at once or when its finalizers have run. */
export async function heapAtRest() {
  for (let i = 0; i < 3; ++i) {
    collect();
    await sleep(10);
  }
  collect();
  return process.memoryUsage().heapUsed;
}
