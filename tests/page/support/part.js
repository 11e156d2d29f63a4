// A part of a panel alone on the page of window.js.

/**
 * Puts an element of this name on the page: `one(selector)` and `all(selector)` find elements in it, `text` and `texts` what
 * they say; `take()` returns the details of its events of the names `events` since the last call.
 */
export function putPart(name, ...events) {
  const part = document.createElement(name);
  const sent = [];
  for (const event of events) part.addEventListener(event, ({ detail }) => sent.push(detail));
  document.body.append(part);
  const one = (selector) => part.querySelector(selector);
  const all = (selector) => Array.from(part.querySelectorAll(selector));
  return {
    ...{ part, one, all },
    text: (selector) => one(selector).textContent,
    texts: (selector) => all(selector).map(({ textContent }) => textContent),
    take: () => sent.splice(0),
  };
}
