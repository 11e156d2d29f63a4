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

/**
 * A Blob that asks `onRead(n)`, with n from 0 on, before its n-th read is answered, which gives an eighth of it at most: a read of its
 * stream.
 */
export function watched(blob, onRead) {
  let reads = 0;
  const most = Math.ceil(blob.size / 8);
  const stream = (from, end) => {
    let at = from;
    const source = {
      async pull(controller) {
        reads += 1;
        await onRead(reads - 1);
        const piece = blob.slice(at, Math.min(end, at + most));
        at += piece.size;
        if (piece.size === 0) controller.close();
        else controller.enqueue(new Uint8Array(await piece.arrayBuffer()));
      },
    };
    // Nothing is read before somebody asks.
    return new ReadableStream(source, { highWaterMark: 0 });
  };
  return {
    [Symbol.toStringTag]: 'Blob',
    size: blob.size,
    slice: (begin, end = blob.size) => ({ stream: () => stream(begin, end) }),
  };
}
