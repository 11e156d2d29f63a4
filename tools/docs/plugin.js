// What the site asks of TypeDoc beyond its options: addresses and titles as contents.js has them, links that lead where the
// site has what a file of the project stands for, and pages that can be read without a script and passed by keyboard.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Converter, IndexEvent, JSX, Renderer } from 'typedoc';
import { root } from '../environment.js';
import { head } from './bar.js';
import { elsewhere, groups, pages, searchWeights } from './contents.js';
import { pageOf, SiteRouter } from './reference/router.js';
import { SiteTheme } from './reference/theme.js';
import { referenceOf, sectionsOf } from './search/collect.js';
import { found } from './search/index.js';

/** What begins the target of a link that the site cannot follow: a folder of the project. */
const NOWHERE = 'nowhere:';

/** Where a link to a file of the project leads, from the folder of the documentation; undefined: to a copy of the file. */
function placeOf(path) {
  const own = elsewhere[path] ?? pages.find(({ file }) => file === `${path}/README.md`)?.url;
  if (own) return own;
  // A copy of a page would not find what stands beside it in the project.
  return path.endsWith('.html') || statSync(`${root}/${path}`).isDirectory() ? NOWHERE : undefined;
}

const languages = { js: 'js', ts: 'typescript', tsx: 'tsx', cpp: 'cpp', hpp: 'cpp', txt: 'cmake' };

/**
 * A paragraph that is only a link to a program of examples/ becomes that program: in the project it is a link, and on the site
 * nobody has to follow it. Parts of TypeDoc are texts, and links between the parentheses of Markdown.
 */
function includePrograms(parts, files) {
  const copies = parts.map((part) => ({ ...part }));
  for (const [i, part] of copies.entries()) {
    const [before, after] = [copies[i - 1], copies[i + 1]];
    const path =
      part.kind === 'relative-link' && relative(root, files.resolvePath(part.target) ?? '');
    const language = languages[/^examples\/.*\.(\w+)$/.exec(path || '')?.[1]];
    const opening = /(?:^|\n)\[([^\]\n]+)\]\($/.exec(before?.text ?? '');
    if (!language || !opening || !/^\)(?:\n|$)/.test(after?.text ?? '')) continue;
    before.text = before.text.slice(0, opening.index + 1);
    after.text = after.text.slice(1);
    const code = readFileSync(join(root, path), 'utf8');
    Object.assign(part, {
      ...{ kind: 'text', target: undefined },
      text: `<p class="program">${opening[1]}</p>\n\n\`\`\`${language}\n${code}\`\`\`\n`,
    });
  }
  return copies;
}

/** The text of a page with its links led to where the site has things; `toRoot` is the way to its first page. */
function lead(parts, project, toRoot) {
  const { files } = project;
  return includePrograms(parts, files).map((part) => {
    if (part.kind !== 'relative-link' || part.target === undefined) return part;
    const path = files.resolvePath(part.target);
    const place = placeOf(relative(root, path));
    if (place === undefined) return part;
    // TypeDoc warns of what it cannot copy, unless it stands for something.
    files.registerReflectionPath(path, project);
    if (place === NOWHERE) return { kind: 'text', text: NOWHERE };
    const anchor = part.targetAnchor ? `#${part.targetAnchor}` : '';
    return { kind: 'text', text: `${toRoot}${place}${anchor}` };
  });
}

/** For markdown-it: a link that leads nowhere is a text, and so is what only looks like one, as <std::string>. */
export function unlink(parser) {
  parser.validateLink = (url) => /^(?:https:|nowhere:|(?![\w+.-]+:))/.test(url);
  parser.core.ruler.push('unlink', ({ tokens }) => {
    let inside = false;
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      const opens = token.type === 'link_open' && token.attrGet('href').startsWith(NOWHERE);
      if (!opens && !(inside && token.type === 'link_close')) continue;
      inside = opens;
      Object.assign(token, { type: opens ? 'span_open' : 'span_close', tag: 'span', attrs: null });
    }
  });
}

