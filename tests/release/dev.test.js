// npm run dev (tools/dev.js): what a saved file becomes on the screen, in Chromium. It is for a copy of the sources.
// @alone It measures seconds.
// @build any
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { loadConfigFromFile } from 'vite';
import { launch } from '../support/js/chromium.js';
import { root } from '../support/js/files.js';
import { full, inFullRun } from '../support/js/full.js';
import { PATIENCE, pause, until } from '../support/js/patience.js';
import { replaced } from './consumers/stranger.js';
import { copyOfSources } from './sources.js';

/**
 * Whether the document of a tab hears of changes. A server tells nobody of what it was told before that, so a file that is saved
 * while a document is loaded may stay unseen.
 */
function hearing(tab) {
  let hears = false;
  tab.on('framenavigated', (frame) => frame === tab.mainFrame() && (hears = false));
  tab.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      if (JSON.parse(payload).type === 'connected') hears = true;
    }),
  );
  return () => hears;
}

/** A server of the copy, and the panel of checks in a browser. */
async function open(folder, options) {
  const { develop } = await import(join(folder, 'tools/dev.js'));
  const server = await develop({ port: 0, ...options });
  const browser = await launch();
  const tab = await browser.newPage();
  const problems = [];
  tab.on('pageerror', ({ message }) => problems.push(message));
  const isHearing = hearing(tab);
  await tab.goto(`${server.resolvedUrls.local[0]}#checks`);
  return {
    tab,
    problems,
    isHearing,
    watcher: server.watcher,
    async close() {
      await browser.close();
      await server.close();
    },
  };
}

const write = (path, from, to) =>
  writeFileSync(path, replaced(readFileSync(path, 'utf8'), from, to));

/**
 * Changes a file and changes it back, in a full run a second time, where others keep the processors less busy; the least
 * seconds until `look` is true on the page.
 */
async function change({ folder, tab, isHearing }, [file, from, to], look) {
  const path = join(folder, file);
  const seconds = [];
  const save = async (was, is, wanted) => {
    await until(isHearing, () => 'a document that hears of changes');
    write(path, was, is);
    const start = performance.now();
    const isThere = async () => (await tab.evaluate(look).catch(() => undefined)) === wanted;
    await until(isThere, () => `${file} on the page`);
    seconds.push((performance.now() - start) / 1000);
  };
  for (let round = 0; round < (full ? 2 : 1); round++) {
    await save(from, to, true);
    await save(to, from, false);
  }
  return Math.min(...seconds);
}

/** What the panel says in one of its readings; undefined before it is there. */
const reading = (item) =>
  `document.querySelector('#checks [data-reading=${item}] .value')?.textContent`;
const startsWith = (selector, text) =>
  `document.querySelector('${selector}')?.textContent.startsWith('${text}')`;

const CHANGES = {
  'a text of the page': {
    edit: ['web/src/i18n/en.json', '"hero.title": "', '"hero.title": "Changed. '],
    look: startsWith('h1', 'Changed.'),
  },
  'the heading of a panel that is not there yet': {
    edit: ['web/src/features/learn/en.json', '"learn.title": "', '"learn.title": "Changed. '],
    look: startsWith('#learn h2', 'Changed.'),
  },
  'a style': {
    edit: ['web/src/features/checks/style.css', '.reading dt {', '.reading dt { padding: 33px;'],
    look: `(() => {
      const name = document.querySelector('#checks .reading dt');
      return name ? getComputedStyle(name).paddingTop === '33px' : undefined;
    })()`,
  },
  'a panel': {
    edit: ['web/src/features/checks/panel.ts', "frame?.info.isa ?? '–'", "'Changed.'"],
    look: `${reading('build')}?.startsWith('Changed.')`,
  },
  'the package': {
    edit: [
      'wasm/src/load/init.ts',
      '{ version: QKV_VERSION, variant, isa }',
      "{ version: QKV_VERSION, variant, isa: 'Changed.' }",
    ],
    look: `${reading('build')}?.startsWith('Changed.')`,
  },
};

