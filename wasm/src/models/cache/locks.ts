// Who writes a file of a cache: one at a time, in all tabs of an origin where there are Web Locks, else in this thread.

interface Locks {
  request(
    name: string,
    options: { ifAvailable: boolean },
    hold: (lock: unknown) => Promise<void> | undefined,
  ): Promise<unknown>;
}

const held = new Set<string>();

/** Takes the lock of this name if nobody has it: what gives it back, or undefined. */
export async function tryLock(name: string): Promise<(() => void) | undefined> {
  // Where threads of one process have no locks in common, and for two loads of this one.
  if (held.has(name)) return undefined;
  held.add(name);
  const free = (): boolean => held.delete(name);
  const { locks } = ((globalThis as { navigator?: unknown }).navigator ?? {}) as { locks?: Locks };
  if (!locks) return free;
  const release = await new Promise<(() => void) | undefined>((resolve) => {
    locks
      .request(name, { ifAvailable: true }, (lock) => {
        if (lock === null) {
          resolve(undefined);
          return undefined;
        }
        return new Promise<void>((end) => resolve(end));
      })
      // Where they are denied, as in a frame without an origin, nobody else is kept from it either.
      .catch(() => resolve(() => undefined));
  });
  if (!release) {
    free();
    return undefined;
  }
  return () => {
    free();
    release();
  };
}
