// The stylesheets of the panels, in Node: a panel comes with its styles, which stay when others come, so each selector
// must reach that panel alone.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';

const folder = join(root, 'web/src/features');
const panels = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'style.css')));
const sheetOf = (name) => readFileSync(join(folder, name, 'style.css'), 'utf8');
const sourceOf = (path) =>
  readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    .join('\n')
    .replace(/\$\{[^{}]*\}/g, '-'); // a name that ends with it is another name
const sources = new Map(panels.map((name) => [name, sourceOf(join(folder, name))]));
for (const other of ['app', 'ui']) sources.set(other, sourceOf(join(root, 'web/src', other)));

/** That of the map is in the first view and is of the whole page: what other panels show of a matrix looks alike. */
const SHARED = ['map'];
/** A lesson is the whole page, locks what is on it, and its editor takes room from it. */
const MARKS = {
  lessons: [':root[data-lesson]', "[aria-describedby~='lock-reason']", "[data-editor='beside']"],
};

/** The selectors of a sheet; those of nested rules with what they are nested in. */
function selectorsOf(sheet) {
  const found = [];
  const within = [];
  for (const [, prelude, end] of sheet
    .replace(/\/\*.*?\*\//gs, '')
    .matchAll(/([^{};]*(?:\([^)]*\))?[^{};]*)([{};])/g)) {
    if (end === '}') within.pop();
    else if (end === '{') {
      const own = prelude.trim().replace(/\s+/g, ' ');
      within.push(own.startsWith('@') ? '' : own);
      if (within.at(-1)) found.push(within.filter(Boolean).join(' '));
    }
  }
  return found;
}

/** Splits at the commas outside of brackets. */
const partsOf = (list) => list.split(/,(?![^(]*\))/).map((part) => part.trim());

/** One selector for each way through `:is(...)`; what it must not be says nothing about where it reaches. */
function waysOf(selector) {
  const plain = selector.replace(/:not\([^)]*\)/g, '');
  const choice = /:is\(([^()]*)\)/.exec(plain);
  if (!choice) return [plain];
  return partsOf(choice[1]).flatMap((one) => waysOf(plain.replace(choice[0], () => one)));
}

/** Whether a source makes elements of this class: in markup, or as an attribute or a property of them. */
function uses(source, name) {
  const list = `[^"'\`]*(?<![\\w-])${name}(?![\\w-])`;
  return new RegExp(
    `class=\\\\?"${list}|(?:class|className)['"]?(?:\\]|:| =) ?['"\`]${list}|` +
      `classList\\.\\w+\\(['"]${list}`,
  ).test(source);
}
const usedBy = (name, elsewhere) =>
  [...sources.keys()].filter((other) => other !== elsewhere && uses(sources.get(other), name));

/** Whether some part of this selector is an element, or has an id or a class, that only this panel has. */
function isOwn(selector, panel) {
  const elements = selector.match(/(?<![\w.#-])qkv-[\w-]+/g) ?? [];
  const isHere = (tag) => sources.get(panel).includes(`customElements.define('${tag}'`);
  if (elements.some((tag) => tag === `qkv-panel-${panel}` || isHere(tag))) return true;
  if ((MARKS[panel] ?? []).some((mark) => selector.includes(mark))) return true;
  const ids = selector.match(/(?<=#)[a-z][\w-]*/g) ?? [];
  if (ids.some((id) => sources.get(panel).includes(`id="${id}"`))) return true;
  const classes = selector.match(/(?<=\.)[a-z][\w-]*/gi) ?? [];
  return classes.some((name) => usedBy(name, panel).length === 0);
}

for (const panel of panels.filter((name) => !SHARED.includes(name))) {
  test(`styles: those of the panel ${panel} reach no other`, () => {
    const all = selectorsOf(sheetOf(panel)).flatMap(partsOf).flatMap(waysOf);
    assert.ok(all.length > 2);
    const others = all.filter((selector) => !isOwn(selector, panel));
    assert.deepEqual(others, []);
  });
}
