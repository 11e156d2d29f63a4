// The page in Chromium: languages, themes and links, and what is shipped.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { transformSync } from 'esbuild';
import { contrast, random } from './page-oracle.js';
import * as support from './page-support.js';

const { nextFrame, pixelsAt, set, settle, snapshot } = support;
const CHINESE = support.examples.zh;
const { pageTest } = support.useSite();
const repository = new URL('../../', import.meta.url);

// ---- languages, themes, links ----

pageTest('a Chinese visitor is met in Chinese', { locale: 'zh-CN' }, async (page) => {
  const { tokens, state } = await snapshot(page);
  assert.equal(state.language, 'zh');
  assert.equal(tokens.join(''), CHINESE);
  assert.equal(await page.getAttribute('html', 'lang'), 'zh-CN');
  const text = await page.evaluate(() => document.body.innerText);
  assert.match(text, /注意力/);
  assert.doesNotMatch(text, /\{\w+\}|undefined|NaN|\[[qkvop]\|/);
});

pageTest('the language switch turns every text, but not a text of one’s own', {}, async (page) => {
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
  assert.doesNotMatch(chinese.join('\n'), /\{\w+\}|undefined/);
  await page.fill('#text', 'my own words');
  await page.click('.language');
  await settle(page);
  assert.equal((await snapshot(page)).state.text, 'my own words');
  assert.deepEqual(await texts(), english);
});

pageTest('the theme can be chosen, repaints the pictures and is remembered', {}, async (page) => {
  const colours = async () => ({
    paper: await page.evaluate(() => getComputedStyle(document.body).backgroundColor),
    zero: await pixelsAt(page, 'qkv-positions', [{ row: 0, col: 0 }]), // sin 0
  });
  const light = await colours();
  await page.click('.theme'); // auto -> light
  await page.click('.theme'); // light -> dark
  await nextFrame(page);
  const dark = await colours();
  assert.notEqual(dark.paper, light.paper);
  assert.notDeepEqual(dark.zero, light.zero);
  await page.reload();
  await settle(page);
  assert.deepEqual(await colours(), dark);
});

for (const colorScheme of ['light', 'dark']) {
  pageTest(`text is readable in the ${colorScheme} theme`, { colorScheme }, async (page) => {
    const samples = await page.evaluate(() => {
      const rgb = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
      const behind = (element) => {
        for (let e = element; e; e = e.parentElement) {
          const colour = rgb(getComputedStyle(e).backgroundColor);
          if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3);
        }
        return [255, 255, 255];
      };
      const fill = rgb(getComputedStyle(document.querySelector('.fill')).backgroundColor);
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      const found = [];
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const element = node.parentElement;
        if (!node.textContent.trim() || !element.checkVisibility()) continue;
        if (element.closest('.visually-hidden, .skip')) continue;
        const text = rgb(getComputedStyle(element).color);
        found.push({ name: element.className || element.localName, text, back: behind(element) });
        if (element.closest('.chip')) found.push({ name: 'on the fill', text, back: fill });
      }
      return found;
    });
    assert.ok(samples.length > 100);
    const poor = samples
      .map(({ name, text, back }) => ({ name, ratio: contrast(text.slice(0, 3), back) }))
      .filter(({ ratio }) => ratio < 4.5);
    assert.deepEqual(poor, []);
  });
}

pageTest('a link brings back what it was made from', {}, async (page) => {
  const links = await page.evaluate(() => {
    const { parseFragment, formatFragment, snapshot } = window.__qkv;
    const base = snapshot().state;
    const texts = ['a & b = c #1 +%25', '猫，和狗。\n第二行', '👩‍👩‍👧 e\u0301', '', ' '];
    return texts.flatMap((text, i) =>
      ['en', 'zh'].map((language, j) => {
        const state = {
          ...base,
          language,
          text,
          positions: i % 2 === 0,
          causal: j === 0,
          temperature: [0.05, 0.7, 1, 12.3, 20][i],
          head: i % 4,
          seed: i * 1234,
          query: i === 0 ? null : i,
          scale: ['linear', 'sqrt', 'log'][i % 3],
          shift: i * 30,
        };
        return { state, back: parseFragment(formatFragment(state), 'en') };
      }),
    );
  });
  assert.equal(links.length, 10);
  for (const { state, back } of links) assert.deepEqual(back, state);
  await set(page, { text: '红 green', temperature: 0.7, head: 2, seed: 42, causal: false });
  await page.waitForFunction(() => location.hash.includes('seed=42'));
  const { state, frame } = await snapshot(page);
  await page.reload();
  await settle(page);
  const again = await snapshot(page);
  assert.deepEqual(again.state, state);
  assert.deepEqual(again.frame.weights, frame.weights, 'same link, same numbers');
});

