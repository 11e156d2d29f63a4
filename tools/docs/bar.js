// What every page of the site begins with: a link past the navigation, and the bar that leads to its parts.
import { bar } from './contents.js';

/** The head of a page with this address; `toRoot` is the way from there to the folder of the documentation. */
export function head(address, toRoot) {
  const links = bar.map(({ title, url, of }) => {
    const here = of.test(address) ? ' aria-current="true"' : '';
    return `<a href="${toRoot}${url}"${here}>${title}</a>`;
  });
  return `<a class="skip" href="#content">Skip to the text</a><nav class="bar" aria-label="Site">${links.join('')}</nav>`;
}

/** The theme that the reader has chosen in the settings of the other pages, before anything is painted. */
const THEME = `<script>document.documentElement.dataset.theme = localStorage.getItem("tsd-theme") || "os";</script>`;

/** Doxygen 1.9.4 leads to classes that are private, and then leaves them out. */
const withoutPrivate = (html) =>
  html.includes('name="nested-classes"')
    ? html
    : html.replace(/<a href="#nested-classes">Classes<\/a> &#124;\n/, '');

/** A page of Doxygen with the look and the bar of the others. */
export const dress = (html, address) =>
  withoutPrivate(html)
    .replace('</head>', () => `<link rel="stylesheet" href="../assets/custom.css">${THEME}</head>`)
    .replace(/<body[^>]*>/, (body) => `${body}${head(address, '../')}`)
    .replace('<div class="contents">', '<div class="contents" id="content">');
