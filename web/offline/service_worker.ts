// The page without a network. Every build has a cache of its own, filled when its service worker is installed
// and checked against the hashes that the build wrote here; it is given up with the last page of that build.
//
// Nothing is ever mixed of two builds: all files but the HTML carry their hash in their name, so that an HTML
// asks for files of its own build only, and a new service worker waits until no page needs the old one.

/** Path -> SHA-256, of every file that the page may ask for; '' is its HTML. Written by the build. */
declare const FILES: Readonly<Record<string, string>>;
/** The same of files that are kept once a reader has asked for them: the models, and the .wasm files that train and that take matrices apart. */
declare const LATER: Readonly<Record<string, string>>;
/** The hash of all of that. */
declare const BUILD: string;

/** How long a slow network may keep a visitor waiting for a newer HTML than the one at hand. */
const PATIENCE = 3000;

const worker = globalThis as unknown as ServiceWorkerGlobalScope;
const { scope } = worker.registration;
/** Other pages of this origin have caches, too, and perhaps another qkv in another folder. */
const FAMILY = `qkv ${scope} `;
const CACHE = FAMILY + BUILD;
/** Of all builds together: a model changes more seldom than the page, and its name has its hash. */
const MODELS = `${FAMILY}models`;

async function digest(bytes: ArrayBuffer): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** One file of this build; what a server in the middle of an update has under its name will not do. */
async function keep(cache: Cache, path: string, hash: string): Promise<void> {
  const response = await fetch(new URL(path, scope), { cache: 'no-cache' });
  if (!response.ok) throw new Error(`${path}: status ${response.status}, expected 200`);
  const bytes = await response.clone().arrayBuffer();
  if ((await digest(bytes)) !== hash) throw new Error(`${path} is not of build ${BUILD}`);
  // As it came, with the headers that isolate the page.
  await cache.put(new URL(path, scope), response);
}

async function install(): Promise<void> {
  try {
    const cache = await caches.open(CACHE);
    await Promise.all(Object.entries(FILES).map(([path, hash]) => keep(cache, path, hash)));
  } catch (error) {
    await caches.delete(CACHE); // half a build is none
    throw error;
  }
}

/** Those that this build has no more, or others of. */
async function dropOldModels(): Promise<void> {
  const models = await caches.open(MODELS);
  for (const { url } of await models.keys()) {
    if (!(url.slice(scope.length) in LATER)) await models.delete(url);
  }
}

async function cleanUp(): Promise<void> {
  const own = (await caches.keys()).filter((name) => name.startsWith(FAMILY));
  const old = own.filter((name) => name !== CACHE && name !== MODELS);
  await Promise.all(old.map((name) => caches.delete(name)));
  if (own.includes(MODELS)) await dropOldModels();
  await worker.clients.claim(); // also the page of the very first visit
}

/** Not what every object has, such as `constructor`; Object.hasOwn is younger than the oldest browsers. */
const has = (table: object, path: string): boolean =>
  Object.prototype.hasOwnProperty.call(table, path);

async function kept(path: string): Promise<Response | undefined> {
  const cache = await caches.open(CACHE);
  return cache.match(new URL(path, scope), { ignoreVary: true });
}

/** The newest HTML while there is a network, so that a new build is there with the next visit. */
async function html(request: Request): Promise<Response> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, PATIENCE));
  const fresh = await Promise.race([fetch(request).catch(() => undefined), late]);
  if (fresh?.ok || fresh?.type === 'opaqueredirect') return fresh;
  return (await kept('')) ?? fresh ?? fetch(request);
}

async function file(path: string, request: Request): Promise<Response> {
  return (await kept(path)) ?? fetch(request);
}

/** Put away when all of it has come and it is what the build says; half a model, or another, is not. */
async function putAway(path: string, response: Response): Promise<void> {
  const { headers } = response;
  const bytes = await response.arrayBuffer();
  if ((await digest(bytes)) !== LATER[path]) return;
  const models = await caches.open(MODELS);
  await models.put(new URL(path, scope), new Response(bytes, { headers }));
}

async function model(path: string, event: FetchEvent): Promise<Response> {
  const models = await caches.open(MODELS);
  const known = await models.match(new URL(path, scope), { ignoreVary: true });
  if (known) return known;
  const response = await fetch(event.request);
  // The reader may cancel: then nothing is kept.
  if (response.status === 200) event.waitUntil(putAway(path, response.clone()).catch(() => {}));
  return response;
}

worker.addEventListener('install', (event) => event.waitUntil(install()));
worker.addEventListener('activate', (event) => event.waitUntil(cleanUp()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const address = url.origin + url.pathname;
  if (request.method !== 'GET' || !address.startsWith(scope)) return;
  const path = address.slice(scope.length);
  if (path === '' || path === 'index.html') event.respondWith(html(request));
  else if (has(FILES, path)) event.respondWith(file(path, request));
  else if (has(LATER, path)) event.respondWith(model(path, event));
});