/** An error of a weight is not what float32 leaves of it. */
const KERNEL = {
  edit: ['core/src/kernels/exp.hpp', 'V(5.5503324e-2F * kFactor)', 'V(9e-2F * kFactor)'],
  look: `(() => {
    const error = ${reading('error')};
    return !error || error === '–' ? undefined : !/×10⁻[⁶⁷⁸⁹]$/.test(error);
  })()`,
};

/** Seconds that a change may take on a machine of two cores: that of a text, and that of a kernel. */
const LIMITS = { source: 2, kernel: 20 };

function check(t, seconds, limit) {
  t.diagnostic(`${seconds.toFixed(1)} s`);
  if (full) assert.ok(seconds <= limit, `${seconds} s, expected at most ${limit} s`);
}

/** Tests on a server of a copy of the sources; prepare(folder) goes before it. */
function withServer({ prepare, ...options }, register) {
  const page = {};
  before(async () => {
    page.folder = copyOfSources(['build/wasm/wasm']);
    await prepare?.(page.folder);
    Object.assign(page, await open(page.folder, options));
    const isReady = async () => /^wasm-/.test(await page.tab.evaluate(reading('build')));
    await until(isReady, () => `an engine on the page: ${page.problems}`);
  });
  after(async () => {
    await page.close?.();
    rmSync(page.folder, { recursive: true, force: true });
  });
  register(page);
}

inFullRun('npm run dev with changes of texts, styles, panels and the package', () => {
  describe('npm run dev: a saved file is on the screen:', { timeout: PATIENCE.test }, () => {
    withServer({ make: async () => {} }, (page) => {
      for (const [what, { edit, look }] of Object.entries(CHANGES)) {
        test(what, async (t) => {
          check(t, await change(page, edit, look), LIMITS.source);
          assert.deepEqual(page.problems, []);
        });
      }

      test('the second of two changes within 20 ms', async () => {
        const [file, from, to] = CHANGES['a style'].edit;
        const path = join(page.folder, file);
        let seen;
        const see = (changed) => changed === path && (seen = readFileSync(path, 'utf8'));
        page.watcher.on('change', see);
        write(path, from, to);
        await pause(20);
        write(path, to, from);
        const saved = readFileSync(path, 'utf8');
        await until(
          () => seen === saved,
          () => 'the server sees what was saved last',
        );
        page.watcher.off('change', see);
      });
    });
  });
});

test('npm run dev: its changes are found in the sources', () => {
  for (const { edit } of [...Object.values(CHANGES), KERNEL])
    replaced(readFileSync(join(root, edit[0]), 'utf8'), edit[1], edit[2]);
});

test('npm run dev: the server does not start anew when a source of the page changes', async () => {
  const config = join(root, 'web/vite.config.ts');
  const { dependencies } = await loadConfigFromFile({ command: 'serve', mode: '' }, config);
  assert.ok(dependencies.includes('web/build/source.ts'), dependencies.join(' '));
  const sources = dependencies.filter((file) => file.startsWith('web/src/'));
  assert.deepEqual(sources, [], 'the config imports them, so a tab that reloads finds no server');
});

/** Builds the module that Chromium loads as the server would, which takes longer than anything waits for. */
async function buildModule(folder) {
  const { modules } = await import(join(folder, 'tools/build/cmake.js'));
  await modules(['qkv-relaxed'], { development: true });
}

inFullRun('npm run dev with a change of a kernel, which compiles a module', () => {
  describe('npm run dev: a saved file of C++ is on the screen:', { timeout: PATIENCE.test }, () => {
    withServer({ prepare: buildModule }, (page) => {
      test('a kernel', async (t) => {
        check(t, await change(page, KERNEL.edit, KERNEL.look), LIMITS.kernel);
        assert.deepEqual(page.problems, []);
      });
    });
  });
});
