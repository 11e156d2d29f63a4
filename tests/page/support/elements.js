// Elements for Node: of the page's as much as the parts of panels touch. A template is not parsed; what a part looks for
// is there as soon as it looks, empty, and the same one the next time.

const defined = new Map();

export class PageElement extends EventTarget {
  #children = [];
  #found = new Map();
  #classes = new Set();
  dataset = {};
  attributes = {};
  hidden = false;
  disabled = false;
  clientWidth = 0; // nothing is laid out, so that nothing is drawn
  style = { setProperty() {} };
  classList = {
    add: (name) => this.#classes.add(name),
    toggle: (name, on) => this.#classes[on ? 'add' : 'delete'](name),
    contains: (name) => this.#classes.has(name),
  };
  get children() {
    return this.#children.filter((child) => typeof child !== 'string');
  }
  get textContent() {
    return this.#children.map((child) => child.textContent ?? child).join('');
  }
  set textContent(text) {
    this.#children = text === '' ? [] : [String(text)];
  }
  append(...children) {
    this.#children.push(...children);
  }
  replaceChildren(...children) {
    this.#children = children;
  }
  insertCell() {
    const cell = new PageElement();
    this.append(cell);
    return cell;
  }
  querySelector(selector) {
    if (!this.#found.has(selector)) {
      this.#found.set(selector, new (defined.get(selector) ?? PageElement)());
    }
    return this.#found.get(selector);
  }
  querySelectorAll() {
    return [];
  }
  closest() {
    return null;
  }
  contains(other) {
    return other === this || this.children.some((child) => child.contains?.(other));
  }
  remove() {}
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  focus() {
    globalThis.document.activeElement = this;
  }
  click() {
    this.dispatchEvent(new Event('click'));
  }
}

/** Puts a page with nothing on it where modules of web/src look for one; to be called before they are imported. */
export function stagePage() {
  const document = Object.assign(new PageElement(), {
    documentElement: new PageElement(),
    body: new PageElement(),
    createElement: () => new PageElement(),
    createTextNode: (text) => text,
    getElementById: () => null,
    activeElement: null,
  });
  const same = ['', 'Anchor', 'Input', 'Select', 'Button', 'Progress', 'Canvas', 'TableRow'];
  for (const name of same) globalThis[`HTML${name}Element`] = PageElement;
  // Later Nodes have one of their own, which cannot be assigned.
  Object.defineProperty(globalThis, 'navigator', { value: { language: 'en' } });
  Object.assign(globalThis, {
    ...{ document, Element: PageElement, Node: PageElement },
    customElements: { define: (name, type) => defined.set(name, type) },
    ResizeObserver: class {
      observe() {}
      disconnect() {}
    },
    matchMedia: () => ({ matches: false, addEventListener() {} }),
    localStorage: { getItem: () => null, setItem() {} },
    requestAnimationFrame: (draw) => setTimeout(draw),
  });
  return document;
}

/** A part of a panel as the page would have it, and everything that it asked for: `{ name, detail }`. */
export function put(Part, ...names) {
  const part = new Part();
  const asked = [];
  for (const name of names) {
    part.addEventListener(name, ({ detail }) => asked.push({ name, detail }));
  }
  part.connectedCallback();
  return { part, asked, text: (selector) => part.querySelector(selector).textContent };
}
