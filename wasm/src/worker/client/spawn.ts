// Starts the package's own worker.

import { beside, ownAddress, whereViteHas } from '../../platform/package-files.js';
import { nodeWorker } from '../../platform/ports.js';
import type { WorkerPort } from '../../api/worker-types.js';

/** The scripts, by what they can besides the engine of `qkv`. */
export type Script = 'worker-host' | 'models-host' | 'train-host';

/** Where the script is, as far as is known here: a bundler may have given it another name. */
export const whereabouts = (script: Script): string =>
  /\/worker\.js$/.test(ownAddress().replace(/[?#].*/, ''))
    ? beside(`${script}.js`)
    : `${script}.js, as bundled with ${ownAddress()}`;

export const remedy =
  'serve worker-host.js (or models-host.js, train-host.js) as JavaScript from the folder of worker.js, on the origin of the page and allowed ' +
  'by worker-src, or start a worker that calls serve() and pass it to init({ worker })';

/** Where the script is if the server has moved this module; see package-files.ts. */
export const movedTo = (script: Script): Promise<URL | undefined> => whereViteHas(`qkv/${script}`);

/**
 * @param moved where the script is, if not beside this module
 * @throws what the engine of the page throws where workers are forbidden
 */
export function spawn(script: Script, moved?: URL): WorkerPort {
  if (typeof Worker === 'function') {
    if (moved) return new Worker(moved, { type: 'module' });
    // The very words that bundlers look for.
    switch (script) {
      case 'train-host':
        return new Worker(new URL('./train-host.js', import.meta.url), { type: 'module' });
      case 'models-host':
        return new Worker(new URL('./models-host.js', import.meta.url), { type: 'module' });
      case 'worker-host':
        return new Worker(new URL('./worker-host.js', import.meta.url), { type: 'module' });
    }
  }
  return nodeWorker(beside(`${script}.js`));
}
