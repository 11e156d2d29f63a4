// The whole page in Node: its HTML, its modules and the scripts of its workers, all in one thread and in a window without a
// browser. Every answer is one of the engine.
import { resolveObjectURL } from 'node:buffer';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../../support/js/files.js';
import { tickingClock } from './clock.js';
import { bundled } from './engine.js';
import { textsOf } from './texts.js';
import { openWindow } from './window.js';

/** `import.meta.glob`, which is Vite's: each file that fits, fetched when it is asked for. */
const globs = {
  name: 'globs',
  setup({ onLoad }) {
    onLoad({ filter: /web\/src\/.*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.glob')) return undefined;
      const contents = source.replace(
        /import\.meta\.glob(?:<[^(]*>)?\('([^']+)'(, \{ import: 'default' \})?\)/g,
        (_all, pattern, isDefault) => listOf(dirname(path), pattern, isDefault !== undefined),
      );
      return { contents, loader: 'ts' };
    });
  },
};

/** The files of such a pattern as the object that Vite makes of it. */
function listOf(folder, pattern, isDefault) {
  const form = pattern
    .replace(/^\.\//, '')
    .replace(/[.]/g, '\\.')
    .replace(/\*/g, '[^/]*')
    .replace(/\{([^}]*)\}/g, (_all, names) => `(?:${names.replaceAll(',', '|')})`);
  const up = /^(?:\.\.\/)*/.exec(pattern)[0];
  const own = new RegExp(`^${form.slice(up.replace(/[.]/g, '\\.').length)}$`);
  const found = readdirSync(join(folder, up), { recursive: true })
    .filter((name) => own.test(name))
    .sort();
  const entries = found.map((name) => {
    const path = `${up || './'}${name}`;
    const take = isDefault ? '.then((all) => all.default)' : '';
    return `${JSON.stringify(path)}: () => import(${JSON.stringify(path)})${take}`;
  });
  return `({ ${entries.join(', ')} })`;
}

/** All texts; the page has only those above its panels from the beginning, and fetches the others with their panels. */
const headings = {
  name: 'headings',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^virtual:headings$/ }, ({ path }) => ({ path, namespace: 'headings' }));
    onLoad({ filter: /./, namespace: 'headings' }, () => ({
      contents: JSON.stringify({ en: textsOf('en'), zh: textsOf('zh') }),
      loader: 'json',
    }));
  },
};

/** A script of web/src; a worker's speaks of `self`. */
const script = (path, more) =>
  bundled(path.replaceAll('/', '-'), {
    entryPoints: [join(root, `web/src/${path}.ts`)],
    plugins: [globs, headings],
    define: { 'import.meta.env.MODE': '"development"' },
    ...more,
  });
const scriptOfWorker = (path) =>
  script(path, {
    banner: { js: 'const self = globalThis.scopeOfScript; const { postMessage } = self;' },
  });

/** The body of the page as it is built, without what is worked out for the first view. */
async function bodyOfPage() {
  const entryPoints = [join(root, 'web/build/chapters.ts')];
  const { withChapters } = await import(await bundled('chapters', { entryPoints }));
  const html = readFileSync(join(root, 'web/index.html'), 'utf8');
  return /<body>(.*)<\/body>/s.exec(withChapters(html))[1];
}

/** What kind of message it is, in a word or two. */
function kindOf(message) {
  if (typeof message !== 'object') return String(message);
  const { type, message: inner, news } = message;
  return [type, inner?.kind ?? inner?.type, news?.kind].filter(Boolean).join(' ');
}

/** Workers that run in the thread of the page, all in `workers`: messages are copied, and arrive in a later turn. */
function runWorkers(scripts, heard, workers) {
  return class extends EventTarget {
    #inside = new EventTarget();
    constructor({ pathname }) {
      super();
      const scope = {
        addEventListener: this.#inside.addEventListener.bind(this.#inside),
        postMessage: (data) => this.#deliver(this, data, 'from'),
      };
      workers.push(this);
      this.ready = scripts(pathname, scope);
    }
    #deliver(to, data, way) {
      const copy = data?.type === 'surface' ? data : structuredClone(data);
      heard.push([way, kindOf(copy)]);
      void this.ready.then(() => to.dispatchEvent(new MessageEvent('message', { data: copy })));
    }
    postMessage(data) {
      this.#deliver(this.#inside, data, 'to');
    }
    terminate() {
      this.#inside = new EventTarget();
    }
    /** Something else than it would say by itself, as the page hears it. */
    suffer(event) {
      heard.push(['from', `${event.message ?? event.data.type}, as the test has it`]);
      this.dispatchEvent(event);
    }
  };
}