/** For markdown-it: a table that is wider than the screen is scrolled by itself, by keyboard too. */
export function scrollTables(parser) {
  const { rules } = parser.renderer;
  rules['table_open'] = () =>
    '<div class="scroll" role="group" aria-label="Table" tabindex="0"><table>\n';
  rules['table_close'] = () => '</table></div>\n';
}

const raw = (html) => JSX.createElement(JSX.Raw, { html });

/** Without a script the tree of pages is not there: then these are. */
function plainNavigation(context) {
  const lists = groups.map(({ title, pages: list }) => {
    const items = list.map(
      (page) => `<li><a href="${context.relativeURL(page.url)}">${page.title}</a></li>`,
    );
    return `<p>${title}</p><ul>${items.join('')}</ul>`;
  });
  return `<noscript><nav class="plain" aria-label="Pages">${lists.join('')}</nav></noscript>`;
}

/** Which group of results a page is in. */
const partOf = (page) =>
  page.group === 'Guides' || page.group === 'Cookbook' ? 'guides' : 'project';

/** Writes down what of the pages can be found, for the index that both halves have together. */
function collectForSearch({ renderer }) {
  const entries = [];
  renderer.on(Renderer.EVENT_END_PAGE, ({ contents, model }) => {
    const page = model.isDocument() && pageOf(model);
    if (page) {
      const more = {
        part: partOf(page),
        chinese: page.file.endsWith('.zh-CN.md') || undefined,
        weight: searchWeights[page.file],
        // A recipe is about what its first sentences say.
        share: page.group === 'Cookbook' ? 0.4 : 1,
      };
      entries.push(...sectionsOf(contents, { ...page, ...more }));
    }
  });
  renderer.on(Renderer.EVENT_END, () => {
    writeFileSync(found.package, JSON.stringify([...entries, ...referenceOf(renderer.router)]));
  });
}

/** @param {import('typedoc').Application} app */
export function plugin(app) {
  app.renderer.defineRouter('site', SiteRouter);
  app.renderer.defineTheme('site', SiteTheme);
  // The site has one search for both of its halves.
  app.renderer.on(IndexEvent.PREPARE_INDEX, (event) => {
    event.searchResults = [];
  });

  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, document) => {
    const { title, group, url } = pageOf(document);
    document.name = title;
    document.frontmatter['group'] = group;
    document.content = lead(
      document.content,
      document.project,
      '../'.repeat(url.split('/').length - 1),
    );
  });
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    project.readme = lead(project.readme, project, '');
  });

  // Code keeps its lines, and is scrolled by itself where they are long. TypeDoc's own index is not needed.
  app.renderer.on(Renderer.EVENT_END_PAGE, (page) => {
    page.contents = page.contents
      .replaceAll('<pre><code', '<pre tabindex="0"><code')
      .replace(/<script async src="[^"]*" id="tsd-search-script"><\/script>/, '');
  });

  collectForSearch(app);

  // Landmarks: TypeDoc's pages have a banner and a navigation, and nothing that says where the text is.
  const { hooks } = app.renderer;
  hooks.on('body.begin', (context) =>
    raw(head(context.page.url, context.relativeURL('./').replace(/^\.\/$/, ''))),
  );
  hooks.on('content.begin', ({ page: { model } }) => {
    const isChinese = model.isDocument() && pageOf(model).file.endsWith('.zh-CN.md');
    return raw(`<main id="content" tabindex="-1"${isChinese ? ' lang="zh-CN"' : ''}>`);
  });
  hooks.on('content.end', () => raw('</main>'));
  hooks.on('pageSidebar.begin', () => raw('<aside aria-label="This page">'));
  hooks.on('pageSidebar.end', () => raw('</aside>'));
  hooks.on('sidebar.begin', (context) => raw(plainNavigation(context)));
}