pageTest('2000 random fragments never throw and stay within limits', {}, async (page) => {
  const next = random(20240607);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const keys = [
    'v',
    'lang',
    'x',
    'pe',
    'causal',
    'tau',
    'h',
    'seed',
    'q',
    'scale',
    'k',
    'zz',
    '__proto__',
  ];
  const values = ['1', '0', '-5', '1e999', 'NaN', '', '%', '%E4%BD', '0x10', 'zh', 'log', '猫'];
  const noise = () => String.fromCharCode(32 + next() * 900);
  const value = () => (next() < 0.6 ? pick(values) : Array.from({ length: 6 }, noise).join(''));
  const fragments = Array.from({ length: 2000 }, () => {
    const pairs = Array.from({ length: 1 + next() * 8 }, () => `${pick(keys)}=${value()}`);
    return `#${next() < 0.8 ? 'v=1&' : ''}${pairs.join('&')}`;
  });
  const results = await page.evaluate(
    (list) => list.map((fragment) => window.__qkv.parseFragment(fragment, 'en')),
    fragments,
  );
  const within = (number, low, high) =>
    assert.ok(number >= low && number <= high, `${number} is not in [${low}, ${high}]`);
  let understood = 0;
  for (const state of results) {
    if (state === null) continue;
    understood++;
    assert.deepEqual(Object.keys(state).length, 10);
    within(state.temperature, 0.05, 20);
    for (const [key, high] of Object.entries({ head: 3, seed: 999999, shift: 128 })) {
      assert.ok(Number.isInteger(state[key]));
      within(state[key], 0, high);
    }
    if (state.query !== null) within(state.query, 0, 255);
    assert.ok(['en', 'zh'].includes(state.language));
    assert.ok(['linear', 'sqrt', 'log'].includes(state.scale));
    assert.ok(typeof state.causal === 'boolean' && typeof state.positions === 'boolean');
    assert.ok(state.text.length <= 2000);
  }
  assert.ok(understood > 1000 && understood < 2000);
  for (const fragment of fragments.slice(0, 20)) {
    await page.evaluate((hash) => location.replace(hash), fragment);
  }
  await set(page, { text: 'still alive' });
  assert.deepEqual((await snapshot(page)).frame.request.tokens, ['still', 'alive']);
});

pageTest(
  'a link of another version changes nothing',
  { fragment: '#v=2&seed=99' },
  async (page) => {
    assert.equal((await snapshot(page)).state.seed, 7);
    await page.evaluate(() => (location.hash = '#v=1&seed=99&unknown=1'));
    await page.waitForFunction(() => window.__qkv.snapshot().state.seed === 99);
  },
);

// ---- what is shipped ----

pageTest('the example of the page runs as it stands', {}, async (page) => {
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

test('scripts, styles and HTML stay within 120 kB gzip, and nothing may come from elsewhere', () => {
  const folder = new URL('dist/web/', repository);
  const files = readdirSync(folder, { recursive: true }).filter((f) => /\.(js|css|html)$/.test(f));
  assert.ok(files.length >= 4);
  const size = files.reduce((sum, f) => sum + gzipSync(readFileSync(new URL(f, folder))).length, 0);
  assert.ok(size <= 120_000, `${size} bytes`);
  const html = readFileSync(new URL('index.html', folder), 'utf8');
  assert.match(html, /Content-Security-Policy/);
  assert.doesNotMatch(html, /https?:\/\//);
  assert.doesNotMatch(html, /\sstyle=|<style|unsafe-inline/);
});

test('the build refuses catalogues that differ', async () => {
  const source = readFileSync(new URL('web/build/compare.ts', repository), 'utf8');
  const { code } = transformSync(source, { loader: 'ts', format: 'esm' });
  const { compareCatalogues } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  const [en, zh] = ['en', 'zh'].map((language) => {
    const file = new URL(`web/src/catalogues/${language}.json`, repository);
    return JSON.parse(readFileSync(file, 'utf8'));
  });
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
