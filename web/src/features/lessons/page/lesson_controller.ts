import { t, type Language } from '../../../i18n/i18n';
import { find } from '../../../ui/dom';
import { loadWords } from '../../load';
import { initialState } from '../../../state/state';
import { idOf, INDEX, writeAddress, type Address } from './lesson_address';
import { canUnpack, readCode, writeCode } from './lesson_codec';
import { LessonEditor } from './editor';
import type { Host } from './page_api';
import { LessonIndex, type Missing } from './lesson_index';
import type { Lesson } from './lesson';
import { Locks } from './locks';
import { LessonReader, searchOf } from './reader';
import { allLessons } from './builtin_lessons';
import '../style.css';

/** Why there is a list in the place of a lesson; null: the reader opened it. */
function missingOf({ name, code }: Address): Missing | null {
  if (name === INDEX) return null;
  return code !== null && !canUnpack(code) ? 'lessons.packed' : 'lessons.missing';
}

/** Turns the page into a lesson or the list of them, and back. */
export class Desk {
  readonly #host: Host;
  /** What the page consists of, in its order, while a lesson has its place. */
  #kept: readonly Element[] = [];
  readonly #store = document.createElement('div');
  #address: Address | null = null;
  #language: Language;
  /** For which address another language was requested, until its lesson is open. */
  #speaking: Address | null = null;
  #reader: LessonReader | null = null;
  /** What the reader has open. */
  #shown: { readonly address: Address; readonly language: Language } | null = null;
  #editor: LessonEditor | null = null;
  readonly #locks = new Locks();

  constructor(host: Host) {
    this.#host = host;
    this.#language = host.view().state.language;
    this.#store.hidden = true;
    this.#locks.dataset['panel'] = '';
    this.#locks.hidden = true;
    this.#locks.onLanguage = (language) => this.#follow(language);
  }

  /** Null: back to the page. Whoever followed a link is led to the title, which the link's place has not any more. */
  async open(address: Address | null, { focus = false } = {}): Promise<void> {
    this.#address = address;
    if (!address) {
      this.#leave();
      return;
    }
    const language = address.language ?? this.#host.view().state.language;
    if (this.#reader && this.#isOpen(address, language)) {
      this.#speaking = null;
      // Another step of the same lesson, as by the browser's Back: what was answered stays.
      await this.#reader.go(address.step - 1, { focus });
      return;
    }
    await loadWords('lessons', language);
    const lesson = address.code === null ? null : await readCode(address.code);
    const all = lesson ? [] : await allLessons(language);
    const listed = all.find(({ name }) => name === address.name)?.lesson ?? null;
    if (this.#address !== address) return; // the reader has gone elsewhere meanwhile
    const shown = lesson ?? listed;
    if (language !== this.#host.view().state.language) await this.#speak(language, address);
    if (this.#address !== address) return; // or while the texts of the page were on their way
    this.#language = language;
    this.#speaking = null;
    if (shown) this.#read(shown, address, language);
    else this.#list(all, missingOf(address));
    if (focus) find(document, '#lesson-title', HTMLElement).focus({ preventScroll: true });
  }

  #isOpen({ name, code }: Address, language: Language): boolean {
    const { address, language: spoken } = this.#shown ?? {};
    return address?.name === name && address.code === code && spoken === language;
  }

  /** Another language of the page; who goes elsewhere meanwhile waits no longer. */
  async #speak(language: Language, address: Address): Promise<void> {
    this.#speaking = address;
    this.#host.begin(initialState(language));
    const deadline = performance.now() + 5000;
    const isThere = () => this.#host.view().state.language === language;
    while (!isThere() && this.#address === address && performance.now() < deadline) {
      await new Promise(requestAnimationFrame);
    }
  }

  /** The page has another language: so has the lesson, at the same step. */
  #follow(language: Language): void {
    if (language === this.#language || !this.#address) return;
    if (this.#speaking === this.#address) return; // it is requested by the lesson that is to come
    this.#language = language;
    const step = this.#reader ? this.#reader.at + 1 : this.#address.step;
    void this.open({ ...this.#address, step, language });
  }

  #read(lesson: Lesson, address: Address, language: Language): void {
    const { name, code, step } = address;
    this.#shown = { address, language };
    const reader = (this.#reader ??= new LessonReader());
    reader.host = this.#host;
    reader.locks = this.#locks;
    reader.store = this.#store;
    this.#show(reader);
    const link = () =>
      writeAddress({ name, code, step: reader.at + 1 }, this.#host.view().state.language);
    reader.open(
      {
        ...{ lesson, language, link, id: idOf(address) },
        adapt: () => this.edit(lesson),
        leave: () => location.assign(`#v=1&lang=${this.#host.view().state.language}`),
      },
      step - 1,
    );
  }

  #list(all: Awaited<ReturnType<typeof allLessons>>, missing: Missing | null): void {
    this.#reader = null; // its panels are taken from it before it goes
    this.#shown = null;
    const list = new LessonIndex(all, missing, (lesson) => this.edit(lesson));
    this.#show(list);
    const fragment = () =>
      writeAddress({ name: INDEX, code: null, step: 1 }, this.#host.view().state.language);
    this.#host.hold = { allow: (patch) => patch, fragment, panels: new Set() };
    history.replaceState(null, '', location.pathname + searchOf() + fragment());
    list.update(this.#host.view());
  }

  /** The editor, with a copy of this lesson, or with what was begun in it before. */
  edit(lesson: Lesson | null): void {
    const editor = (this.#editor ??= new LessonEditor());
    editor.dataset['panel'] = '';
    if (!editor.isConnected) document.body.append(editor);
    editor.begin(lesson, this.#host, writeCode);
  }

  #show(element: HTMLElement): void {
    const main = find(document, 'main', HTMLElement);
    if (this.#kept.length === 0) {
      this.#kept = [...main.children];
      // The failure of the engine is shown on a lesson, too.
      this.#store.append(...this.#kept.filter((part) => !part.classList.contains('hero')));
    }
    for (const other of main.querySelectorAll('qkv-lesson, qkv-lessons')) {
      if (other === element) continue;
      for (const part of this.#kept) if (other.contains(part)) this.#store.append(part);
      other.remove();
    }
    element.dataset['panel'] = '';
    main.append(element, this.#store, this.#locks);
    document.documentElement.dataset['lesson'] = 'open';
    window.scrollTo(0, 0);
  }

  #leave(): void {
    this.#host.hold = null;
    this.#locks.freeAll();
    // Nothing was kept where no lesson was open.
    if (this.#kept.length > 0) find(document, 'main', HTMLElement).replaceChildren(...this.#kept);
    this.#kept = [];
    this.#reader?.close();
    this.#reader = null;
    this.#shown = null;
    document.title = t('page.title');
    delete document.documentElement.dataset['lesson'];
  }
}
