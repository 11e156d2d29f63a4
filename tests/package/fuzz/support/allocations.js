// How much memory a piece of code asks for at once, in JavaScript and in WebAssembly.

const kinds = ['ArrayBuffer', 'Uint8Array', 'Int8Array', 'Uint16Array', 'Int32Array', 'Float32Array', 'Float64Array']; // prettier-ignore

/** Runs `work` and says { result, largest, grown }: the most bytes or elements of one request, and how much WebAssembly memory grew. */
export async function allocations(engine, work) {
  let largest = 0;
  const note = (count) => {
    if (typeof count === 'number' && count > largest) largest = count;
  };
  const kept = Object.fromEntries(kinds.map((name) => [name, globalThis[name]]));
  const { from } = Array;
  for (const [name, Kind] of Object.entries(kept)) {
    globalThis[name] = new Proxy(Kind, {
      construct(of, args, target) {
        note(args[0] * (of.BYTES_PER_ELEMENT ?? 1));
        return Reflect.construct(of, args, target);
      },
    });
  }
  Array.from = function (source, ...rest) {
    note(source?.length);
    return Reflect.apply(from, this, [source, ...rest]);
  };
  const before = engine.memory().heapBytes;
  try {
    const result = await work();
    return { result, largest, grown: engine.memory().heapBytes - before };
  } finally {
    Object.assign(globalThis, kept);
    Array.from = from;
  }
}
