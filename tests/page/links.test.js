// The page in Chromium: languages, themes and links, and what is shipped.
import assert from 'node:assert/strict';
import { exampleSaid } from './support/texts.js';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import fc from 'fast-check';
import { inFullRun } from '../support/js/full.js';
import * as support from './support/page.js';
import { textsOf } from './support/texts.js';

const { addressed, arrive, nextFrame, pixelsAt, set, settle, snapshot, tensors, visit } = support;
const CHINESE = support.examples.zh;
const { site, pageTest } = support.useSite();
const repository = new URL('../../', import.meta.url);

// ---- languages, themes, links ----

pageTest('page: a Chinese visitor is met in Chinese', { locale: 'zh-CN' }, async (page) => {
  const { tokens, state } = await snapshot(page);
  assert.equal(state.language, 'zh');
  assert.equal(tokens.join(''), CHINESE);
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
  const text = await page.evaluate(() => document.body.innerText);
  assert.match(text, /注意力/);
  assert.doesNotMatch(text, /\{\w+\}|undefined|NaN|\[[qkvop]\|/);
});

// Every run turns the page in panels.test.js and visited.test.js; that a text of one's own stays is for numbers/app.test.js.
/** Names that Chinese texts write as English ones do. */
const NAMES = [
  ...['ALiBi', 'Dropout', 'LayerNorm', 'RMSNorm', 'RoPE', 'Transformer-XL'],
  ...['d：d_model', 'logits', 'softmax', 'wasm-relaxed-simd'],
];

/** What is on the page in Latin letters alone and is no number, formula or code. */
const latinTexts = () => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const { parentElement: around } = node;
    const isOther = around.closest('noscript, script, code, pre, math, [translate=no], [lang=en]');
    const text = node.data.trim();
    const isLatin = /[A-Za-z]{4,}/.test(text) && !/\p{Script=Han}|\d/u.test(text);
    if (!isOther && isLatin && around.checkVisibility()) texts.push(text);
  }
  return texts;
};

inFullRun('every text before and after the language turns', () => {
  pageTest(
    'page: the language switch turns every text, but not a text of one’s own',
    {},
    async (page) => {
      for (const id of support.panels) await visit(page, id);
      const texts = () =>
        page.evaluate(() => [...document.querySelectorAll('[data-t]')].map((e) => e.textContent));
      const english = await texts();
      await page.click('.language');
      await settle(page);
      const chinese = await texts();
      assert.equal((await snapshot(page)).state.text, CHINESE);
      assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
      const same = english.filter((text, i) => text === chinese[i]);
      assert.deepEqual(same, ['√'], 'texts that stayed as they were');
      // What is out of sight follows when it is seen again.
      for (const id of support.panels) await visit(page, id);
      const latin = new Set(await page.evaluate(latinTexts));
      assert.deepEqual([...latin].sort(), NAMES, 'texts without a Chinese character');
      assert.doesNotMatch(chinese.join('\n'), /\{\w+\}|undefined/);
      await page.fill('#text', 'my own words');
      await page.click('.language');
      await settle(page);
      assert.equal((await snapshot(page)).state.text, 'my own words');
      assert.deepEqual(await texts(), english);
    },
  );
});

pageTest(
  'page: the theme can be chosen, repaints the pictures and is remembered',
  {},
  async (page) => {
    await visit(page, 'positions');
    const colours = async () => ({
      paper: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
      zero: await pixelsAt(page, 'qkv-encoding', [{ row: 0, col: 0 }]), // sin 0
    });
    const light = await colours();
    await page.click('.theme'); // auto -> light
    await page.click('.theme'); // light -> dark
    await visit(page, 'positions'); // only what is on the screen is painted
    await nextFrame(page);
    const dark = await colours();
    assert.notEqual(dark.paper, light.paper);
    assert.notDeepEqual(dark.zero, light.zero);
    await page.reload();
    await visit(page, 'positions');
    await nextFrame(page);
    assert.deepEqual(await colours(), dark);
  },
);

