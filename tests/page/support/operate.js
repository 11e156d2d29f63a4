// Operates every control of a part of the page, one at a time, and writes down what it asks for and what then looks
// otherwise. For window.js.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from '../../support/js/files.js';
import { drawnOn, focusQuietly, hashed } from './window.js';

/** Numbers of geometry, to a tenth of a pixel; ids that are counted up are all alike. */
export const rounded = (text) =>
  text
    .replace(/(matrix-cell)-\d+/, '$1')
    .replace(/-?\d+\.\d{2,}/g, (number) => String(Math.round(10 * Number(number)) / 10));

/** A line of at most 160 letters, whose end is a hash where it is longer. */
function shortened(line) {
  if (line.length <= 160) return line;
  return `${line.slice(0, 150)}…${hashed(line)}`;
}

/** An element in a word, as in CSS: its name, id and classes. */
export const named = (element) => {
  const id = element.id ? `#${rounded(element.id)}` : '';
  const of = element.getAttribute('class');
  return `${element.localName}${id}${of ? `.${of.trim().replace(/\s+/g, '.')}` : ''}`;
};

/** What belongs to an element besides its children, in a line. */
function lineOf(element, depth) {
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
  const drawing = element.localName === 'canvas' ? drawnOn(element) : '';
  const parts = [...attributes, ...states, text && ` "${text}"`, drawing && ` drawn ${drawing}`];
  return '  '.repeat(depth) + named(element) + parts.join('');
}

/**
 * An element and all in it, a line each. `fold` says of which elements there is less: of those for which it says 'closed'
 * nothing of what is in them, of 'short' a hash of it.
 */
export function linesOf(element, { fold = () => 'open', depth = 0 } = {}) {
  if (element.localName === 'math')
    return [`${'  '.repeat(depth)}math "${element.textContent.trim()}"`];
  const line = lineOf(element, depth);
  const folded = fold(element);
  if (folded === 'closed') return [line];
  const inner = Array.from(element.children).flatMap((child) =>
    linesOf(child, { fold, depth: depth + 1 }),
  );
  return folded === 'short' ? [`${line} with ${hashed(inner.join('\n'))}`] : [line, ...inner];
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

/**
 * What a reader sees of a part: nothing of what is hidden. Canvases that stay may have been drawn more often, classes come in any
 * order, and what is said aloud is what has changed.
 */
export const seenOf = (part) =>
  linesOf(part, { fold: ({ hidden }) => (hidden ? 'closed' : 'open') })
    .filter((line) => !/ hidden=""| role="status" data-said=/.test(line))
    .map((line) =>
      line.replace(/ drawn \d+ calls .*/, ' drawn').replace(/(\.[\w-]+){2,}/, inOrder),
    );

const folder = join(root, 'tests/page/operated');
/** Whether what is now is written down, to be compared with from then on. */
export const refresh = process.env.QKV_REFRESH === '1';

const here = pathToFileURL(root).href;
/** A text as it would be wherever the project lies. */
export const anywhere = (text) => text.replaceAll(here, 'file:///qkv');

/** Fails unless these lines are what is written down under this name, there only up to the line `end` if there is such a line. */
export function requireWritten(name, lines, end) {
  const file = join(folder, `${name}.txt`);
  const now = lines.map((line) => shortened(anywhere(line)));
  if (refresh) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, `${now.join('\n')}\n`);
  }
  const all = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  const last = all.indexOf(end);
  const unlike = differences(last < 0 ? all : all.slice(0, last), now).slice(0, 12);
  assert.equal(
    unlike.join('\n'),
    '',
    `${name}: not as in tests/page/operated; QKV_REFRESH=1 writes the file`,
  );
}

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

/** What can be done with an element, as [name, act] pairs. */
function actsOn(element) {
  const { localName, type } = element;
  if (localName === 'select') {
    const { options, selectedIndex } = element;
    return [...options]
      .map(({ value, hidden, disabled }, i) =>
        i === selectedIndex || hidden || disabled
          ? []
          : [`choose ${value}`, (own) => enter(own, value)],
      )
      .filter(({ length }) => length > 0);
  }
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
    const all = alike.get(kindOf(one));
    return all.indexOf(one) < 2 || one === all.at(-1) || one.element.id !== '';
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
