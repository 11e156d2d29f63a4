// Whether the links of a site lead somewhere. A site is { address: HTML } and the addresses of its other files.

const decode = (text) =>
  text
    .replace(/&amp;/g, '&')
    .replace(/&#39;/g, "'")
    .replace(/&quot;/g, '"');

/** The ids of a page, to which links lead. */
const anchorsOf = (html) =>
  new Set(Array.from(html.matchAll(/\s(?:id|name)="([^"]*)"/g), ([, id]) => decode(id)));

/** What a page asks for or leads to: { kind, target }. */
export function linksOf(html) {
  const markup = html.replace(/<!--.*?-->/gs, '').replace(/(<script\b[^>]*>).*?<\/script>/gs, '$1');
  const elements = markup.matchAll(/<(\w+)\b([^>]*)>/g);
  return Array.from(elements).flatMap(([, kind, attributes]) =>
    Array.from(attributes.matchAll(/\s(?:href|src)="([^"]*)"/g), ([, target]) => ({
      kind,
      target: decode(target),
    })),
  );
}

/** The file that answers an address, as a server of files finds it. */
const fileAt = (path) => (path.endsWith('/') || path === '' ? `${path}index.html` : path);

/** What is wrong with the links of a site, in sentences, and how many there are. `files` are all addresses. */
export function problemsOfLinks(pages, files) {
  const known = new Set(files);
  const anchors = new Map();
  const anchorsAt = (file) => {
    if (!anchors.has(file)) anchors.set(file, anchorsOf(pages[file]));
    return anchors.get(file);
  };
  const problems = [];
  let count = 0;
  for (const [address, html] of Object.entries(pages)) {
    for (const { kind, target } of linksOf(html)) {
      count += 1;
      const problem = problemOf(kind, target, address);
      if (problem) problems.push(`${address}: <${kind}> ${target} ${problem}`);
    }
  }
  return { problems, count };

  function problemOf(kind, target, address) {
    // Doxygen's buttons.
    if (target.startsWith('javascript:')) return undefined;
    if (target.startsWith('data:')) return undefined;
    const base = new URL(address, 'https://site.invalid/');
    const url = new URL(target, base);
    if (url.origin !== base.origin) {
      return kind === 'a' && url.protocol === 'https:' ? undefined : 'is of somewhere else';
    }
    const file = fileAt(decodeURIComponent(url.pathname.slice(1)));
    if (!known.has(file)) return 'leads nowhere';
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (!anchor || !(file in pages)) return undefined;
    return anchorsAt(file).has(anchor) ? undefined : 'leads to no such place of its page';
  }
}
