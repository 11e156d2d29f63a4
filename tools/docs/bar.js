// What every page of the site begins with: a link past the navigation, and the bar that leads to its parts.
import { bar } from './contents.js';

const glass =
  '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><circle cx="8.5" cy="8.5" r="5.5"/><path d="m13 13 5 5"/></svg>';

/** The head of a page with this address; `toRoot` is the way from there to the folder of the documentation. */
export function head(address, toRoot) {
  const links = bar.map(({ title, url, of }) => {
    const here = of.test(address) ? ' aria-current="true"' : '';
    return `<a href="${toRoot}${url}"${here}>${title}</a>`;
  });
  const skip = '<a class="skip" href="#content">Skip to the text</a>';
  const nav = `<nav class="bar" aria-label="Site">${links.join('')}</nav>`;
  const search = `<button type="button" id="search-open" aria-label="Search" aria-keyshortcuts="/">${glass}<span>Search</span><kbd>/</kbd></button>`;
  const script = `<script defer src="${toRoot}assets/search.js" data-root="${toRoot}"></script>`;
  return `${skip}<div class="top">${nav}${search}</div>${script}`;
}

/** The theme that the reader has chosen in the settings of the other pages, before anything is painted. */
const THEME = `<script>document.documentElement.dataset.theme = localStorage.getItem("tsd-theme") || "os";</script>`;

/** Without Doxygen's own search, which knows one half only. */
const withoutSearch = (html) =>
  html
    .replace(/<(?:link|script)[^>]*"search(?:\/|_opensearch)[^>]*>(?:<\/script>)?\n?/g, '')
    .replace(/^var searchBox = .*\n/m, '')
    .replace(
      /\binitMenu\('([^']*)',.*?\);/,
      (_all, toRoot) => `initMenu('${toRoot}',false,false,'','');`,
    );

/** Doxygen 1.9.4 leads to classes that are private, and then leaves them out. */
const withoutPrivate = (html) =>
  html.includes('name="nested-classes"')
    ? html
    : html.replace(/<a href="#nested-classes">Classes<\/a> &#124;\n/, '');

/** A page of Doxygen with the look and the bar of the others. */
export const dress = (html, address) =>
  withoutSearch(withoutPrivate(html))
    .replace('</head>', () => `<link rel="stylesheet" href="../assets/custom.css">${THEME}</head>`)
    .replace(/<body[^>]*>/, (body) => `${body}${head(address, '../')}`)
    .replace('<div class="contents">', '<div class="contents" id="content">');
