import { CHAPTER_IDS, CHAPTERS, laboratoryOf, type ChapterId } from '../chapters/index';
import type { State } from '../state/state';

type Opened = Pick<State, 'panel' | 'opened'>;

/** The same state, in which the panel can be seen that it leads to. */
export function withPlaceOpen<Of extends Opened>(state: Of): Of {
  const chapter = laboratoryOf(state.panel);
  const opened = state.opened ?? [];
  if (!chapter || opened.includes(chapter)) return state;
  return { ...state, opened: inOrder([...opened, chapter]) };
}

const inOrder = (ids: readonly ChapterId[]) => CHAPTER_IDS.filter((id) => ids.includes(id));

/** Shows the panels of the laboratories that are open, and no others. In a lesson folded panels are shown, too: see layout.css. */
export function foldLaboratories(opened: readonly ChapterId[]): void {
  for (const button of document.querySelectorAll<HTMLElement>('[data-opens]')) {
    const isOpen = opened.some((id) => id === button.dataset['opens']);
    if (button.getAttribute('aria-expanded') !== String(isOpen)) {
      button.setAttribute('aria-expanded', String(isOpen));
    }
  }
  for (const id of CHAPTER_IDS) {
    for (const panel of CHAPTERS[id].laboratory) {
      document.getElementById(panel)?.classList.toggle('folded', !opened.includes(id));
    }
  }
}

/** Has the buttons of the laboratories open and close them, by a change of the state. */
export function watchLaboratories(
  change: (patch: Opened) => void,
  opened: () => State['opened'],
): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-opens]') : null;
    const id = CHAPTER_IDS.find((name) => name === button?.dataset['opens']);
    if (!id) return;
    const now = opened() ?? [];
    const next = now.includes(id) ? now.filter((other) => other !== id) : inOrder([...now, id]);
    change({ panel: null, opened: next.length > 0 ? next : null });
  });
}
