// Rules for everything that the page shows, in Node: of texts in both languages, of controls and of their names. Each function
// returns what breaks its rule, in words. For window.js, whose globals must be there before.
import { textsOf } from './texts.js';

const { default: axe } = await import('axe-core');

const keys = new Set(Object.keys(textsOf('en')));

/** What is no text: a number that is none, an object, a name of a text, a place that was to be filled in, a mark. */
const NO_TEXT =
  /\bNaN\b|\bundefined\b|\bnull\b|Infinity|\[object|\d(?:\.\d+)?e[+-]?\d|\{\w+\}|\[[qkv]\||\*\*/;
/** Attributes that are read out or shown. */
const SAID = ['aria-label', 'aria-valuetext', 'aria-description', 'title', 'placeholder', 'alt'];
/** Attributes of drawings: a browser ignores one that is no number, without a word. */
const DRAWN = ['d', 'x', 'y', 'cx', 'cy', 'r', 'width', 'height', 'transform', 'style', 'points'];
/** Code, which is the same in all languages, and words that a reader wrote or a model knows. */
const QUOTED =
  'pre, code, math, [lang], textarea, .token, .chip, .model-written, option, .microscope-tokens, .microscope-map, .pass-token, .pass-described, .pass-cell';

const isShown = (element) => !element.closest('[hidden], template');

/** A part and everything in it, without what is hidden. */
const shownIn = (part) =>
  part.hidden || part.localName === 'template'
    ? []
    : [part, ...Array.from(part.children).flatMap(shownIn)];

/** Everything that an element says, as { element, text }. */
function textsIn(part) {
  return shownIn(part).flatMap((element) => [
    ...Array.from(element.childNodes)
      .filter(({ nodeType, textContent }) => nodeType === 3 && textContent.trim() !== '')
      .map(({ textContent }) => ({ element, text: textContent.trim() })),
    ...SAID.filter((name) => element.hasAttribute(name)).map((name) => ({
      ...{ element, name, text: element.getAttribute(name) },
    })),
  ]);
}

const nameOf = ({ localName, className }) =>
  `${localName}${typeof className === 'string' && className ? `.${className.trim().replaceAll(/\s+/g, '.')}` : ''}`;

/** Whether something may be broken in what a part shows, by its lines: quick, and never wrong where it says no. */
export const mayBeBroken = (lines) => NO_TEXT.test(lines);

/** Texts that are none, and lines of drawings that lead nowhere. */
export function brokenTexts(part) {
  const texts = textsIn(part)
    .filter(({ element }) => !element.closest('pre, code, .empty-rows')) // these say that there is no NaN
    .filter(({ text }) => NO_TEXT.test(text) || keys.has(text))
    .map(({ element, text }) => `${nameOf(element)} says "${text}"`);
  const drawn = shownIn(part)
    .flatMap((element) => DRAWN.map((name) => [element, name, element.getAttribute(name) ?? '']))
    .filter(
      ([, name, value]) =>
        /NaN|undefined|Infinity|null/.test(value) ||
        (['width', 'height', 'r'].includes(name) && value.startsWith('-')),
    )
    .map(([element, name, value]) => `${nameOf(element)} has ${name}="${value}"`);
  return [...texts, ...drawn];
}

const isOfOther = {
  en: (text) => /\p{Script=Han}/u.test(text),
  zh: (text) => /\b(the|and|of|is|are|with|this)\b/i.test(text),
};

/** Sentences of the other language. */
export function foreignTexts(part, language) {
  return textsIn(part)
    .filter(({ element, text }) => !element.closest(QUOTED) && isOfOther[language](text))
    .map(({ element, text }) => `${nameOf(element)} says "${text}"`);
}

const CONTROLS =
  'button, input, select, textarea, summary, a[href], [tabindex="0"], [role=slider], [role=grid]';

/** Role and accessible name of every control that is not hidden, as a screen reader has them, by its element. */
export function controlsIn(part) {
  const closed = Array.from(part.querySelectorAll('details:not([open])'));
  for (const details of closed) details.setAttribute('open', '');
  axe.setup(document.documentElement);
  try {
    return new Map(
      Array.from(part.querySelectorAll(CONTROLS))
        .filter(isShown)
        .map((element) => [
          element,
          {
            role: axe.commons.aria.getRole(element) ?? element.localName,
            name: axe.commons.text.accessibleText(element).trim(),
          },
        ]),
    );
  } finally {
    axe.teardown();
    for (const details of closed) details.removeAttribute('open');
  }
}

/** The group of a control: one of radio buttons, a fieldset, a table's row, or the whole part. */
const groupOf = (element) =>
  element.name && element.type === 'radio'
    ? `radio ${element.name}`
    : element.closest('fieldset, [role=group], [role=region], tr, li, section, details, form');

/** Controls without a name, and those of one group that have the same. */
export function namelessControls(controls) {
  const wrong = [];
  const groups = new Map();
  for (const [element, { role, name }] of controls) {
    if (name === '') wrong.push(`${nameOf(element)}: a ${role} without a name`);
    const group = groupOf(element);
    const names = groups.get(group) ?? groups.set(group, new Set()).get(group);
    if (name !== '' && names.has(`${role} ${name}`)) wrong.push(`two of ${role} "${name}"`);
    names.add(`${role} ${name}`);
  }
  return wrong;
}
