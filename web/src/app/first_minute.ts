import { PANEL_IDS } from '../features/index';
import { readAddress } from '../features/lessons/page/lesson_address';
import { richNodes } from '../i18n/markup';
import { sentences, t } from '../i18n/i18n';
import { formatFragment, type State } from '../state/state';
import { Panel, type View } from '../features/panel';
import type { Frame } from '../worker/protocol';
import { embedded } from './embed';

const KEY = 'qkv-introduction';
const SEEN = 'seen';
/** How long what was just done may be looked at before the next sentence, in milliseconds. */
const PAUSE = 700;
/** Between the words and the note, and between the note and the edge of the screen, in pixels together. */
const MARGIN = 20;
/** How much a weight changes at least that is seen to change, and by what factor, as a logarithm, the temperature was moved then. */
const SEEN_CHANGE = 0.05;
const SLID = Math.log(1.5);

const STEPS = ['tap', 'slide', 'doors'] as const;
type Step = (typeof STEPS)[number];

/** Where the last step leads, and the name of its text; a panel that this page has not is left out. */
const DOORS: readonly (readonly [panel: string, text: 'compute' | 'learn' | 'use'])[] = [
  ['pair', 'compute'],
  ['learn', 'learn'],
  ['use', 'use'],
];

function wasSeen(): boolean {
  try {
    return localStorage.getItem(KEY) === SEEN;
  } catch {
    return true; // storage can be forbidden: then it would come again with every visit
  }
}

/** It belongs to the reader, not to a link. */
function remember(): void {
  try {
    localStorage.setItem(KEY, SEEN);
  } catch {
    // Then it lasts as long as the page.
  }
}

/** Whether this visit is one to the page itself, the first, by an address that asks for nothing. */
const isFirstVisit = () =>
  location.hash === '' &&
  embedded() === null &&
  readAddress(location.search, location.hash) === null &&
  !wasSeen();

/**
 * What a first visitor may do in the first minute: one sentence at a time below the words of the sentence, until it is
 * done. It takes the place of the caption, which says the same, so that nothing moves.
 */
export class FirstMinutePanel extends Panel {
  #step: Step | null = null;
  #wanted = isFirstVisit();
  /** What has been done since it began. */
  readonly #done = new Set<Step>();
  /** The state in which it began. */
  #began: State | null = null;
  #timer = 0;
  /** The boxes as they were when the word was chosen. */
  #boxes: { row: number; weights: Float32Array; temperature: number; tokens: string } | null = null;
  /** Whether the temperature was moved and the boxes did not change: the word may have only itself to read. */
  #isStill = false;

  protected template(): string {
    const doors = DOORS.filter(([panel]) => PANEL_IDS.some((id) => id === panel)).map(
      ([panel, text]) =>
        `<a class="button door" data-door="${panel}" href="#${panel}" data-t="intro.${text}"></a>`,
    );
    return `
      <div class="first-minute" role="region" data-t-label="intro.title" hidden>
        <p class="first-minute-text"></p>
        <div class="first-minute-doors">${doors.join('')}</div>
        <button type="button" class="button first-minute-skip" data-t="intro.skip"></button>
      </div>
      <p class="visually-hidden" role="status"></p>`;
  }

