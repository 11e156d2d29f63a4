// Where every page of the site stands: guides where contents.js says, and the reference of the package in a folder, as that of
// the core is, with a page for each function and each method.
import { relative } from 'node:path';
import { KindRouter, PageKind, ReflectionKind } from 'typedoc';
import { root } from '../../environment.js';
import { pages } from '../contents.js';
import { isEngine } from './rooms.js';

const fileOf = (reflection) => {
  const path = reflection.project.files.getReflectionPath(reflection);
  return path && relative(root, path);
};

/** The page of contents.js that a document of TypeDoc is. */
export const pageOf = (reflection) => pages.find(({ file }) => file === fileOf(reflection));

/** The method of another type that this one is, if it is inherited; TypeDoc names its signature. */
function originOf(method) {
  const named = method.inheritedFrom?.reflection;
  return named?.isSignature() ? named.parent : named;
}

/** A method with a name, unlike [Symbol.dispose]. */
export const isMethod = (reflection) =>
  reflection.kindOf(ReflectionKind.Method) && /^\w+$/.test(reflection.name);

/** Whether it has a page: inherited methods have that of the type that declares them. */
export const hasMethodPage = (reflection) => isMethod(reflection) && !originOf(reflection);

export class SiteRouter extends KindRouter {
  inherited = [];

  getPageKind(target) {
    return hasMethodPage(target) ? PageKind.Reflection : super.getPageKind(target);
  }

  /** A method of an engine stands among the functions of its module, as people call it. */
  getIdealBaseName(reflection) {
    const page = reflection.isDocument() && pageOf(reflection);
    if (page) return page.url.replace(/\.html$/, '');
    if (!isMethod(reflection)) return `package/${super.getIdealBaseName(reflection)}`;
    const { name, parent } = reflection;
    const module = this.getUrlSafeName(parent.parent.name);
    if (isEngine(parent)) return `package/functions/${module}.${name}`;
    return `package/methods/${module}.${parent.name}.${name}`;
  }

  buildChildPages(target, outPages) {
    if (isMethod(target) && originOf(target)) this.inherited.push(target);
    else super.buildChildPages(target, outPages);
  }

  buildPages(project) {
    const built = super.buildPages(project);
    for (const method of this.inherited) {
      let origin = originOf(method);
      while (originOf(origin)) origin = originOf(origin);
      const url = this.fullUrls.get(origin);
      for (const target of [method, ...method.signatures]) this.fullUrls.set(target, url);
    }
    return built;
  }
}
