import { PANEL_IDS, type PanelId } from '../features/index';
import { loadPanel } from '../features/load';
import type { App } from './app';

/** A panel's code is fetched when it comes this near to the screen. */
const NEAR = '600px';

/** For the numbers of a panel that is there, in ms. */
const PATIENCE = 2000;

const FOCUSABLE =
  'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex="0"]';

/** The first thing in a panel that Tab goes to. */
function entryOf(section: Element): HTMLElement | undefined {
  const all = section.querySelectorAll<HTMLElement>(`[data-panel] :is(${FOCUSABLE})`);
  return Array.from(all).find(
    // Of a group of radio buttons it is the one that is checked.
    (element) =>
      element.getClientRects().length > 0 &&
      !(element instanceof HTMLInputElement && element.type === 'radio' && !element.checked),
  );
}

/** Fetches the small pictures of the chapters when the first of them comes near; those that did not arrive, with the next. */
function watchPictures(app: App): void {
  let coming: Promise<void> | null = null;
  const load = async () => {
    try {
      await loadPanel('pictures', app.language);
      near.disconnect();
      app.panelAdded();
    } catch (error) {
      console.error(error);
      coming = null;
    }
  };
  const near = new IntersectionObserver(
    (entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) coming ??= load();
    },
    { rootMargin: NEAR },
  );
  for (const picture of document.querySelectorAll('.chapter-picture')) near.observe(picture);
}

/** Fetches panels as they come near, and tells the app which are in sight. */
export function watchPanels(app: App): void {
  const underWay = new Map<Element, Promise<void>>();
  /** Those that did not arrive: they are fetched when they come near again, or the network does. */
  const missed = new Set<Element>();
  const here = new Set<Element>();
  const fetchPanel = async (section: Element, id: PanelId) => {
    missed.delete(section);
    try {
      await loadPanel(id, app.language);
    } catch (error) {
      console.error(error);
      missed.add(section);
      return;
    } finally {
      underWay.delete(section);
    }
    here.add(section);
    near.unobserve(section);
    app.panelAdded();
  };
  const arrive = async (section: Element): Promise<void> => {
    const id = PANEL_IDS.find((name) => name === section.id);
    if (!id) return;
    const coming = underWay.get(section) ?? fetchPanel(section, id);
    underWay.set(section, coming);
    await coming;
  };
  /** Whether a panel, or what it shows, is still to come; one that did not arrive is not waited for. */
  const waits = (section: Element) => {
    const id = PANEL_IDS.find((name) => name === section.id);
    if (!id || missed.has(section)) return false;
    return !here.has(section) || (!entryOf(section) && !(app.sees(id) && app.settled));
  };
  /** Tab goes into a panel that has just arrived, not past it. */
  const enter = async (section: Element) => {
    await arrive(section);
    const deadline = performance.now() + PATIENCE;
    while (waits(section) && performance.now() < deadline) await new Promise(requestAnimationFrame);
    if (section.contains(document.activeElement)) entryOf(section)?.focus();
  };
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) void arrive(target);
    },
    { rootMargin: NEAR },
  );
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) app.show(target, isIntersecting);
  });
  for (const id of PANEL_IDS) {
    const section = document.getElementById(id);
    if (!section) continue; // this page shows another panel alone
    near.observe(section);
    seen.observe(section);
  }
  watchPictures(app);
  document.addEventListener('keydown', (event) => {
    const section = event.target instanceof Element && event.target.closest('section[id]');
    if (!section || event.key !== 'Tab' || event.shiftKey || !waits(section)) return;
    if (section.querySelector('details[open]')) return; // first through what is open
    event.preventDefault(); // the reader is quicker than the panel
    void enter(section);
  });
  window.addEventListener('online', () => {
    for (const section of missed) {
      near.unobserve(section); // so that its callback runs again
      near.observe(section);
    }
  });
}