pageTest('page: a link brings back the numbers', {}, async (page) => {
  await set(page, {
    text: '红 green',
    source: 'random',
    temperature: 0.7,
    head: 2,
    seed: 42,
    mask: 'none',
  });
  await addressed(page, 'seed=42');
  const { state } = await snapshot(page);
  const { heads } = await tensors(page);
  await page.reload();
  await settle(page);
  assert.deepEqual((await snapshot(page)).state, state);
  assert.deepEqual((await tensors(page)).heads, heads, 'same link, same numbers');
});

pageTest('page: links of any kind leave a page that works', {}, async (page) => {
  const links = ['#v=1&tau=%', '#%E4%BD', '#v=99', '#map', '#v=1&x=%00&T=1e999', '#zz=1', '#'];
  for (const link of links) {
    await page.evaluate((hash) => location.replace(hash), link);
    await settle(page);
  }
  await set(page, { text: 'still alive' });
  assert.deepEqual((await snapshot(page)).frame.request.layer.tokens, ['still', 'alive']);
});

pageTest(
  'page: a link of another version, or that means nothing in part, says so',
  { fragment: '#v=2&x=Hello+world' },
  async (page) => {
    const note = () => page.locator('.link-note').innerText();
    assert.match(await note(), /made by another version of this page \(version 2 of links\)/);
    await page.click('.link-note button');
    await settle(page);
    assert.ok(!(await page.isVisible('.link-note')));
    await page.evaluate(() => (location.hash = '#v=1&lang=zh&seed=5&src=quantum'));
    await page.waitForSelector('.link-note:not([hidden])');
    await settle(page);
    assert.match(await note(), /无法理解（src=quantum）/);
    assert.equal((await snapshot(page)).state.seed, 5);
    await page.evaluate(() => (location.hash = '#v=1&lang=en&seed=6'));
    await settle(page);
    assert.ok(!(await page.isVisible('.link-note')));
  },
);

pageTest(
  'page: the text box is as high as its text while somebody types',
  { fresh: true },
  async (page) => {
    const box = page.locator('#text');
    await box.fill('one two three four five six seven '.repeat(4));
    await box.press('x');
    await settle(page);
    const { client, scroll } = await box.evaluate((text) => ({
      client: text.clientHeight,
      scroll: text.scrollHeight,
    }));
    assert.ok(client > 60, `more than a line: ${client} px`);
    assert.ok(scroll <= client, `${scroll} px of text in ${client}`);
  },
);

pageTest(
  'page: a file that is dropped on the title does not take the place of the page',
  { fresh: true },
  async (page) => {
    const prevented = await page.evaluate(() => {
      const transfer = new DataTransfer();
      transfer.items.add(new File(['no model'], 'photo.png'));
      return ['dragover', 'drop'].map((type) => {
        const event = new DragEvent(type, {
          bubbles: true,
          cancelable: true,
          dataTransfer: transfer,
        });
        document.querySelector('h1').dispatchEvent(event);
        return event.defaultPrevented;
      });
    });
    assert.deepEqual(prevented, [true, true]);
    await page.waitForSelector('.model-refused:not([hidden])');
    assert.equal(await page.textContent('.model-refused h3'), 'photo.png could not be loaded');
  },
);

pageTest('page: a link can lead to a panel', { fragment: '#v=1&p=checks&seed=9' }, async (page) => {
  await arrive(page, 'checks');
  assert.equal((await snapshot(page)).state.seed, 9);
});

pageTest('page: a teacher puts the controls away, and a link says so', {}, async (page) => {
  await page.click('.teacher');
  await nextFrame(page);
  for (const control of ['#tau', '#choose-mask', '[name=show]', '#minus']) {
    assert.ok(!(await page.isVisible(control)), control);
  }
  assert.ok(await page.isVisible('.chip'));
  await addressed(page, 'controls=0');
  await page.reload();
  await settle(page);
  assert.ok(!(await page.isVisible('#tau')));
  await page.click('.teacher');
  await nextFrame(page);
  assert.ok(await page.isVisible('#tau'));
});

pageTest('page: the link is shared by a button', {}, async (page) => {
  await set(page, { seed: 5, source: 'random' });
  await page.click('.share');
  await page.waitForFunction(() => document.querySelector('.share').textContent === 'Link copied');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.endsWith(`#v=1&lang=en&${exampleSaid()}&src=random&seed=5`), link);
});

