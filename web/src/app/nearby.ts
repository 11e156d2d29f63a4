import { PANEL_IDS } from '../features/index';
import { loadPanel } from '../features/load';
import type { App } from './app';

/** A panel's code is fetched when it comes this near to the screen. */
const NEAR = '600px';

/** Fetches panels as they come near, and tells the app which are in sight. */
export function watchPanels(app: App): void {
  const underWay = new Set<Element>();
  /** Those that did not arrive: they are fetched when they come near again, or the network does. */
  const missed = new Set<Element>();
  const arrive = async (section: Element) => {
    const id = PANEL_IDS.find((name) => name === section.id);
    if (!id || underWay.has(section)) return;
    underWay.add(section);
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
    near.unobserve(section);
    app.panelAdded();
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
  window.addEventListener('online', () => {
    for (const section of missed) {
      near.unobserve(section); // to be told anew whether it is near
      near.observe(section);
    }
  });
}
