import { PANEL_IDS, type PanelId } from '../features/index';
import { t, translate } from '../i18n/i18n';
import { find } from '../ui/dom';
import { FORMATS, save, type Format } from '../ui/export_figure';
import { frameOf } from '../ui/embed_code';
import { Panel, type TensorsOf } from '../features/panel';
import { reasonOf } from '../ui/reason';
import { describeFailure } from '../domain/describe_failure';
import type { App } from './app';
import { TopPanel } from './header';

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

/** What a frame on somebody's page is called by those who do not see it. */
const titleOf = (id: PanelId) => document.getElementById(`${id}-title`)?.textContent || 'qkv';

async function act(app: App, id: PanelId, what: string): Promise<string> {
  if (what === 'link' || what === 'embed') {
    const link = what === 'link' ? app.link(id) : app.link(null, `?embed=${id}`);
    const text = what === 'link' ? link : frameOf(link, titleOf(id), 640);
    return (await copy(text)) ? t('tools.copied') : text;
  }
  const panel = find(document, `qkv-panel-${id}`, HTMLElement);
  const tensors: TensorsOf = (wanted) => app.client.tensors(wanted);
  const figure = panel instanceof Panel ? await panel.figure?.(app.view(), tensors) : null;
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
      void act(app, id, what)
        .catch((error: unknown) => t('tools.failed', { reason: reasonOf(describeFailure(error)) }))
        .then((text) => {
          find(menu, '[role=status]', HTMLElement).textContent = text;
        });
    });
    menu.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      menu.open = false;
      find(menu, 'summary', HTMLElement).focus();
    });
    menu.addEventListener('focusout', ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !menu.contains(relatedTarget)) menu.open = false;
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
