// The story of a part of the page: what each of its controls asks for, a line each, in tests/page/stories. A person writes it.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../support/js/files.js';
import { differences } from './operate.js';

/** A name without its numbers and without what is quoted in it, so that it is the same for all of a kind. */
export const inGeneral = (name) =>
  name
    .replace(/“[^”]*”/gu, '“…”')
    .replace(/[-−+]?\d+(?:[.,]\d+)*/gu, '#')
    .replace(/\s+/gu, ' ')
    .replace(/ ?(?:# ?[×·]? ?)+$/u, '')
    .replace(/^[^#\p{L}]+$/u, '…');

const wayOf = (act) =>
  act.startsWith('key ') ? 'keys' : /drag|hover|leave/.test(act) ? 'pointer' : '';

/** Fails unless the story of this name has these lines; of its first chapter alone, if only that was told. */
export function requireStory(name, lines, isFirst = false) {
  const file = join(root, 'tests/page/stories', `${name}.txt`);
  const written = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  const end = isFirst && written.includes('') ? written.indexOf('') : written.length;
  const unlike = differences(written.slice(0, end), lines);
  const message = `not as in tests/page/stories/${name}.txt: - is only there, + only on the page`;
  assert.equal(unlike.join('\n'), '', message);
}

export class Story {
  #name;
  #fields;
  #chapters = [];
  /** Of a part of the page with fields of its own. */
  constructor(name, fields) {
    this.#name = name;
    this.#fields = fields;
  }
  /** What follows is about another state. */
  chapter(patch) {
    const fields = Object.entries(patch).map(([field, value]) => `${field} = ${value}`);
    const title = fields.length > 0 ? `# with ${fields.join(', ')}` : '# at first';
    this.#chapters.push({ title, lines: new Map() });
  }
  /** An act on a control, and its effects. */
  add({ role, label, target, act, effects }) {
    const { lines } = this.#chapters.at(-1);
    const way = role && target.hasAttribute('tabindex') ? wayOf(act) : '';
    const control = role
      ? `${role} "${inGeneral(label)}"`
      : `drawing ${target.getAttribute('class') || target.parentElement.getAttribute('class')}`;
    const subject = way ? `${control}, ${way}` : control;
    const known = lines.get(subject) ?? lines.set(subject, new Set()).get(subject);
    for (const effect of effects) known.add(effect);
    if (known.size > 1) known.delete('shows'); // that goes without saying
  }
  #inWords(effects) {
    const left = this.#fields.filter((field) => !effects.has(field));
    const isAlmostAll = this.#fields.length > 8 && left.length < 3;
    const others = [...effects].filter((effect) => !isAlmostAll || !this.#fields.includes(effect));
    const almostAll = isAlmostAll ? [`every field but ${left.join(' and ')}`] : [];
    return [...almostAll, ...others.sort()].join(', ');
  }
  /** Fails unless the file says the same. Of a later state only what was not said before. */
  check() {
    const said = new Set();
    const told = this.#chapters.flatMap(({ title, lines }, chapter) => {
      const own = Array.from(lines)
        .filter(([, effects]) => effects.size > 0)
        .map(([subject, effects]) => `${subject}: ${this.#inWords(effects)}`)
        .filter((line) => !said.has(line));
      for (const line of own) said.add(line);
      return chapter > 0 && own.length === 0 ? [] : [title, ...own, ''];
    });
    requireStory(this.#name, told.slice(0, -1), this.#chapters.length === 1);
  }
}
