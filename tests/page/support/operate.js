// What can be done with every control of a part of the page, and what a reader sees of the part, in lines. For window.js.
import { full } from '../../support/js/full.js';
import { focusQuietly } from './window.js';

/** Numbers of geometry, to a tenth of a pixel; ids that are counted up are all alike. */
const rounded = (text) =>
  text
    .replace(/(matrix-cell)-\d+/, '$1')
    .replace(/-?\d+\.\d{2,}/g, (number) => String(Math.round(10 * Number(number)) / 10));

/** An element in a word, as in CSS: its name, id and classes. */
export const named = (element) => {
  const id = element.id ? `#${rounded(element.id)}` : '';
  const of = element.getAttribute('class');
  return `${element.localName}${id}${of ? `.${of.trim().replace(/\s+/g, '.')}` : ''}`;
};

/** What belongs to an element besides its children, in a line. */
function lineOf(element) {
  const attributes = Array.from(element.attributes)
    .filter(({ name }) => !['id', 'class', 'data-t', 'data-of'].includes(name))
    .map(({ name, value }) => {
      const isText = /^aria-(label|valuetext)$|^title$/.test(name);
      return ` ${name}=${JSON.stringify(isText ? value : rounded(value))}`;
    });
  const states = ['value', 'checked', 'open']
    .filter(
      (name) =>
        name in element &&
        !['li', 'button', 'progress', 'option', 'data'].includes(element.localName),
    )
    .filter((name) => typeof element[name] !== 'object' && element[name] !== undefined)
    .map((name) => ` .${name}=${JSON.stringify(element[name])}`);
  const text = Array.from(element.childNodes)
    .filter(({ nodeType }) => nodeType === 3)
    .map(({ textContent }) => textContent.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join(' | ');
  const parts = [
    ...attributes,
    ...states,
    text && ` "${text}"`,
    element.drawnWith?.drawn.length && ' drawn',
  ].filter(Boolean);
  return named(element) + parts.join('');
}

/** An element and all in it, a line each; of what is hidden nothing. */
function linesOf(element, depth = 0) {
  if (element.hidden) return [];
  const indent = '  '.repeat(depth);
  if (element.localName === 'math') return [`${indent}math "${element.textContent.trim()}"`];
  const inner = Array.from(element.children).flatMap((child) => linesOf(child, depth + 1));
  return [indent + lineOf(element), ...inner];
}

/** The lines of two lists that are not in both, in their order: `-` of the first, `+` of the second. */
export function differences(before, after) {
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) ++from;
  let end = 0;
  const most = Math.min(before.length, after.length) - from;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) ++end;
  const [a, b] = [before.slice(from, before.length - end), after.slice(from, after.length - end)];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; --i) {
    for (let j = b.length - 1; j >= 0; --j) {
      common[i][j] =
        a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const found = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      ++i;
      ++j;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) {
      found.push(`- ${a[i++].trim()}`);
    } else {
      found.push(`+ ${b[j++].trim()}`);
    }
  }
  return found;
}

const inOrder = (classes) => classes.split('.').sort().join('.');

/** What a reader sees of a part, in lines. Classes come in any order, and what is said aloud is what has changed. */
export const seenOf = (part) =>
  linesOf(part)
    .filter((line) => !line.includes(' role="status" data-said='))
    .map((line) => line.replace(/(\.[\w-]+){2,}/, inOrder));

export const fire = (element, type, Kind = Event, more = {}) =>
  element.dispatchEvent(new Kind(type, { bubbles: true, cancelable: true, ...more }));

export const enter = (element, value) => {
  element.value = value;
  fire(element, 'input');
  fire(element, 'change');
};

const key = (name, more = {}) => [
  `key ${[...Object.keys(more), name].join(' ')}`,
  (element) => {
    focusQuietly(element);
    fire(element, 'keydown', KeyboardEvent, { key: name, code: name, ...more });
    fire(element, 'keyup', KeyboardEvent, { key: name, code: name, ...more });
  },
];

const at = (x, y, buttons) => ({
  ...{ clientX: x, clientY: y, pointerId: 1, buttons, isPrimary: true, pointerType: 'mouse' },
});
const point = (element, name, ...place) =>
  fire(element, `pointer${name}`, PointerEvent, at(...place));

const drag = [
  'drag',
  (element) => {
    point(element, 'enter', 200, 90, 0);
    point(element, 'move', 200, 90, 0);
    point(element, 'down', 200, 90, 1);
    point(element, 'move', 260, 100, 1);
    point(element, 'move', 330, 130, 1);
    point(element, 'up', 330, 130, 0);
    fire(element, 'click', MouseEvent, at(330, 130, 0));
  },
];

/** The pointer is over an element, and leaves it. */
const hover = [
  'hover',
  (element) => {
    point(element, 'enter', 40, 300, 0);
    point(element, 'move', 40, 300, 0);
  },
];
const leave = [
  'leave',
  (element) => {
    hover[1](element);
    point(element, 'leave', 41, 330, 0);
    fire(element, 'blur', FocusEvent);
  },
];
/** A drag to the left, a little and far, that something else ends. */
const lost = [
  'lose a drag',
  (element) => {
    point(element, 'down', 330, 130, 1);
    point(element, 'move', 328, 130, 1);
    point(element, 'move', 120, 20, 1);
    point(element, 'cancel', 120, 20, 0);
    point(element, 'move', 20, 20, 0);
  },
];

