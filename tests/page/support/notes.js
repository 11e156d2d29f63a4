// What comes of an act on an element of the page, in lines: the events that reach the document, how often what was written, and
// what is otherwise then. For window.js.
import { differences, linesOf, named } from './operate.js';

const EVENTS = [
  ...['state-change', 'surface-resized', 'canvas-given', 'row-told', 'cell-shown', 'cell-pinned'],
  ...['guessed', 'guess-again'],
];

const written = (value) =>
  JSON.stringify(value, (_key, part) => {
    if (part instanceof HTMLElement) return part.localName;
    return typeof part === 'number' && !Number.isFinite(part) ? String(part) : part;
  });

/**
 * Notes of an element on the page: `note(title, act)` does something and notes what came of it, and `lines` are all notes.
 * `stateOf` is what else is worth a line after each act, and `fold` is that of linesOf.
 */
export function notesOf(element, stateOf = () => ({}), fold = () => 'open') {
  const said = [];
  for (const name of EVENTS) {
    document.addEventListener(name, ({ target, detail }) => {
      if (element.contains(target)) said.push(`${name} ${written(detail)}`);
    });
  }
  const observer = new MutationObserver(() => undefined);
  observer.observe(element, {
    ...{ subtree: true, childList: true, characterData: true, attributes: true },
  });
  const writes = () => {
    const counts = new Map();
    for (const { type, attributeName, target } of observer.takeRecords()) {
      const of = target.nodeType === 1 ? target : target.parentElement;
      const name = `${attributeName ?? type} of ${of ? named(of) : 'what is gone'}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return [...counts].sort().map(([name, count]) => `  ${count} x ${name}`);
  };
  let before = linesOf(element, { fold });
  const lines = [...before];
  const note = (title, act = () => undefined) => {
    said.length = 0;
    writes();
    const result = act();
    const now = linesOf(element, { fold });
    const state = written({ ...stateOf(), result });
    lines.push('', `== ${title}`, state, ...said, ...writes(), ...differences(before, now));
    before = now;
  };
  return { lines, note };
}
