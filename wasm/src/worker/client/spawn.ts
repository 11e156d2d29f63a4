// Starts the package's own worker.

import { beside, ownAddress, whereViteHas } from '../../platform/package-files.js';
import { nodeWorker } from '../../platform/ports.js';
import type { WorkerPort } from '../../api/worker-types.js';

const scriptOf = (models: boolean): string => (models ? 'models-host.js' : 'worker-host.js');

/** Where the script is, as far as is known here: a bundler may have given it another name. */
export const whereabouts = (models: boolean): string =>
  /\/worker\.js$/.test(ownAddress().replace(/[?#].*/, ''))
    ? beside(scriptOf(models))
    : `${scriptOf(models)}, as bundled with ${ownAddress()}`;

export const remedy =
  'serve worker-host.js (or models-host.js) as JavaScript from the folder of worker.js, on the origin of the page and allowed ' +
  'by worker-src, or start a worker that calls serve() and pass it to init({ worker })';

/** Where the script is if the server has moved this module; see package-files.ts. */
export const movedTo = (models: boolean): Promise<URL | undefined> =>
  whereViteHas(models ? 'qkv/models-host' : 'qkv/worker-host');

/**
 * @param moved where the script is, if not beside this module
 * @throws what the engine of the page throws where workers are forbidden
 */
export function spawn(models: boolean, moved?: URL): WorkerPort {
  if (typeof Worker === 'function') {
    if (moved) return new Worker(moved, { type: 'module' });
    // The very words that bundlers look for.
    return models
      ? new Worker(new URL('./models-host.js', import.meta.url), { type: 'module' })
      : new Worker(new URL('./worker-host.js', import.meta.url), { type: 'module' });
  }
  return nodeWorker(beside(scriptOf(models)));
}
