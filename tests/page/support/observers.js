/** IntersectionObservers that observe what a test says: a list of all that are made until its end(), each with what it has `observed`. */
export function noteObservers() {
  const { IntersectionObserver } = globalThis;
  const made = [];
  globalThis.IntersectionObserver = class {
    observed = [];
    constructor(act, options) {
      made.push(Object.assign(this, { act, options }));
    }
    observe({ id }) {
      this.observed.push(id);
    }
    unobserve({ id }) {
      this.observed = this.observed.filter((name) => name !== id);
    }
  };
  return Object.assign(made, {
    end: () => (globalThis.IntersectionObserver = IntersectionObserver),
  });
}
