import { marks } from '../shared/accuracy';
import { KINDS, type Kind } from '../shared/model_configs';
import { legendOf } from './plot_marks';
import type { Spoken } from '../shared/protocol';
import { expected } from '../shared/task';
import { t } from '../feature';
import { nameOf, saidWords } from './sentences';

/** A digit of a row; a wrong one is underlined. */
function digit(text: string, fine: boolean): HTMLElement {
  const element = document.createElement('span');
  element.className = fine ? 'said-digit' : 'said-digit said-wrong';
  element.textContent = text;
  return element;
}

function row(name: readonly Node[], digits: readonly HTMLElement[], note: string): HTMLElement {
  const element = document.createElement('div');
  element.className = 'said-row';
  const parts = ['said-name', 'said-digits', 'said-note'].map((part) => {
    const cell = document.createElement('span');
    cell.className = part;
    return cell;
  });
  const [first, middle, last] = parts;
  first?.append(...name);
  middle?.append(...digits);
  if (last) last.textContent = note;
  element.append(...parts);
  return element;
}

function nameNodes(kind: Kind): Node[] {
  const holder = document.createElement('template');
  holder.innerHTML = legendOf(kind);
  return [holder.content, document.createTextNode(` ${nameOf(kind)}`)];
}

/** The digits that a model said beside those it should have; what it did not say is a dot. */
function saidRow(kind: Kind, { source, said }: Spoken): HTMLElement {
  const { ids } = said[kind];
  const right = marks(source, ids);
  const length = Math.max(source.length, ids.length);
  const digits = Array.from({ length }, (_, i) => digit(String(ids[i] ?? '·'), right[i] ?? false));
  const note = t('recurrence.right', { right: right.filter(Boolean).length, all: source.length });
  const element = row(nameNodes(kind), digits, note);
  const middle = element.querySelector('.said-digits');
  middle?.setAttribute('role', 'img');
  middle?.setAttribute('aria-label', saidWords(nameOf(kind), source, said[kind]));
  return element;
}

/** What should be said, and what each model says, one under the other. */
export function saidRows(source: readonly number[], spoken: Spoken | null): HTMLElement[] {
  const wanted = expected(source).map((token) => digit(String(token), true));
  const head = row([document.createTextNode(t('recurrence.expected'))], wanted, '');
  return spoken ? [head, ...KINDS.map((kind) => saidRow(kind, spoken))] : [head];
}
