/** Milliseconds that a page can do without a turn of its event loop. */
const patience = 8;

/** One turn of the event loop. Timers would wait 4 ms each time; a message does not. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    // jsdom, which test runners put around Node, has none.
    if (typeof MessageChannel !== 'function') {
      setTimeout(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(0);
  });
}

/** Lets others run now and then: at every call that comes so long after the last turn. */
export class Pause {
  #last = performance.now();

  async maybe(): Promise<void> {
    if (performance.now() - this.#last < patience) return;
    await turn();
    this.#last = performance.now();
  }
}
