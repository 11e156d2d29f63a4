import { CHAPTER_IDS, CHAPTERS, placeOf, type ChapterId } from '../chapters/index';
import { find } from '../ui/dom';

/** A chapter is read when its heading has come so far up the screen. */
const READ_AT = 0.4;

interface Entry {
  readonly id: ChapterId;
  readonly chapter: Element;
  readonly link: Element | null;
}

/** The chapter on the screen; null above the first. */
function chapterInSight(entries: readonly Entry[]): Entry | null {
  const line = innerHeight * READ_AT;
  const begun = entries.filter(({ chapter }) => chapter.getBoundingClientRect().top < line);
  return begun.at(-1) ?? null;
}

/** On narrow screens the list opens by a button, and closes when the reader has chosen or turns elsewhere. */
function openByButton(contents: Element): void {
  const button = find(contents, '.contents-button', HTMLElement);
  const show = (open: boolean) => button.setAttribute('aria-expanded', String(open));
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
  contents.addEventListener('click', ({ target }) => {
    if (target instanceof HTMLAnchorElement) show(false);
  });
  contents.addEventListener('keydown', (event) => {
    if (!(event instanceof KeyboardEvent) || event.key !== 'Escape') return;
    show(false);
    button.focus();
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Node && !contents.contains(target)) show(false);
  });
  contents.addEventListener('focusout', (event) => {
    const to = event instanceof FocusEvent ? event.relatedTarget : null;
    if (to instanceof Node && !contents.contains(to)) show(false);
  });
}

/**
 * Follows the reader through the chapters: the table of contents marks the chapter in sight, and the settings of the layer stay on the
 * screen as one line where they act, and nowhere else.
 */
export function watchChapters(): void {
  const contents = document.querySelector('.contents');
  if (!contents) return; // one panel alone
  const entries = CHAPTER_IDS.flatMap((id): Entry[] => {
    const chapter = document.getElementById(placeOf(id));
    return chapter
      ? [{ id, chapter, link: contents.querySelector(`[href="#${placeOf(id)}"]`) }]
      : [];
  });
  openByButton(contents);
  let scheduled = false;
  const look = () => {
    scheduled = false;
    const current = chapterInSight(entries);
    for (const { link, id } of entries) {
      if (id === current?.id) link?.setAttribute('aria-current', 'true');
      else link?.removeAttribute('aria-current');
    }
    holdSettings(current === null || CHAPTERS[current.id].settings);
  };
  const schedule = () => {
    if (scheduled) return;
    scheduled = true;
    requestAnimationFrame(look);
  };
  for (const name of ['scroll', 'resize'])
    window.addEventListener(name, schedule, { passive: true });
  look();
}

/** Whoever is in the settings keeps them, wherever the page scrolls; a lesson has them among its own panels. */
function holdSettings(act: boolean): void {
  const section = document.querySelector<HTMLElement>('.instruments');
  const settings = section?.firstElementChild;
  if (!section || !settings) return;
  const isOnPage = section.parentElement?.localName === 'main';
  const isAbove = isOnPage && section.getBoundingClientRect().bottom < 0;
  const held = isAbove && (act || settings.contains(document.activeElement));
  if (section.classList.contains('held') === held) return;
  // What stands below must not move when the settings leave their place.
  section.style.minHeight = held ? `${section.offsetHeight}px` : '';
  section.classList.toggle('held', held);
}
