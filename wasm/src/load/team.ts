// Workers that lend their threads to an engine.

import { beside, whereViteHas } from '../platform/package-files.js';
import { keepAlive, listen, nodeWorker, post, terminate } from '../platform/ports.js';
import { nodeModule } from '../platform/node.js';
import type { RawModule } from '../memory/raw.js';
import { threadReady, type ThreadStart } from './thread-start.js';
import type { WorkerPort } from '../api/worker-types.js';

/** How long a worker may take before it is given up: one whose script never arrives says nothing at all. */
const patience = 10_000;

/** @throws where workers are forbidden, or there are none */
function spawn(moved: URL | undefined): WorkerPort {
  if (typeof Worker !== 'function') return nodeWorker(beside('thread.js'));
  if (moved) return new Worker(moved, { type: 'module' });
  // The very words that bundlers look for.
  return new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });
}

/**
 * Starts a worker and enters it into `live` while it serves. Resolves when it does, or cannot be had. `onExit` is called
 * when its thread has ended, which only Node tells.
 */
function helper(
  start: ThreadStart,
  moved: URL | undefined,
  live: Set<WorkerPort>,
  onExit: () => void,
): Promise<void> {
  return new Promise((resolve) => {
    let worker: WorkerPort | undefined;
    // Also long after the start: a worker may fail, or be ended by the program or the system.
    const giveUp = (reason?: unknown): void => {
      clearTimeout(timer);
      // Browsers print the errors of workers unless somebody says not to.
      (reason as Partial<Event> | undefined)?.preventDefault?.();
      if (worker) {
        terminate(worker);
        live.delete(worker);
      }
      resolve();
    };
    const timer = setTimeout(giveUp, patience);
    try {
      const port = spawn(moved);
      worker = port;
      listen(port, 'message', (message) => {
        if (message !== threadReady) return;
        clearTimeout(timer);
        keepAlive(port, false);
        live.add(port);
        resolve();
      });
      for (const type of ['error', 'messageerror', 'exit'] as const) listen(port, type, giveUp);
      listen(port, 'exit', onExit);
      post(port, start);
    } catch {
      giveUp();
    }
  });
}

/** Whether this thread may sleep: a page's main thread and service workers may not. */
function maySleep(): boolean {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0);
    return true;
  } catch {
    return false;
  }
}

/** The threads of an engine. */
export interface Team {
  /** The workers that serve now, besides the caller: none that has ended. */
  readonly helpers: { readonly size: number };
  /** Ends them. */
  close(): void;
}

export const alone: Team = { helpers: new Set(), close: () => undefined };

/** Starts `threads - 1` workers; those that do not start are done without. */
export async function startThreads(
  raw: RawModule,
  module: WebAssembly.Module,
  threads: number,
): Promise<Team> {
  if (threads === 1 || !raw._createThreads(threads, maySleep())) return alone;
  const moved = await whereViteHas('qkv/thread').catch(() => undefined);
  const live = new Set<WorkerPort>();
  const common = {
    ...{ module, memory: raw.wasmMemory, entry: raw._threadEntry() },
    ...{ abandon: raw._abandonEntry(), stackBytes: raw._threadStackBytes() },
  };
  let open: RawModule | undefined = raw;
  const starts = Array.from({ length: threads - 1 }, (_, worker) =>
    helper({ ...common, worker, stack: raw._threadStack(worker) }, moved, live, () => {
      open?._abandonThread(worker);
    }),
  );
  await Promise.all(starts);
  return {
    helpers: live,
    close(): void {
      open?._stopThreads();
      open = undefined;
      live.forEach(terminate);
      // They know the memory, which must be free to go although somebody keeps what tells their number.
      live.clear();
    },
  };
}

/** Whether memory can be shared here: in Node, and in pages that are isolated from other origins. */
export function canShareMemory(): boolean {
  const { crossOriginIsolated } = globalThis as { crossOriginIsolated?: boolean };
  return typeof SharedArrayBuffer === 'function' && crossOriginIsolated !== false;
}

interface NodeSystem {
  availableParallelism(): number;
}

/** What `threads: 'auto'` stands for. */
export function cores(): number {
  const { navigator } = globalThis as { navigator?: { hardwareConcurrency?: number } };
  const system = nodeModule('node:os') as NodeSystem | undefined;
  const count = navigator?.hardwareConcurrency ?? system?.availableParallelism();
  return Math.min(Math.max(count ?? 1, 1), mostThreads);
}

/** As many as anybody's machine can use at once, and more. */
export const mostThreads = 64;