  protected override ready(): void {
    // On a phone the note stands at the lower edge of the screen, for as long as the sentence is not behind the reader.
    new IntersectionObserver(([place]) => {
      const past = place?.isIntersecting === false && place.boundingClientRect.top < 0;
      this.classList.toggle('past', past);
    }).observe(this);
    window.addEventListener('resize', () => this.#place());
    const skip = this.find('.first-minute-skip', HTMLElement);
    skip.addEventListener('click', () => this.#end());
    // Before a menu hears of it, which is closed by then.
    document.addEventListener('keydown', (event) => this.#onKey(event), { capture: true });
    document.addEventListener('introduction-opened', () => this.#begin());
    for (const door of this.querySelectorAll<HTMLElement>('[data-door]')) {
      door.addEventListener('click', () => this.#leave(door.dataset['door'] ?? ''));
    }
  }

  /** Esc has other uses in a menu and on a map. */
  #onKey({ key, target }: KeyboardEvent): void {
    if (key !== 'Escape' || this.#step === null) return;
    if (target instanceof Element && target.closest('details[open], qkv-matrix')) return;
    this.#end();
  }

  #begin(): void {
    this.#wanted = true;
    this.#began = this.#boxes = null;
    this.#isStill = false;
    this.#done.clear();
    this.#show('tap');
    this.find('.first-minute', HTMLElement).scrollIntoView({ block: 'nearest' });
  }

  #end(): void {
    remember();
    clearTimeout(this.#timer);
    this.#wanted = false;
    this.#show(null);
  }

  /** Through a door: whoever reads on by keyboard or ear goes on there. */
  #leave(panel: string): void {
    this.#end();
    const section = document.getElementById(panel);
    if (!section) return;
    section.tabIndex = -1;
    const focus = () => section.focus({ preventScroll: true });
    // A closed laboratory opens as the page follows the link.
    if (section.classList.contains('folded')) {
      window.addEventListener('hashchange', focus, { once: true });
    } else {
      focus();
    }
  }

  update({ state, frame, list }: View): void {
    if (!this.#wanted) return;
    // Not before there is something to tap: the boxes are filled by the first answer.
    if (!frame || list.tokens.length === 0 || !state.controls) {
      this.#show(null);
      return;
    }
    this.#began ??= state;
    for (const door of this.querySelectorAll<HTMLAnchorElement>('[data-door]')) {
      const panel = PANEL_IDS.find((id) => id === door.dataset['door']) ?? null;
      door.setAttribute('href', formatFragment({ ...state, panel }));
    }
    if (state.query !== null && state.query !== this.#began.query) this.#note('tap');
    if (this.#boxesChanged(frame)) this.#note('slide');
    this.#show(this.#step ?? this.#next(), true);
  }

  /**
   * On narrow screens the note is held at the lower edge where that covers neither the words nor what is above them; else it
   * stands below the words.
   */
  #place(): void {
    const words = document.querySelector('.chips')?.getBoundingClientRect();
    const note = this.find('.first-minute', HTMLElement);
    if (!words || note.hidden) return;
    const end = words.bottom + scrollY + MARGIN;
    this.classList.toggle('below', end + note.offsetHeight > innerHeight);
  }

  /** Whether the temperature has been moved so far that the boxes look otherwise: by less nobody has seen what it does. */
  #boxesChanged({ query, request }: Frame): boolean {
    const { temperature, tokens } = request.layer;
    if (!query) return false;
    const { row, weights } = query;
    const before = this.#boxes;
    if (before?.row !== row || before.tokens !== tokens.join()) {
      this.#boxes = { row, weights, temperature, tokens: tokens.join() };
      this.#isStill = false;
      return false;
    }
    const changes = before.weights.map((weight, i) => Math.abs(weight - (weights[i] ?? 0)));
    const most = Math.max(0, ...changes);
    const turned = Math.abs(Math.log(temperature / before.temperature)) > SLID;
    this.#isStill = turned && most < SEEN_CHANGE;
    return temperature !== before.temperature && most >= SEEN_CHANGE;
  }

  /** The next sentence comes when the hand has rested for a moment. */
  #note(step: Step): void {
    this.#done.add(step);
    if (step !== this.#step) return;
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => this.#show(this.#next()), PAUSE);
  }

  #next(): Step {
    return STEPS.find((step) => !this.#done.has(step)) ?? 'doors';
  }

  /** `again`: the words may be in another language. */
  #show(step: Step | null, again = false): void {
    if (step === this.#step && !again) return;
    const isNew = step !== this.#step;
    const first = this.#step === null;
    this.#step = step;
    this.find('.first-minute', HTMLElement).hidden = step === null;
    const { dataset } = document.documentElement;
    if (step === null) delete dataset['introduction'];
    else dataset['introduction'] = step;
    const words = step === 'slide' && this.#isStill ? 'still' : step;
    const text = words === null ? '' : t(`intro.${words}`);
    const last = step === 'doors';
    if (this.dataset['text'] !== text) {
      this.dataset['text'] = text;
      this.find('.first-minute-text', HTMLElement).replaceChildren(...richNodes(text));
    }
    this.find('.first-minute-doors', HTMLElement).hidden = !last;
    this.setText('.first-minute-skip', t(last ? 'intro.close' : 'intro.skip'));
    this.#place();
    if (!isNew && words !== 'still') return;
    const said = this.find('.first-minute-text', HTMLElement).textContent;
    this.setText('[role=status]', first && step ? sentences(said, t('intro.escape')) : said);
  }
}
