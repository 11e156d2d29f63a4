// No tool at all: pages behind a static server, workers, service workers, and a page from the disk.
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isolation, strictPolicy } from '../../../support/js/chromium.js';
import { advice } from '../examples.js';
import { app, appWithWorker, page, reporting, two, worker } from './sources.js';
import { load } from '../../tools.js';
import { newProject } from './workshop.js';

const both = ['qkv', 'qkv/inline'];
const withTrain = [...both, 'qkv/train'];

/** Where a static server has an entry. */
const addressOf = (entry) =>
  `/node_modules/qkv/dist/${entry === 'qkv' ? 'index' : entry.replace('qkv/', '')}.js`;

const filesWith = (options) => (entry) => ({
  'index.html': page('./app.js'),
  'app.js': app(addressOf(entry), options),
});
const files = filesWith();

/** A page of the documentation, for this entry, with a report at its end. */
function pageOf(html, entry) {
  const [, script] = /<script type="module">\n(.*?)<\/script>/s.exec(html);
  const reports = html.replace(script, () => reporting(script));
  return { 'index.html': reports.replaceAll(addressOf('qkv'), addressOf(entry)) };
}
/** The two pages of the guide: one names the file, the other has a map. */
const byFile = (entry) => pageOf(advice('html', "from './node_modules"), entry);
const byMap = (entry) => pageOf(advice('html', 'importmap'), entry);

const withWorker = (entry) => ({
  'index.html': page('./app.js'),
  'app.js': appWithWorker,
  'worker.js': worker(addressOf(entry)),
});

/** A service worker must listen at once, and may compute whenever it is asked. */
const withServiceWorker = (entry) => ({
  'index.html': page('./app.js'),
  'app.js': `import { print } from './example.js';
navigator.serviceWorker.onmessage = ({ data }) => print(data);
navigator.serviceWorker.register('/service.js', { type: 'module' }).then(
  async () => (await navigator.serviceWorker.ready).active.postMessage('compute'),
  ({ message }) => print({ error: message }),
);
`,
  'service.js': `import { init } from '${addressOf(entry)}';
import { compute } from './example.js';
onmessage = (event) => {
  const answer = (value) => event.source.postMessage(value);
  event.waitUntil(compute(init).then(answer, ({ message }) => answer({ error: message })));
};
`,
});

/** Beside what was computed, in the page and in a worker, nothing may have been refused on the way. */
const underPolicyWith = (options) => (entry) => ({
  'index.html': page('./app.js'),
  'violations.js': `export const violations = [];
addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  violations.push(\`\${violatedDirective} \${blockedURI}\`),
);
export async function unviolated(promise) {
  const value = await promise;
  await new Promise((resolve) => setTimeout(resolve, 100));
  return violations.length > 0 ? { error: violations.join(', ') } : value;
}
`,
  'worker.js': `import { unviolated } from './violations.js';
import { init } from '${addressOf(entry)}';
import { compute } from './example.js';
unviolated(compute(init, ${JSON.stringify(options)})).then(postMessage, ({ message }) => postMessage({ error: message }));
`,
  'app.js': `import { unviolated } from './violations.js';
import { init } from '${addressOf(entry)}';
import { compute, print } from './example.js';
const fromWorker = new Promise((resolve, reject) => {
  const worker = new Worker('./worker.js', { type: 'module' });
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = () => reject(new Error('the worker cannot be loaded'));
});
const both = Promise.all([compute(init, ${JSON.stringify(options)}), fromWorker]).then(([here, there]) =>
  JSON.stringify(here) === JSON.stringify(there) ? here : { error: JSON.stringify(there) },
);
unviolated(both).then(print, ({ message }) => print({ error: message }));
`,
});

const served = (make, options) => (entry, browsers) =>
  browsers.openFolder(newProject(make(entry)), options);

/** The one way onto a page without a server: modules are refused there, a classic script is not. */
async function fromDisk(entry, browsers) {
  const esbuild = await load('esbuild');
  const html = page('./app.js').replace('type="module"', 'defer');
  const folder = newProject({ 'index.html': html, 'app.js': app(entry) });
  const entryPoints = [join(folder, 'app.js')];
  const outdir = join(folder, 'dist');
  await esbuild.build({ entryPoints, outdir, bundle: true, format: 'iife', absWorkingDir: folder });
  cpSync(join(folder, 'index.html'), join(outdir, 'index.html'));
  return browsers.open(pathToFileURL(join(outdir, 'index.html')).href);
}

const strict = { 'content-security-policy': strictPolicy };

const bare = [
  { name: 'page, by address', everyday: ['qkv/inline'], run: served(byFile) },
  { name: 'page, import map', run: served(byMap) },
  { name: 'page, isolated', run: served(files, { headers: isolation }) },
  {
    ...{ name: 'page and worker, strict policy', entries: withTrain, everyday: ['qkv/train'] },
    run: served(underPolicyWith({}), { headers: strict }),
  },
  { name: 'own worker', entries: withTrain, run: served(withWorker) },
  { name: 'service worker', entries: withTrain, run: served(withServiceWorker) },
];

/** With threads, or in a worker of the package. */
const further = [
  {
    name: 'page, 2 threads',
    ...two,
    run: served(filesWith(two), { headers: isolation }),
  },
  {
    name: 'page and worker, strict policy, 2 threads',
    ...two,
    run: served(underPolicyWith(two), { headers: { ...strict, ...isolation } }),
  },
  { name: 'page, 2 threads asked, not isolated', run: served(filesWith(two)) },
  {
    name: 'page, 2 threads asked',
    entries: ['qkv/inline'],
    run: served(filesWith(two), { headers: isolation }),
  },
  { name: 'page', entries: ['qkv/worker'], everyday: ['qkv/worker'], run: served(files) },
  {
    // A worker that starts a worker. Of 300 runs under load Firefox 153 let 3 hang: the page lived on, but its worker,
    // once it had asked for one of its own, answered no message any more. So Firefox may try twice, and only the full
    // run asks; tests/package/browser/worker.test.js asks Chromium every day.
    name: 'page and worker, strict policy',
    entries: ['qkv/worker'],
    run: served(underPolicyWith({}), { headers: strict, again: ['Firefox'] }),
  },
  {
    name: 'page, 2 threads',
    ...two,
    entries: ['qkv/worker'],
    run: served(filesWith(two), { headers: isolation }),
  },
];

export const pages = [
  ...bare.map((consumer) => ({ entries: both, quiet: true, ...consumer })),
  ...further.map((consumer) => ({ entries: ['qkv'], quiet: true, ...consumer })),
  {
    ...{ name: 'page from disk, iife', entries: ['qkv/inline'], everyday: ['qkv/inline'] },
    run: fromDisk,
  },
];
