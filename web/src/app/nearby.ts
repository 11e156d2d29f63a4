import { PANEL_IDS } from '../features/index';
import { loadPanel } from '../features/load';
import type { App } from './app';

/** A panel's code is fetched when it comes this near to the screen. */
const NEAR = '600px';

/** Fetches panels as they come near, and tells the app which are in sight. */
export function watchPanels(app: App): void {
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        const id = PANEL_IDS.find((name) => name === target.id);
        if (id) void loadPanel(id, app.language).then(() => app.panelAdded());
      }
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
}