// ---- what is shipped ----

/** The HTML, its script, its style and its icon, the worker, and one .wasm. */
const REQUESTS = 6;

/** Watches what moves on the page without being asked to. */
function watchShifts() {
  window.shifts = [];
  const note = ({ value, hadRecentInput }) => !hadRecentInput && window.shifts.push(value);
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(note));
  observer.observe({ type: 'layout-shift', buffered: true });
}

test('page: the first view asks for little, once, and nothing jumps', async () => {
  const asked = [];
  const prepare = async (page) => {
    await page.addInitScript(watchShifts);
    page.on('response', (response) => asked.push([response.url(), response.status()]));
  };
  const phone = { width: 390, height: 844, prepare };
  const { page, problems, close } = await support.openPage(site(), phone);
  try {
    await settle(page);
    await page.waitForLoadState('networkidle');
    const urls = asked.map(([url]) => url);
    assert.ok(urls.length >= 4 && urls.length <= REQUESTS, urls.join('\n'));
    assert.deepEqual(urls, [...new Set(urls)], 'each once');
    for (const [url, status] of asked) assert.equal(status, 200, url);
    const shifts = await page.evaluate(() => window.shifts);
    assert.ok(shifts.reduce((sum, value) => sum + value, 0) < 0.01, `${shifts}`);
    assert.deepEqual(problems, []);
  } finally {
    await close();
  }
});

pageTest('page: the example of the page runs as it stands', {}, async (page) => {
  await visit(page, 'use');
  const shown = await page.textContent('.example-code');
  const folder = mkdtempSync(join(tmpdir(), 'qkv-page-'));
  try {
    const file = join(folder, 'example.mjs');
    const entry = new URL('dist/index.js', repository).href;
    writeFileSync(file, shown.replace("'qkv'", JSON.stringify(entry)));
    const printed = execFileSync(process.execPath, [file], { encoding: 'utf8' });
    assert.deepEqual(printed.trim().split('\n'), ['[ 6, 8 ]', '[ 1, 2, 6, 6 ]']);
  } finally {
    rmSync(folder, { recursive: true });
  }
  await page.click('.copy');
  await page.waitForFunction(() => document.querySelector('.copy').textContent === 'Copied');
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), shown);
});