const hold = [
  'hold',
  (element) => {
    fire(element, 'pointerdown', PointerEvent, { pointerId: 1 });
    fire(element, 'pointerup', PointerEvent, { pointerId: 1 });
  },
];

const click = ['click', (element) => element.click()];

/** A value that is another one and that the control allows. */
function otherNumber({ min, max, step, value }) {
  const size = step === '' || step === 'any' ? 1 : Number(step);
  const next = Number(value) + 2 * size;
  return String(
    max !== '' && next > Number(max) ? Math.max(Number(min || 0), Number(value) - 2 * size) : next,
  );
}

/** Whether one of many that are alike stands for the others: the first two and the last do. */
const standsForAll = (one, all) => all.indexOf(one) < 2 || one === all.at(-1);

/** Every choice but the present one; in an everyday run those that stand for all. */
function choicesOf({ options, selectedIndex }) {
  const others = [...options].filter(
    ({ hidden, disabled }, i) => i !== selectedIndex && !hidden && !disabled,
  );
  const some = full ? others : others.filter((one) => standsForAll(one, others));
  return some.map(({ value }) => [`choose ${value}`, (own) => enter(own, value)]);
}

/** What can be done with an element, as [name, act] pairs. */
function actsOn(element) {
  const { localName, type } = element;
  if (localName === 'select') return choicesOf(element);
  if (
    localName === 'textarea' ||
    (localName === 'input' && ['text', 'search', ''].includes(type))
  ) {
    return ['ab 1 2', ''].map((text) => [
      `type ${JSON.stringify(text)}`,
      (own) => enter(own, text),
    ]);
  }
  if (localName === 'input' && ['range', 'number'].includes(type)) {
    const set = [`set ${otherNumber(element)}`, (own) => enter(own, otherNumber(own))];
    return type === 'range' ? [set, hold] : [set];
  }
  if (['button', 'summary', 'input', 'a'].includes(localName)) return [click];
  if (!element.hasAttribute('tabindex')) return [drag];
  return [
    drag,
    ...[
      'ArrowRight',
      'ArrowDown',
      'ArrowUp',
      'End',
      'Home',
      'PageDown',
      'Enter',
      ' ',
      'Escape',
    ].map(key),
  ];
}

/** What readers seldom do. */
export function seldomOn(element) {
  const { localName, type } = element;
  if (localName === 'input' && ['range', 'number'].includes(type)) {
    const values = ['', '-1e9', '1e9', '2.5'];
    const set = values.map((value) => [`set ${value || 'nothing'}`, (own) => enter(own, value)]);
    return type === 'number' ? [...set, drag, lost] : set.slice(1, 3);
  }
  if (['button', 'summary', 'input', 'a', 'select', 'textarea'].includes(localName)) return [];
  if (!element.hasAttribute('tabindex')) return [hover, leave, lost];
  const keys = ['ArrowLeft', 'PageUp', 'a', 'Tab'].map((name) => key(name));
  return [
    ...keys,
    key('ArrowRight', { shiftKey: true }),
    key('Home', { ctrlKey: true }),
    hover,
    leave,
    lost,
  ];
}

/** Whether a reader gets there by the keyboard. */
export const focusable = (element) =>
  element.tabIndex >= 0 && !element.disabled && !['svg', 'canvas'].includes(element.localName);

/** Elements that a reader can operate. */
const CONTROLS =
  'button, input, select, textarea, summary, a[href^="#"], [tabindex], svg.chart, .dial-large svg, canvas';

/**
 * Every act on every control of a part, as { target, act, run }: the control, the name of the act, and what does the same in
 * another part that is like this one, `run(other, begin)`, where `begin(control)` is called before it. Of many controls that
 * are alike, the first two and the last.
 */
export function actsOf(part, on = actsOn) {
  const alike = new Map();
  const controls = [...part.querySelectorAll(CONTROLS)].map((element, index) => ({
    element,
    index,
  }));
  const shown = controls.filter(({ element }) => !element.disabled && !element.closest('[hidden]'));
  const kindOf = ({ element }) =>
    `${element.localName}${element.type ?? ''}.${element.getAttribute('class')}.${element.parentElement?.getAttribute('class')}`;
  for (const one of shown) alike.set(kindOf(one), [...(alike.get(kindOf(one)) ?? []), one]);
  const chosen = shown.filter((one) => {
    return standsForAll(one, alike.get(kindOf(one))) || one.element.id !== '';
  });
  return chosen.flatMap(({ element, index }) =>
    on(element).map(([name, act]) => ({
      target: element,
      act: name,
      run(other, begin) {
        const own = [...other.querySelectorAll(CONTROLS)][index];
        if (focusable(own)) focusQuietly(own);
        begin(own);
        act(own);
      },
    })),
  );
}
