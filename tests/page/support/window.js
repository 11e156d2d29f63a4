// A window for Node, in which panels stand and are operated without a browser: happy-dom, with what it has not. Nothing is
// laid out: every element is as large as every other. What is drawn on a canvas, and what a worker is told, is written down.
import { PropertySymbol, Window } from './dom.js';

/** Of every element, in pixels, unless a test lays the page out otherwise. */
export const SIZE = { width: 640, height: 320 };

const FIRST_ADDRESS = 'https://page.example/';

/** What of Node is left alone: it works with what Node has itself. */
const ofNode = new Set([
  ...['performance', 'console', 'fetch', 'Blob', 'File', 'URL', 'setTimeout', 'queueMicrotask'],
]);

/** A canvas' context that notes what it is asked to draw. */
function newContext(canvas) {
  const drawn = [];
  const own = {
    canvas,
    drawn,
    measureText: (text) => ({ width: 7 * text.length }),
    getImageData: () => ({ data: new Uint8ClampedArray(4) }),
    createImageData: (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) }),
  };
  return new Proxy(own, {
    get: (target, name) =>
      name in target
        ? target[name]
        : (...args) => {
            drawn.push([name, ...args]);
            return {};
          },
    set(target, name, value) {
      target[name] = value;
      drawn.push([name, value]);
      return true;
    },
  });
}

/** Timers of a page, in which nobody waits: each goes off in the next turn of the event loop. */
function newTimers() {
  const [later, cancel] = [setTimeout, clearTimeout];
  const waiting = new Set();
  const delays = new Set();
  return {
    /** How long was to be waited, in ms: each delay once. */
    delays,
    set(act, delay, ...args) {
      if (delay > 0) delays.add(delay);
      const timer = later(() => {
        waiting.delete(timer);
        act(...args);
      });
      waiting.add(timer);
      return timer;
    },
    clear(timer) {
      waiting.delete(timer);
      cancel(timer);
    },
    /** Until nothing waits any more, or only for itself, again and again. */
    async rest() {
      for (let turn = 0; turn < 3 || (waiting.size > 0 && turn < 12); ++turn) {
        await new Promise((resolve) => later(resolve));
      }
    },
  };
}

/** The address of a page. Of what the page itself writes there nobody is told, as in a browser; happy-dom tells of it, too. */
function newAddress(window) {
  const { location, history } = window;
  const written = [];
  /** Addresses of which happy-dom will tell, and shall not. */
  const quiet = [];
  window.addEventListener('hashchange', (event) => {
    const at = quiet.indexOf(event.newURL);
    if (at < 0) return;
    quiet.splice(at, 1);
    event.stopImmediatePropagation();
  });
  const quietly = (act) => {
    const before = location.hash;
    act();
    if (location.hash !== before) quiet.push(location.href);
  };
  const replace = history.replaceState.bind(history);
  history.replaceState = (state, title, address) => {
    written.push(address);
    quietly(() => replace(state, title, address));
  };
  return {
    written,
    /** Has the page told of another hash at once: happy-dom tells it later, when timers of the page may have gone off. */
    goTo(hash) {
      quietly(() => (location.hash = hash));
      window.dispatchEvent(new window.Event('hashchange'));
    },
    /** The address as it was at first, without a word to the page. */
    reset() {
      quietly(() => replace(null, '', FIRST_ADDRESS));
      written.length = 0;
    },
  };
}

/** Notes who listens to these targets, and returns what ends that: a window outlives the pages that tests put there. */
function noteListeners(...targets) {
  let heard = [];
  for (const target of targets) {
    const add = target.addEventListener.bind(target);
    const remove = target.removeEventListener.bind(target);
    target.addEventListener = (...args) => {
      add(...args);
      heard.push({ args, end: () => remove(...args) });
    };
    target.removeEventListener = (type, listener, options) => {
      remove(type, listener, options);
      heard = heard.filter(({ args }) => args[0] !== type || args[1] !== listener);
    };
  }
  return () => heard.splice(0).forEach(({ end }) => end());
}

