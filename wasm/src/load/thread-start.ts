/** The message that makes a worker a thread. It answers with {@link threadReady}. */
export interface ThreadStart {
  readonly module: WebAssembly.Module;
  /** Shared with the caller and the other threads. */
  readonly memory: WebAssembly.Memory;
  /** Where the function void(stack, bytes) that serves the pool is in the module's table. */
  readonly entry: number;
  /** Where the function void(worker) is that says that a worker serves no longer. */
  readonly abandon: number;
  /** The number of this worker. */
  readonly worker: number;
  /** A stack of its own. */
  readonly stack: number;
  readonly stackBytes: number;
}

export const threadReady = 'qkv thread ready';