/** Files that stand beside the page, which Node does not fetch. */
const fetchFile = async (url, { signal } = {}) => {
  const file = await readFile(fileURLToPath(url), { signal });
  return new Response(file, { headers: { 'content-length': String(file.length) } });
};

/** A channel of which one end speaks and the other hears; it keeps no process waiting. */
class Channel {
  port1 = { onmessage: null };
  port2 = { postMessage: (data) => setTimeout(() => this.port1.onmessage?.({ data })) };
}

/** Which elements are in sight, as the test says. */
class Sight {
  static all = new Set();
  #act;
  #of = new Set();
  constructor(act) {
    this.#act = act;
    Sight.all.add(this);
  }
  observe(element) {
    this.#of.add(element);
  }
  unobserve(element) {
    this.#of.delete(element);
  }
  disconnect() {
    this.#of.clear();
  }
  static tell(target, isIntersecting) {
    const top = isIntersecting ? 0 : -SIGHT;
    for (const one of Sight.all) {
      if (one.#of.has(target)) one.#act([{ target, isIntersecting, boundingClientRect: { top } }]);
    }
  }
}
const SIGHT = 1000;

/** What leaves the page: what it prints, copies, and hands over as files. */
function watchWhatLeaves() {
  const [printed, copied, saved] = [[], [], []];
  window.print = () => printed.push(document.title);
  Object.defineProperty(navigator, 'clipboard', {
    value: { writeText: async (text) => void copied.push(text) },
  });
  const { prototype } = HTMLAnchorElement;
  const follow = prototype.click;
  prototype.click = function () {
    if (this.download) saved.push({ name: this.download, blob: resolveObjectURL(this.href) });
    else follow.call(this);
  };
  HTMLImageElement.prototype.decode = () => Promise.resolve();
  HTMLCanvasElement.prototype.toBlob = (take) => take(new Blob(['a picture']));
  return { printed, copied, saved };
}

/** A canvas is handed over to a worker that is in the same thread; what is painted there is heard of. */
function shareCanvases(heard) {
  HTMLCanvasElement.prototype.transferControlToOffscreen = function () {
    const putImageData = () => heard.push(['painted', this.className || 'a head']);
    return { width: 1, height: 1, getContext: () => ({ putImageData }) };
  };
  globalThis.ImageData = class {
    constructor(width, height) {
      Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
    }
  };
}

/**
 * Opens the page. Resolves to window.__qkv as `page`; what was `heard` between page and workers, as [way, kind] pairs, `written` into the address,
 * `printed`, `copied` and `saved`, the `workers` that were started; the `delays` of timers; and goTo(hash), rest() until
 * nobody waits, see(element, whether it is in sight).
 */
export async function openPage() {
  const { written, goTo, rest, delays } = openWindow();
  const [worker, lab, main, body] = await Promise.all([
    ...['worker/worker', 'worker/panel_worker'].map(scriptOfWorker),
    ...[script('app/main'), bodyOfPage()],
  ]);
  performance.now = tickingClock();
  Math.random = () => 0.375;
  const heard = [];
  const workers = [];
  const scripts = (name, scope) => {
    globalThis.scopeOfScript = scope;
    return import(`${name.includes('panel_worker') ? lab : worker}?${workers.length}`);
  };
  globalThis.Worker = runWorkers(scripts, heard, workers);
  globalThis.fetch = fetchFile;
  globalThis.IntersectionObserver = Sight;
  globalThis.MessageChannel = Channel;
  shareCanvases(heard);
  const left = watchWhatLeaves();
  document.body.innerHTML = body;
  await import(main);
  const driven = { goTo, rest, delays, see: Sight.tell };
  return { page: window.__qkv, heard, written, ...left, workers, ...driven };
}
