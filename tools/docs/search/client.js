// The search of every page: a dialog with a field and what is found. `/` or Ctrl+K opens it, the arrows choose, Enter goes there,
// Escape closes. The index is fetched when it is first opened.
import MiniSearch from 'minisearch';
import { find } from './find.js';
import { indexOptions } from './words.js';

/** The way from this page to the folder of the documentation. */
const toRoot = document.currentScript.dataset.root;
const chinese = document.querySelector('main[lang^="zh"]') !== null;
const says = chinese
  ? {
      search: '搜索',
      hint: '搜索指南、JavaScript 和 C++',
      close: '关闭',
      none: '没有找到',
      failed: '索引无法加载',
    }
  : {
      ...{ search: 'Search', hint: 'Search guides, JavaScript and C++', close: 'Close' },
      ...{ none: 'Nothing found', failed: 'The index cannot be loaded' },
    };

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

let index;
/** The index, which is a script: a page that is opened as a file may not fetch. */
function loadIndex() {
  index ??= new Promise((resolve, reject) => {
    const script = element('script', { src: `${toRoot}assets/search-index.js` });
    script.addEventListener('load', () =>
      resolve(MiniSearch.loadJSON(globalThis.qkvSearchIndex, indexOptions)),
    );
    script.addEventListener('error', () => {
      index = undefined;
      reject(new Error(says.failed));
    });
    document.head.append(script);
  });
  return index;
}

const field = element('input', {
  ...{
    type: 'text',
    enterkeyhint: 'search',
    role: 'combobox',
    id: 'search-field',
    placeholder: says.hint,
    'aria-label': says.search,
  },
  ...{ 'aria-controls': 'search-found', 'aria-expanded': 'false', 'aria-autocomplete': 'list' },
  ...{ autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: '100' },
});
const close = element('button', { type: 'button', class: 'search-close' }, says.close);
const list = element('div', { role: 'listbox', id: 'search-found', 'aria-label': says.search });
const status = element('p', { role: 'status' });
const dialog = element(
  'dialog',
  { id: 'search', 'aria-label': says.search },
  element('div', { class: 'search-top' }, field, close),
  status,
  list,
);

const options = () => [...list.querySelectorAll('[role=option]')];
const chosen = () => list.querySelector('[aria-selected=true]');

function choose(option) {
  chosen()?.setAttribute('aria-selected', 'false');
  option?.setAttribute('aria-selected', 'true');
  option?.scrollIntoView({ block: 'nearest' });
  if (option) field.setAttribute('aria-activedescendant', option.id);
  else field.removeAttribute('aria-activedescendant');
}

/** What is found: its name or the way to its section, and how it begins. */
function optionOf({ label, title, heading, excerpt, url }, i) {
  const name = label ? element('code', {}, label) : element('b', {}, heading || title);
  // Of the reference the module says enough: the type stands in the name.
  const place = label ? title.split(' ')[0] : title;
  const where = label || heading ? [element('span', {}, place)] : [];
  return element(
    'a',
    {
      role: 'option',
      id: `search-${i}`,
      href: toRoot + url,
      tabindex: '-1',
      'aria-selected': 'false',
    },
    element('span', { class: 'search-name' }, name, ...where),
    element('span', { class: 'search-excerpt' }, excerpt ?? ''),
  );
}

function show(groups) {
  let count = 0;
  const sections = groups.map(({ title, results }, i) => {
    const id = `search-group-${i}`;
    const rows = results.map((result) => optionOf(result, count++));
    const heading = element('div', { class: 'search-group', id, role: 'presentation' }, title);
    return element('div', { role: 'group', 'aria-labelledby': id }, heading, ...rows);
  });
  list.replaceChildren(...sections);
  list.scrollTop = 0;
  field.setAttribute('aria-expanded', String(count > 0));
  status.textContent = field.value.trim() && count === 0 ? says.none : '';
  choose(options()[0]);
}

async function update() {
  try {
    show(find(await loadIndex(), field.value, { chinese }));
  } catch (error) {
    status.textContent = error.message;
  }
}

function open() {
  if (!dialog.isConnected) document.body.append(dialog);
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  update();
}

/** The next option, from the last one the first. */
function step(by) {
  const all = options();
  const at = all.indexOf(chosen());
  choose(all.at((at + by) % all.length));
}

field.addEventListener('input', update);
field.addEventListener('keydown', (event) => {
  if (event.isComposing) return;
  const keys = {
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Enter: () => chosen()?.click(),
  };
  if (!(event.key in keys)) return;
  event.preventDefault();
  keys[event.key]();
});
close.addEventListener('click', () => dialog.close());
// Beside the dialog; and where the way leads to a place of this very page.
dialog.addEventListener('click', ({ target }) => {
  if (target === dialog || target.closest?.('a')) dialog.close();
});
document.getElementById('search-open').addEventListener('click', open);

const isWriting = ({ target }) => target.matches?.('input, textarea, select, [contenteditable]');
// Before TypeDoc's script, which would open a search of its own.
window.addEventListener(
  'keydown',
  (event) => {
    const plain =
      event.key === '/' && !event.ctrlKey && !event.metaKey && !event.altKey && !isWriting(event);
    const control =
      event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!plain && !control) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    open();
  },
  { capture: true },
);

// On a phone the bar is wider than the screen: the part that is read is brought in sight, once the page is shown.
const bar = document.querySelector('.bar');
new ResizeObserver((_entries, observer) => {
  if (bar.clientWidth === 0) return;
  observer.disconnect();
  bar.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}).observe(bar);