test('page: the page keeps to its budgets, and nothing may come from elsewhere', () => {
  const folder = new URL('dist/web/', repository);
  const files = readdirSync(folder, { recursive: true });
  const gzip = (name) => gzipSync(readFileSync(new URL(name, folder))).length;
  const sum = (names) => names.reduce((total, name) => total + gzip(name), 0);
  // The single file has a budget of its own, see single.test.js.
  // What trains and measures comes with a press.
  const workers = files.filter((name) =>
    /(\.worker|panel_worker(_code)?|train_engine)-[^/]*\.js$/.test(name),
  );
  assert.ok(sum(workers) <= 60_000, `${sum(workers)} bytes for the workers of panels`);
  const code = files.filter(
    (name) => /\.(js|css|html)$/.test(name) && name !== 'qkv.html' && !workers.includes(name),
  );
  assert.ok(code.length >= 7);
  assert.ok(sum(code) <= 650_000, `${sum(code)} bytes with all panels, in both languages`);
  for (const id of support.panels) {
    const own = code.filter((name) => new RegExp(`^assets.${id}[.-]`).test(name));
    assert.ok(sum(own) <= 43_000, `${sum(own)} bytes of ${id}`);
  }
  // Panels are fetched as they come near; of the modules a browser takes one.
  const first = code.filter((name) =>
    /^(index|assets.(index|worker|worker_code)-)[^/]*$/.test(name),
  );
  assert.ok(sum(first) <= 139_000, `${sum(first)} bytes before any panel`);
  const modules = files.filter((name) => /qkv-(?!train).*\.wasm$/.test(name)).map(gzip);
  assert.ok(first.length === 5 && modules.length >= 2);
  const total = sum(first) + Math.max(...modules);
  assert.ok(total <= 300_000, `${total} bytes for the first view`);
  const fonts = files.filter((name) => name.endsWith('.woff2'));
  assert.equal(fonts.length, 1);
  assert.ok(statSync(new URL(fonts[0], folder)).size <= 40_000, 'the font of formulas');
  const html = readFileSync(new URL('index.html', folder), 'utf8');
  for (const name of ['object-src', 'base-uri', 'form-action']) {
    assert.match(html, new RegExp(`Content-Security-Policy" content="[^"]*${name} &#39;none&#39;`));
  }
  assert.doesNotMatch(html, /https?:\/\//);
  assert.doesNotMatch(html, /\sstyle=|<style|unsafe-inline/);
});

test('page: its links to files lead to files, and that to the documentation to a page in any case', () => {
  const folder = new URL('dist/web/', repository);
  const html = readFileSync(new URL('index.html', folder), 'utf8');
  const [, footer] = /<footer>(.*?)<\/footer>/s.exec(html);
  const targets = Array.from(footer.matchAll(/href="([^"]*)"/g), ([, target]) => target);
  assert.deepEqual(targets, ['docs/', 'qkv.html']);
  for (const target of targets) {
    const file = target.replace(/\/$/, '/index.html');
    assert.match(readFileSync(new URL(file, folder), 'utf8'), /<title>.*qkv/);
  }
  const instead = readFileSync(new URL('docs/index.html', folder), 'utf8');
  assert.match(instead, /default-src 'none'/);
  assert.doesNotMatch(instead, /https?:|<script/);
});

/** A module of the page, in Node. */
async function moduleOf(path) {
  const options = { entryPoints: [new URL(path, repository).pathname], bundle: true, write: false };
  const { outputFiles } = await build({ ...options, format: 'esm', splitting: false });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

// That any string is a link is for fragment.test.js.
test('page: any state survives its link', async () => {
  const source = `
    export * from './state/state'; export * from './chapters/index'; export * from './domain/number_sets'; export * from './features/cost/shared/shape'; export * from './features/cost/shared/bench_result';`;
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: new URL('web/src', repository).pathname, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
  });
  const state = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
  const { formatFragment, parseFragment, initialState } = state;
  const optional = (arbitrary) => fc.option(arbitrary, { nil: null });
  const one = (...values) => fc.constantFrom(...values);
  const numbers = fc.integer({ min: 1, max: 6 }).chain((count) => {
    const row = fc.array(fc.double({ min: -9, max: 9, noNaN: true }).map(state.clampNumber), {
      minLength: 2 * count,
      maxLength: 2 * count,
    });
    return fc.record({ q: row, k: row, v: row }, { noNullPrototype: true });
  });
  const measured = fc
    .record({
      ...{ variant: one('simd', 'relaxed-threads'), threads: fc.nat(64), cores: fc.nat(999) },
      rows: fc.subarray([...state.LENGTHS], { minLength: 1 }).chain((lengths) =>
        fc.tuple(
          ...lengths.map((tokens) =>
            fc.record({
              tokens: fc.constant(tokens),
              ...Object.fromEntries(
                ['storedMs', 'streamingMs', 'decodeMs'].map((name) => [
                  name,
                  fc.double({ min: 1e-3, max: 1e5, noNaN: true }),
                ]),
              ),
              ...{ storedBytes: fc.nat(1e9), streamingBytes: fc.nat(1e9) },
            }),
          ),
        ),
      ),
    })
    .map((result) => state.readResult(state.writeResult(result)));
  const text = fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .map((value) => value.replace(/\p{Surrogate}/gu, '\uFFFD'));
  const isWords = (name) => /^words(?!Cells)/.test(name);
  const said = (name) => text.map((value) => state.FIELDS[name].read(value) ?? null);
  const numbersOf = (name, count, most) =>
    fc
      .array(fc.double({ min: -most, max: most, noNaN: true }), {
        ...{ minLength: count, maxLength: count },
      })
      .map((values) => state.FIELDS[name].read(values.join()));
  const headOf = fc.tuple(fc.nat(63), fc.nat(63));
  /** What is neither a choice nor a number between limits. */
  const others = {
    ...{ text, blockContext: text, learnText: text.filter(Boolean), numbers, costResult: measured },
    maskPaint: fc.string({ unit: one(...'0123456789abcdef'), minLength: 64, maxLength: 64 }),
    recurrenceSource: fc.string({ unit: one(...'0123456789'), minLength: 1, maxLength: 40 }),
    costShape: one(...Object.values(state.PRESETS), {
      ...{ ...state.PRESETS.gpt2, numHeads: 6, numKvHeads: 3, bytes: 0.5 },
      ...{ gated: true, causal: false },
    }),
    ...Object.fromEntries(
      Object.keys(state.FIELDS)
        .filter(isWords)
        .map((name) => [name, said(name)]),
    ),
    blockDate: text.filter(Boolean).map((value) => state.FIELDS.blockDate.read(value)),
    blockRow: numbersOf('blockRow', 6, 10),
    simplexScores: numbersOf('simplexScores', 3, 5),
    simplexPoint: fc
      .tuple(fc.nat(1000), fc.nat(1000))
      .filter(([first, second]) => first + second <= 1000)
      .map((weights) => state.FIELDS.simplexPoint.read(weights.join())),
    fragilityScores: numbersOf('fragilityScores', 5, 5),
    opened: fc.subarray([...state.CHAPTER_IDS], { minLength: 1 }),
    modelFile: text.filter(Boolean),
    modelOut: fc.uniqueArray(headOf, { maxLength: 5, selector: String }),
    modelHead: headOf,
    ...Object.fromEntries(
      ['microscopeClean', 'microscopeCorrupt'].map((name) => [name, text.filter(Boolean)]),
    ),
    modelAddress: text.map((address) => address.trim()).filter(Boolean),
    microscopeZoom: fc.oneof(fc.tuple(fc.nat(63)), headOf),
    microscopeHeads: fc.array(headOf, { minLength: 1, maxLength: 5 }),
    microscopeEdges: fc.array(fc.tuple(fc.nat(63), fc.nat(63), fc.nat(99), fc.nat(99)), {
      ...{ minLength: 1, maxLength: 5 },
    }),
  };
  const arbitraryOf = (name, field) => {
    const { options, limits, initial } = field;
    const number = () =>
      fc
        .double({ min: limits[0], max: limits[1], noNaN: true })
        .map((value) => field.read(String(value)));
    const some = others[name] ?? (options ? one(...options) : number());
    return initial === null ? optional(some) : some;
  };
  const states = fc.record(
    Object.fromEntries(
      Object.entries(state.FIELDS).map(([name, field]) => [name, arbitraryOf(name, field)]),
    ),
  );
  fc.assert(
    fc.property(states, (value) => {
      assert.deepEqual(Object.keys(value).sort(), Object.keys(initialState('en')).sort());
      const { text } = value;
      const carried = { ...value, text: text.replace(/\p{Surrogate}/gu, '\uFFFD') };
      assert.deepEqual(parseFragment(formatFragment(value), 'zh'), carried);
    }),
    { seed: 20240607, numRuns: 500 },
  );
  assert.deepEqual(parseFragment('#v=2&seed=99', 'en'), initialState('en'));
  assert.equal(parseFragment('#map', 'en').panel, 'map');
});

test('page: the build refuses catalogues that differ', async () => {
  const { compareCatalogues } = await moduleOf('web/build/compare.ts');
  const [en, zh] = ['en', 'zh'].map(textsOf);
  assert.deepEqual(compareCatalogues(en, zh), []);
  const key = 'badge.random';
  const without = Object.fromEntries(Object.entries(zh).filter(([name]) => name !== key));
  assert.match(compareCatalogues(en, without)[0], /badge\.random: missing or empty in zh/);
  assert.match(compareCatalogues({ ...en, [key]: ' ' }, { ...zh, [key]: '' })[0], /badge/);
  assert.match(compareCatalogues(en, { ...zh, [key]: '{sead}' })[0], /placeholders/);
  for (const text of Object.values(zh)) {
    const outside = text.replace(/`[^`]*`/g, '');
    assert.doesNotMatch(outside, /\p{Script=Han}[,;:?!]|[,;:?!]\p{Script=Han}/u);
  }
});
