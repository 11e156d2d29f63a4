import type { App } from './app';
import { find } from './dom';
import { FORMATS, save, type Format } from './export/figure';
import { t, translate } from './i18n';
import { Panel } from './panels/panel';
import { LOAD } from './panels/load';
import { PANEL_IDS, type PanelId } from './panels/table';
import { TopPanel } from './panels/top';

/** A panel's code is fetched when it comes this near to the screen. */
const NEAR = '600px';

const sectionOf = (id: PanelId) => find(document, `#${id}`, HTMLElement);
const panelOf = (id: PanelId) => find(document, `qkv-panel-${id}`, HTMLElement);

/** Fetches panels as they come near, and tells the app which are in sight. */
export function watchPanels(app: App): void {
  const near = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        near.unobserve(target);
        const id = PANEL_IDS.find((name) => name === target.id);
        if (id) void LOAD[id]().then(() => app.panelAdded());
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

/** The panel that is embedded, if this page is one alone. */
export function embedded(): PanelId | null {
  const wanted = new URLSearchParams(location.search).get('embed');
  return PANEL_IDS.find((id) => id === wanted) ?? null;
}

/** Leaves nothing on the page but one panel, and what it cannot do without. */
export function showAlone(alone: PanelId): void {
  document.documentElement.dataset['embed'] = alone;
  for (const id of PANEL_IDS) if (id !== alone) sectionOf(id).remove();
}

// ---- what can be done with a panel ----

const MENU = `
  <summary data-t="tools.title"></summary>
  <div class="menu-items">
    <button type="button" data-do="link" data-t="tools.link"></button>
    <button type="button" data-do="embed" data-t="tools.embed"></button>
    ${FORMATS.map(
      (format) => `<button type="button" data-do="${format}">${format.toUpperCase()}</button>`,
    ).join('')}
    <p role="status" class="hint"></p>
  </div>`;

async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false; // no permission, or not a secure page
  }
}

async function act(app: App, id: PanelId, what: string): Promise<string> {
  if (what === 'link' || what === 'embed') {
    const link = what === 'link' ? app.link(id) : app.link(null, `?embed=${id}`);
    const frame = `<iframe src="${link.replace(/&/g, '&amp;')}" title="qkv" width="100%" height="640"></iframe>`;
    const text = what === 'link' ? link : frame;
    return (await copy(text)) ? t('tools.copied') : text;
  }
  const panel = panelOf(id);
  const figure =
    panel instanceof Panel ? await panel.figure?.(app.view(), () => app.client.tensors()) : null;
  if (!figure) return t('tools.nothing');
  await save(figure, what as Format, app.link(id));
  return t('tools.saved', { name: `qkv-${figure.name}.${what}` });
}

/** Adds to every panel the menu by which its picture, numbers and link can be taken away. */
export function addTools(app: App): void {
  for (const id of PANEL_IDS) {
    const section = document.getElementById(id);
    if (!section || id === 'use') continue;
    const menu = document.createElement('details');
    menu.className = 'menu';
    menu.innerHTML = MENU;
    menu.addEventListener('click', (event) => {
      const what = event.target instanceof HTMLElement ? event.target.dataset['do'] : undefined;
      if (!what) return;
      void act(app, id, what).then((text) => {
        find(menu, '[role=status]', HTMLElement).textContent = text;
      });
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      menu.open = false;
      find(menu, 'summary', HTMLElement).focus();
    });
    document.addEventListener('click', ({ target }) => {
      if (!(target instanceof Node && menu.contains(target))) menu.open = false;
    });
    section.querySelector('.section-head')?.append(menu);
    translate(menu);
  }
  document.addEventListener('share', () => {
    const link = app.link();
    void copy(link).then((done) => {
      find(document, 'qkv-top', TopPanel).say(t(done ? 'bar.shared' : 'bar.notShared'));
      if (!done) history.replaceState(null, '', link);
    });
  });
}
