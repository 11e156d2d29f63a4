// A worker that lends its thread to an engine: a second instance of the engine's module on the same memory,
// which serves until the engine is disposed. It is a file of its own, dist/thread.js, because strict
// policies allow no other kind of worker.

import { listen, ownPort, post } from '../platform/ports.js';
import { threadReady, type ThreadStart } from '../load/thread-start.js';

/** The kernels call no import; one that is called all the same would be a fault of ours. */
function importsOf({ module, memory }: ThreadStart): WebAssembly.Imports {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    const refuse = (): never => {
      throw new Error(`qkv: a thread called ${from}.${name}`);
    };
    (imports[from] ??= {})[name] = kind === 'memory' ? memory : refuse;
  }
  return imports;
}

function serve(start: ThreadStart, answer: (message: string) => void): void {
  const { exports } = new WebAssembly.Instance(start.module, importsOf(start));
  const table = Object.values(exports).find((value) => value instanceof WebAssembly.Table);
  const at = (place: number): ((...args: readonly number[]) => void) =>
    (table as WebAssembly.Table).get(place) as (...args: readonly number[]) => void;
  const [entry, abandon] = [at(start.entry), at(start.abandon)];
  answer(threadReady);
  try {
    entry(start.stack, start.stackBytes);
  } catch (error) {
    // The caller waits for this thread, and nobody else can tell it that it will not come back.
    abandon(start.worker);
    throw error;
  }
}

const port = ownPort();
if (port) {
  const stop = listen(port, 'message', (start) => {
    stop();
    serve(start as ThreadStart, (message) => post(port, message));
  });
}
