// The page's own state on a stage of its own: its worker is a puppet that answers when the test says so, and its panels write down
// what they are handed. Every test has a new page.
import { afterEach, beforeEach } from 'node:test';
import { openWindow } from './window.js';

const opened = openWindow();
export const { told, workers, rest } = opened;
const queries = new Map();
/** A query of the appearance that never changes by itself. */
globalThis.matchMedia = (query) => {
  if (!queries.has(query)) queries.set(query, Object.assign(new EventTarget(), { matches: false }));
  return queries.get(query);
};
const { modules } = await import('./engine.js');
export const web = await modules(
  ...['app/app', 'features/panel', 'state/state', 'domain/tokenizer'],
);
const { App, Panel } = web;

/** Notes every view; as large as the test says. */
export class Noting extends Panel {
  static views = [];
  static size = { width: 10, height: 20 };
  template() {
    return '';
  }
  update(view) {
    Noting.views.push(view);
  }
  surfaces() {
    return { map: Noting.size };
  }
}
for (const id of ['map', 'model']) {
  const followsModel = id === 'model';
  const Named = class extends Noting {
    followsModel = followsModel;
  };
  customElements.define(`qkv-panel-${id}`, Named);
}
export const { views } = Noting;

/** The page of a test, and what it asked its worker. */
export let app;
export let asked;
beforeEach(() => {
  document.body.innerHTML =
    '<section id="map"><qkv-panel-map data-panel></qkv-panel-map></section>';
  views.length = 0;
  Noting.size = { width: 10, height: 20 };
  localStorage.clear();
  app = newApp();
});
afterEach(async () => {
  await rest();
  opened.leave();
  queries.clear();
});

/** A page whose requests are noted in `asked`. */
function newApp() {
  const made = new App();
  asked = [];
  const ask = made.client.request.bind(made.client);
  made.client.request = (request) => {
    asked.push(request);
    ask(request);
  };
  return made;
}
export const say = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
export const worker = (data) => workers.at(-1).say(data);
export const info = { variant: 'simd' };
/** Starts the page and its engine, and answers what is asked first. */
export function run(time = 1) {
  app.start();
  worker({ type: 'ready', info });
  answer(time);
}
/** The worker's answer to the latest request that it heard. */
export function answer(time = 1) {
  const { id, request } = told.findLast(({ type }) => type === 'run');
  worker({ type: 'frame', pixels: {}, news: { id, time, info, request } });
  worker({ type: 'rest', id });
}
/** How many views and requests come of this at once, and then until nobody waits any more: '0 0 1 0' is one view later. */
export async function comes(act) {
  const before = [views.length, asked.length];
  const now = () => `${views.length - before[0]} ${asked.length - before[1]}`;
  act();
  const atOnce = now();
  await rest();
  return `${atOnce} ${now()}`;
}