/** Every element has the same size. Of a size of nothing no observer hears, as in a browser. */
function newLayout() {
  let size = SIZE;
  const observers = new Set();
  class Observer {
    #act;
    #targets = new Set();
    constructor(act) {
      this.#act = act;
      observers.add(this);
    }
    #tell(targets) {
      const boxes = [{ inlineSize: size.width, blockSize: size.height }];
      const sizes = {
        contentRect: size,
        contentBoxSize: boxes,
        devicePixelContentBoxSize: boxes,
      };
      const entries = targets.map((target) => ({ target, ...sizes }));
      if (size.width > 0 && entries.length > 0) queueMicrotask(() => this.#act(entries));
    }
    observe(target) {
      this.#targets.add(target);
      this.#tell([target]);
    }
    unobserve(target) {
      this.#targets.delete(target);
    }
    disconnect() {
      this.#targets.clear();
    }
    /** What it observes may be of another size now. Says whether any of it is on the page still. */
    look() {
      const there = [...this.#targets].filter(({ isConnected }) => isConnected);
      this.#tell(there);
      return there.length > 0;
    }
  }
  return {
    Observer,
    box: () => ({
      ...{ left: 0, top: 0, x: 0, y: 0, right: size.width, bottom: size.height },
      ...size,
    }),
    as(other) {
      size = other;
      // Those of pages that were left would keep all that was on them.
      for (const observer of observers) if (!observer.look()) observers.delete(observer);
    },
    /** Of what is not on the page any more: they would keep all that was there. */
    forget: () => observers.clear(),
    reset: () => (size = SIZE),
  };
}

/** What leaves no trace on the page: whose usual effect is prevented, what is scrolled to, holds the pointer or has the focus. */
export const done = [];
function noteDeeds({ Event, Element, HTMLElement, SVGElement }) {
  const note = (prototype, name, say) => {
    const own = prototype[name];
    prototype[name] = function (...args) {
      done.push(say(this));
      return own?.apply(this, args);
    };
  };
  for (const name of ['preventDefault', 'stopPropagation']) {
    note(Event.prototype, name, ({ type }) => `${name} of ${type}`);
  }
  for (const name of ['scrollIntoView', 'setPointerCapture', 'releasePointerCapture']) {
    Element.prototype[name] = undefined; // nothing scrolls here, and no pointer is real
    note(
      Element.prototype,
      name,
      ({ localName, id }) => `${name} of ${localName}${id && `#${id}`}`,
    );
  }
  for (const { prototype } of [HTMLElement, SVGElement]) {
    note(prototype, 'focus', ({ localName, id }) => `focus of ${localName}${id && `#${id}`}`);
  }
}

/** Has an element focused by a reader, not by the page. */
export function focusQuietly(element) {
  const at = done.length;
  element.focus();
  done.splice(at, 1);
}

/**
 * A box that is checked already stays as it is: happy-dom searches the whole page for others of its name, and forgets what it
 * knows of selectors.
 */
function checkOnlyOnce({ HTMLInputElement: { prototype } }) {
  const own = Object.getOwnPropertyDescriptor(prototype, 'checked');
  Object.defineProperty(prototype, 'checked', {
    ...own,
    set(checked) {
      if (Boolean(checked) !== this.checked) own.set.call(this, checked);
    },
  });
}

/** Of several options that are selected the last one is: happy-dom takes the second of all options for it. */
function selectLast({ HTMLSelectElement: { prototype } }) {
  const { selectedness, updateSelectedness } = PropertySymbol;
  const own = prototype[updateSelectedness];
  prototype[updateSelectedness] = function (option) {
    const selected = [...this.options].filter((each) => each[selectedness]);
    const last = !this.multiple && selected.length > 1 ? selected.at(-1) : null;
    own.call(this, option ?? last);
  };
}

/**
 * Makes the globals those of a page: { workers, told, written, goTo, rest, delays, layOut, empty, leave }, all workers that were started, what
 * they are told, the addresses that the page wrote, a way to another hash, a wait until all has been drawn that was asked
 * for, the delays of timers, a way to make every element as large as this size, an empty page for the next element, and an end of the page, for the next one in this window.
 */
export function openWindow() {
  const window = new Window({ url: FIRST_ADDRESS, width: 1280, height: 900 });
  const { document, location, navigator, history, localStorage } = window;
  for (const name of Object.getOwnPropertyNames(window)) {
    const isOfDom = /^(HTML|SVG|Event|CustomEvent|Node|Element|Document)/.test(name);
    const isKnown = name in globalThis && !/Event|^Abort/.test(name);
    if (ofNode.has(name) || (isKnown && !isOfDom)) continue;
    Object.defineProperty(globalThis, name, {
      value: window[name],
      configurable: true,
      writable: true,
    });
  }
  const told = [];
  const workers = [];
  const timers = newTimers();
  const layout = newLayout();
  Object.assign(globalThis, {
    ResizeObserver: layout.Observer,
    IntersectionObserver: class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
    Worker: class extends window.EventTarget {
      heard = [];
      constructor() {
        super();
        workers.push(this);
      }
      postMessage(message) {
        this.heard.push(message);
        told.push(message);
      }
      say(data) {
        this.dispatchEvent(new window.MessageEvent('message', { data }));
      }
      terminate() {
        told.push('ended');
      }
    },
    Option: function newOption(text = '', value = text) {
      return Object.assign(document.createElement('option'), { text, value });
    },
    ...{ setTimeout: timers.set, clearTimeout: timers.clear },
    ...{
      requestAnimationFrame: (act) => timers.set(act, 0, 0),
      cancelAnimationFrame: timers.clear,
    },
    devicePixelRatio: 1,
  });
  for (const [name, value] of Object.entries({
    window: globalThis,
    document,
    location,
    navigator,
    history,
    localStorage,
  })) {
    Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  }
  Object.defineProperty(document, 'compatMode', { value: 'CSS1Compat' }); // KaTeX asks
  const { prototype } = window.Element;
  prototype.getBoundingClientRect = layout.box;
  noteDeeds(window);
  checkOnlyOnce(window);
  selectLast(window);
  prototype.hasPointerCapture = () => true;
  for (const side of ['Width', 'Height']) {
    const get = () => layout.box()[side.toLowerCase()];
    for (const kind of ['client', 'offset']) {
      // Of both: what HTMLElement has itself hides what Element has.
      for (const own of [prototype, window.HTMLElement.prototype]) {
        Object.defineProperty(own, `${kind}${side}`, { get, configurable: true });
      }
    }
  }
  const canvas = window.HTMLCanvasElement.prototype;
  canvas.getContext = function () {
    return (this.drawnWith ??= newContext(this));
  };
  canvas.transferControlToOffscreen = () => ({ width: 1, height: 1 });
  const { written, goTo, reset } = newAddress(window);
  const endListening = noteListeners(globalThis, document);
  const empty = () => {
    document.body.replaceChildren();
    layout.forget();
    workers.length = 0;
  };
  const leave = () => {
    endListening();
    reset();
    layout.reset();
    empty();
    for (const list of [told, done]) list.length = 0;
  };
  return {
    told,
    workers,
    written,
    goTo,
    rest: timers.rest,
    delays: timers.delays,
    layOut: layout.as,
    empty,
    leave,
  };
}
