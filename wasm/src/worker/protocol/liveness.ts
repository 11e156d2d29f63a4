// How the death of somebody else's worker is noticed in a browser, where terminate() and close() send no
// event: the worker holds a lock for as long as it lives, and this side waits for it.

interface Locks {
  request(name: string, held: () => Promise<void>): Promise<unknown>;
  request(name: string, options: { signal: AbortSignal }, held: () => void): Promise<unknown>;
  query(): Promise<{ held?: readonly { name?: string }[] }>;
}

const locks = (): Locks | undefined =>
  (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks;

/** Takes the lock; resolves to what gives it back, or to undefined where there are no locks. */
export function hold(name: string): Promise<(() => void) | undefined> {
  const manager = locks();
  if (!manager) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const held = (): Promise<void> => new Promise((release) => resolve(() => release()));
    manager.request(name, held).catch(() => resolve(undefined));
  });
}

/**
 * Calls `died` once the lock is free; resolves as soon as it waits for that. Not where the lock cannot be seen
 * to be held: a worker of another origin has other locks.
 */
export async function watch(name: string, signal: AbortSignal, died: () => void): Promise<void> {
  const manager = locks();
  try {
    const held = (await manager?.query())?.held ?? [];
    if (!held.some((lock) => lock.name === name)) return;
    manager?.request(name, { signal }, died).catch(() => undefined);
  } catch {
    // Locks are forbidden here.
  }
}
