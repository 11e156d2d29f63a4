// Where the cases of cases.js run: Node in a process of its own, Chromium, Firefox.
import { join } from 'node:path';
import { isolation, launch as launchChromium, page, reportOf } from '../../support/js/chromium.js';
import { probes, root } from '../../support/js/files.js';
import { full, leaveToFullRun } from '../../support/js/full.js';
import { launch as launchFirefox } from '../../support/js/firefox.js';
import { resultOf } from '../../support/js/node.js';
import { PATIENCE } from '../../support/js/patience.js';
import { firefox } from '../../support/js/programs.js';
import { folder, serve } from '../../support/js/server.js';
import { launchSafari, launchWebKit, noWebKit } from '../../support/js/webdriver.js';

/**
 * What a host is asked: the digests of each build, twice, with `names` the bits of those results, or with `trained` the
 * hash of weights that were trained. As text, because it runs elsewhere; `at` is where the files of the project are. A build
 * that the host does not have is left out.
 */
const program = (at, what) => (what.trained ? trainedBy(at, what) : computedBy(at, what));

const trainedBy = (at, { builds }) => `
  import { init } from '${at}/dist/train.js';
  import { run200 } from '${at}/tests/package/train/run-200.js';
  const answers = [];
  for (const options of ${JSON.stringify(builds)}) {
    const engine = await init(options);
    answers.push({ ...engine.info, hash: run200(engine) });
    engine.dispose();
  }
`;

const computedBy = (at, { builds, names }) => `
  import { init } from '${at}/dist/index.js';
  import { digests, results } from '${at}/tests/package/determinism/cases.js';
  const relaxed = WebAssembly.validate(Uint8Array.from(${JSON.stringify([...probes.relaxed])}));
  const answers = [];
  for (const options of ${JSON.stringify(builds)}) {
    if (options.variant.startsWith('relaxed') && !relaxed) continue;
    const engine = await init(options);
    const { variant, threads } = engine.info;
    const names = ${JSON.stringify(names ?? [])};
    if (names.length > 0) {
      const list = (await results(engine)).filter(([name]) => names.includes(name));
      answers.push(Object.fromEntries(list.map(([name, , bits]) => [name, [...bits]])));
    } else {
      answers.push({ variant, threads, rounds: [await digests(engine), await digests(engine)] });
    }
    engine.dispose();
  }
`;

/** Everything that pages may ask for; other origins could not look at it. */
const served = {
  '/dist/': folder(join(root, 'dist'), isolation),
  '/tests/': folder(join(root, 'tests'), isolation),
};

/** A browser; `missing` says why it is not on this machine, or is false. */
function browserHost(name, launch, missing = false) {
  return {
    name,
    missing,
    async ask(what) {
      const routes = page('/page', `${program('', what)} report(answers);`, { isolated: true });
      const server = await serve((path) => {
        const prefix = Object.keys(served).find((start) => path.startsWith(start));
        return prefix ? served[prefix](path.slice(prefix.length)) : routes[path];
      });
      const browser = await launch();
      try {
        return await reportOf(browser, `${server.url}/page`, { timeout: PATIENCE.test });
      } finally {
        await browser.close();
        await server.close();
      }
    },
  };
}

const node = {
  name: `Node ${process.versions.node}`,
  missing: false,
  ask: (what) =>
    resultOf(
      ['--experimental-wasm-relaxed-simd'],
      `${program(`file://${root}`, what)} process.stdout.write(JSON.stringify(answers), () => process.exit());`,
      { timeout: PATIENCE.test },
    ),
};

/**
 * The builds that are compared: alone, and shared memory with one thread to more than there are cores. An everyday run
 * shares work evenly and unevenly; that any number of threads gives the same bits is asked natively, too.
 */
const threadCounts = full || process.env.QKV_REFRESH ? [1, 2, 3, 4] : [2, 3];
const builds = [
  { variant: 'simd' },
  ...['simd-threads', 'relaxed-threads'].flatMap((variant) =>
    threadCounts.map((threads) => ({ variant, threads })),
  ),
  { variant: 'relaxed' },
];

/** WebKitGTK has no shared memory, so no threads. */
const alone = builds.filter(({ variant }) => !variant.endsWith('-threads'));

/** The first one is where the committed hashes are made. A host has those `builds` that it can load. */
export const hosts = [
  node,
  browserHost('Chromium', launchChromium),
  // A Mac's, where its driver is named.
  ...(process.env.SAFARIDRIVER ? [browserHost('Safari', launchSafari)] : []),
  ...(full
    ? [
        browserHost('Firefox', launchFirefox, !firefox && 'no Firefox on this machine'),
        { ...browserHost('WebKitGTK', launchWebKit, noWebKit), builds: alone },
      ]
    : []),
].map((host) => ({ builds, ...host }));
if (!full) leaveToFullRun('the bits of Firefox and WebKitGTK');
