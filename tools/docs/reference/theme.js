// Pages of the reference beyond TypeDoc's own: a type with methods lists them with a sentence each, and a method's own page has
// the options that it takes and an example. The search of the site is not TypeDoc's.
import { DefaultTheme, DefaultThemeRenderContext, JSX } from 'typedoc';
import { exampleOf } from './examples.js';
import { optionTypes } from './options.js';
import { byRoom, engineOf, isEngine } from './rooms.js';
import { hasMethodPage, isMethod } from './router.js';

const element = JSX.createElement;
const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** TypeDoc's script throws without these parts of its own search. They are out of sight. */
function searchOfTypeDoc() {
  const parts = ['tsd-search-input', 'tsd-search-results', 'tsd-search-status'];
  return element(
    'div',
    { hidden: true },
    element('button', { id: 'tsd-search-trigger', type: 'button' }),
    element(
      'dialog',
      { id: 'tsd-search' },
      parts.map((id) => element(id.endsWith('input') ? 'input' : 'div', { id })),
    ),
    element('script', { id: 'tsd-search-script' }),
  );
}

/** On a phone the tree of pages is behind this button. */
const menu = (context) =>
  element(
    'header',
    { class: 'tsd-page-toolbar' },
    searchOfTypeDoc(),
    element(
      'a',
      {
        ...{ href: '#', class: 'tsd-widget menu', id: 'tsd-toolbar-menu-trigger' },
        ...{ 'data-toggle': 'menu', 'aria-label': 'Menu' },
      },
      context.icons.menu(),
    ),
  );

/** A heading with a list of functions, and the first sentence of each. */
function functionList(context, { title, children }) {
  const anchor = context.slugger.slug(title);
  context.page.startNewSection(title);
  return element(
    'section',
    { class: 'tsd-panel-group' },
    element('h2', { id: anchor, class: 'tsd-anchor-link' }, title),
    element(
      'dl',
      { class: 'tsd-member-summaries' },
      children.map((method) => context.moduleMemberSummary(method)),
    ),
  );
}

/** The methods of a type: those of an engine by room, those that are inherited behind the others. */
function methodLists(context, type) {
  const own = (type.children ?? []).filter(hasMethodPage);
  const inherited = (type.children ?? []).filter(
    (child) => isMethod(child) && !hasMethodPage(child),
  );
  const lists = isEngine(type)
    ? byRoom(own).map(({ title, children }) => ({ title: capital(title), children }))
    : [{ title: 'Methods', children: own }];
  if (inherited.length > 0) {
    const from = [
      ...new Set(inherited.map(({ inheritedFrom }) => inheritedFrom.name.split('.')[0])),
    ];
    lists.push({ title: `Methods of ${from.join(' and ')}`, children: inherited });
  }
  return lists
    .filter(({ children }) => children.length > 0)
    .map((list) => functionList(context, list));
}

/** The anchor of a heading, which the menu of the page then leads to. */
function inPageMenu(context, text) {
  const anchor = context.slugger.slug(text);
  context.page.pageHeadings.push({ link: `#${anchor}`, text });
  return anchor;
}

/** The keys of an options object: each with its type and what it does. */
function keysOf(context, type) {
  const anchor = inPageMenu(context, type.name);
  const rows = type.children
    .filter((key) => !isMethod(key))
    .map((key) =>
      element(
        JSX.Fragment,
        null,
        element(
          'dt',
          null,
          element('code', null, key.name, key.flags.isOptional ? '?' : ''),
          key.type ? element('span', null, ': ', context.type(key.type)) : undefined,
        ),
        element('dd', null, context.commentSummary(key)),
      ),
    );
  return element(
    JSX.Fragment,
    null,
    element('h3', { id: anchor }, element('a', { href: context.urlTo(type) }, type.name)),
    element('dl', { class: 'keys' }, rows),
  );
}

function optionsOf(context, method) {
  const types = optionTypes(method);
  if (types.length === 0) return undefined;
  return element(
    'section',
    { class: 'tsd-panel' },
    element('h2', { id: inPageMenu(context, 'Options') }, 'Options'),
    types.map((type) => keysOf(context, type)),
  );
}

function example(context, method) {
  const found = exampleOf(method);
  if (!found) return undefined;
  const { markdown, url, title, ofCaller } = found;
  const note = ofCaller ? 'Outside of a worker; here the call returns a promise of the same. ' : '';
  const guide = url && [
    'From the guide ',
    element('a', { href: context.relativeURL(url) }, title),
    '.',
  ];
  return element(
    'section',
    { class: 'tsd-panel tsd-typography' },
    element('h2', { id: inPageMenu(context, 'Example') }, 'Example'),
    element(JSX.Raw, { html: context.markdown([{ kind: 'text', text: markdown }]) }),
    element('p', { class: 'from' }, note, guide),
  );
}

class SiteContext extends DefaultThemeRenderContext {
  toolbar = () => menu(this);

  #index = this.index;
  index = (type) => {
    const lists = methodLists(this, type);
    return lists.length > 0 ? element(JSX.Fragment, null, lists) : this.#index(type);
  };

  #moduleReflection = this.moduleReflection;
  moduleReflection = (module) => {
    const engine = engineOf(module);
    const lists = engine ? methodLists(this, engine) : [];
    const own = this.#moduleReflection(module);
    // The functions come after what the module is, and before its types.
    own.children.splice(1, 0, ...lists);
    return own;
  };

  #reflectionTemplate = this.reflectionTemplate;
  reflectionTemplate = (page) => {
    const own = this.#reflectionTemplate(page);
    const { model } = page;
    if (!model.isDeclaration() || !model.signatures) return own;
    return element(JSX.Fragment, null, own, optionsOf(this, model), example(this, model));
  };
}

export class SiteTheme extends DefaultTheme {
  ContextClass = SiteContext;

  /** The tree of pages, with the functions of an engine by room and the methods of every other type below it. */
  buildNavigation(project) {
    const leaf = (method) => ({
      ...{ text: method.name, path: this.router.getFullUrl(method), kind: method.kind },
      class: this.getReflectionClasses(method),
    });
    const byPath = new Map(
      project.children.flatMap((module) =>
        [module, ...(module.children ?? [])].map((one) => [this.router.getFullUrl(one), one]),
      ),
    );
    const grow = (entry) => {
      const type = byPath.get(entry.path);
      const methods = (type?.children ?? []).filter(hasMethodPage);
      const children = (entry.children ?? []).map(grow);
      const engine = type && engineOf(type);
      if (engine) {
        const rooms = byRoom(engine.children.filter(hasMethodPage));
        children.unshift(
          ...rooms.map((room) => ({
            ...{ text: capital(room.title), children: room.children.map(leaf) },
          })),
        );
      } else if (methods.length > 0 && !isEngine(type)) children.push(...methods.map(leaf));
      return { ...entry, children: children.length > 0 ? children : undefined };
    };
    return super.buildNavigation(project).map(grow);
  }
}
