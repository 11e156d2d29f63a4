// What ends things in the middle: signals that are aborted at any look, and files of which every read is known.

/**
 * A signal that is aborted from look number `n` on, however fast the machine: { signal, looks }. With Infinity it only counts.
 */
export function abortedAtLook(n, reason) {
  let looks = 0;
  const signal = {
    get aborted() {
      looks += 1;
      return looks > n;
    },
    reason,
    addEventListener() {},
    removeEventListener() {},
  };
  return { signal, looks: () => looks };
}

/** A Blob that asks `onRead(n)`, with n from 0 on, before its n-th read is answered. */
export function watched(blob, onRead) {
  let reads = 0;
  return {
    [Symbol.toStringTag]: 'Blob',
    size: blob.size,
    slice: (begin, end) => ({
      async arrayBuffer() {
        reads += 1;
        await onRead(reads - 1);
        return blob.slice(begin, end).arrayBuffer();
      },
    }),
  };
}
