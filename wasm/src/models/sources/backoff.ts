// Pauses before requests for the rest of a file whose connection broke.

/** Milliseconds before the first request. */
const first = 250;
/** The longest pause, in milliseconds: longer ones would wait for a server that has gone for good. */
const longest = 30_000;

/**
 * Milliseconds before request number n, counted from 0: min(30,000, 250 2^n), a quarter more or less by chance, so that many who lost a
 * server at once do not all come back at once.
 */
export const pauseBefore = (n: number): number =>
  Math.min(longest, first * 2 ** n) * (0.75 + Math.random() / 2);

/** Waits so many milliseconds, or until the signal is aborted; not at all where it is already. Never rejects. */
export const pause = (milliseconds: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) {
      resolve();
      return;
    }
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
  });
