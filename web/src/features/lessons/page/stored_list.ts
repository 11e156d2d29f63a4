/** A list that this browser keeps under a key. What was stored by others, or is damaged, is left out. */
export function readList<T>(key: string, readOne: (raw: unknown) => readonly T[]): readonly T[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(all) ? all.flatMap(readOne) : [];
  } catch {
    return []; // storage can be forbidden
  }
}

/** Of an empty list nothing stays. False: this browser keeps nothing, or has no room. */
export function writeList(key: string, all: readonly unknown[]): boolean {
  try {
    if (all.length === 0) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(all));
    return true;
  } catch {
    return false;
  }
}
