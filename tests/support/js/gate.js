// A gate before attention() in a worker: a call is under way for exactly as long as a test wants.
import { until } from './patience.js';

const [begun, state] = [0, 1];
const states = { closed: 0, open: 1, endless: 2 };

/** A new gate, closed. `shared` is what workers are given of it. */
export function newGate() {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const set = (name) => {
    Atomics.store(shared, state, states[name]);
    Atomics.notify(shared, state);
  };
  return {
    shared,
    /** Resolves once so many calls have arrived at the gate, in all workers and from the start. */
    begun: (calls) =>
      until(
        () => Atomics.load(shared, begun) >= calls,
        () => `${calls} calls under way, of which there are ${Atomics.load(shared, begun)}`,
      ),
    /** From now on calls compute, those that wait included. */
    open: () => set('open'),
    close: () => set('closed'),
    /** From now on calls compute, over and over until their worker is ended. */
    neverEnd: () => set('endless'),
  };
}

/** In a worker: an engine whose attention() waits at the gate. */
export function behindGate(engine, shared) {
  const attention = engine.attention.bind(engine);
  engine.attention = (...args) => {
    Atomics.add(shared, begun, 1);
    Atomics.wait(shared, state, states.closed);
    for (;;) {
      const result = attention(...args);
      if (Atomics.load(shared, state) !== states.endless) return result;
    }
  };
  return engine;
}
