// The page in Chromium: its numbers against the formula.
import assert from 'node:assert/strict';
import { excess, layer } from './support/oracle.js';
import * as support from './support/page.js';

const { allOf, layerOf, meanEntropies, nextFrame, readNumber } = support;
const { set, settle, snapshot, tensors, visit, weightOf } = support;
const ENGLISH = support.examples.en;
const CHINESE = support.examples.zh;
const { pageTest } = support.useSite();

// ---- numbers ----

pageTest(
  'page: of two links the later one holds, also where the texts of the first are late',
  { fresh: true },
  async (page) => {
    await visit(page, 'row');
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    const texts = /\.zh-[^/]*\.js$/;
    await page.route(texts, async (route) => {
      await held;
      await route.continue();
    });
    const asked = page.waitForRequest(texts);
    await page.evaluate(() => (location.hash = '#v=1&lang=zh&seed=5'));
    await asked;
    await page.evaluate(() => (location.hash = '#v=1&lang=en&seed=6'));
    await page.waitForFunction(() => window.__qkv.snapshot().state.seed === 6);
    answer();
    await settle(page);
    const { state } = await snapshot(page);
    assert.deepEqual([state.language, state.seed], ['en', 6]);
    await page.unroute(texts);
  },
);

pageTest(
  'page: comes alive with the example, its weights and their provenance',
  {},
  async (page) => {
    await visit(page, 'checks');
    const { frame, report, tokens, engine } = await snapshot(page);
    assert.equal(engine.kind, 'ready');
    assert.deepEqual(tokens, [...ENGLISH.match(/\w+|\./g)]);
    assert.match(frame.info.isa, /^wasm/);
    assert.match(await page.textContent('.badge'), /weights built by hand/);
    assert.ok(report.timing.median > 0 && report.timing.samples >= 3);
    assert.equal(await page.locator('.chip').count(), tokens.length);
    const build = await page.textContent('[data-reading=build]');
    assert.ok(build.includes(frame.info.variant) && build.includes(frame.info.version));
    // The first frames are not timed, and a slow machine answers several requests with one.
    for (const temperature of [0.5, 0.75, 1.25, 1.5, 1]) await set(page, { temperature });
    await page.getByText(/^[\d.]+ (µs|ms|s) per frame$/).waitFor();
  },
);

pageTest('map: what is on the page equals the formula in float64', {}, async (page) => {
  await visit(page, 'checks');
  await set(page, { text: `${ENGLISH} ${CHINESE}`, source: 'random', mask: 'window', head: 2 });
  const { frame, query, report } = await snapshot(page);
  const all = await tensors(page);
  const exact = layer(layerOf(all));
  assert.ok(excess(allOf(all, 'weights'), exact.weights, exact.bounds) <= 0);
  assert.equal(report.check.heads, all.heads.length);
  const shown = readNumber(await page.textContent('[data-reading=error] .value'));
  assert.ok(Math.abs(shown / report.check.weights - 1) < 0.06, 'the number on the page');
  const count = all.request.layer.tokens.length;
  assert.equal(frame.query.row, query);
  frame.query.weights.forEach((weight, col) => {
    assert.ok(Math.abs(weight - weightOf(all, 2, query, col)) < 1e-6, `${col} of ${count}`);
  });
});

pageTest('page: typing English and Chinese changes tokens and weights', {}, async (page) => {
  const first = await snapshot(page);
  await page.fill('#text', 'A dog barks');
  await settle(page);
  const english = await snapshot(page);
  assert.deepEqual(english.tokens, ['A', 'dog', 'barks']);
  await page.fill('#text', CHINESE);
  await settle(page);
  const chinese = await snapshot(page);
  assert.equal(chinese.tokens.join(''), CHINESE);
  assert.ok(chinese.tokens.length > 5 && chinese.tokens.length < [...CHINESE].length);
  assert.ok(chinese.tokens.includes('，') && chinese.tokens.includes('。'));
  for (const { frame, tokens } of [first, english, chinese]) {
    assert.equal(frame.query.weights.length, tokens.length);
  }
  assert.deepEqual(await page.locator('.chip .token').allTextContents(), chinese.tokens);
  await page.fill('#text', '👩‍👩‍👧 e\u0301a 🇨🇳🇫🇷 don’t');
  await settle(page);
  const graphemes = (await snapshot(page)).tokens;
  assert.deepEqual(graphemes, ['👩‍👩‍👧', 'e\u0301a', '🇨🇳', '🇫🇷', 'don’t']);
});

pageTest('page: a sentence is taken when the input method has finished it', {}, async (page) => {
  await page.fill('#text', '');
  const devtools = await page.context().newCDPSession(page);
  await page.focus('#text');
  const composing = { text: 'mao', selectionStart: 3, selectionEnd: 3 };
  await devtools.send('Input.imeSetComposition', composing);
  await nextFrame(page);
  assert.deepEqual((await snapshot(page)).tokens, []);
  await devtools.send('Input.insertText', { text: '猫' });
  await settle(page);
  assert.deepEqual((await snapshot(page)).tokens, ['猫']);
});

pageTest('page: characters, bytes and other lengths', {}, async (page) => {
  await set(page, { text: '猫 e\u0301!', tokenizer: 'character' });
  assert.deepEqual((await snapshot(page)).tokens, ['猫', 'e\u0301', '!']);
  await set(page, { tokenizer: 'byte' });
  const bytes = [...Buffer.from('猫 e\u0301!')];
  const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0');
  assert.deepEqual((await snapshot(page)).tokens, bytes.map(hex));
  await set(page, { text: 'a b c', tokenizer: 'word', length: 7 });
  assert.deepEqual((await snapshot(page)).tokens, [...'abcabca']);
  await set(page, { length: 2 });
  assert.deepEqual((await snapshot(page)).tokens, ['a', 'b']);
  await set(page, { length: 1024 });
  const { frame, report, tokens } = await snapshot(page);
  assert.equal(tokens.length, 1024);
  assert.equal(frame.query.weights.length, 1024);
  assert.equal(report.check.heads, 1, 'of many tokens only the shown head is checked');
  assert.ok(report.check.weights < 1e-4);
});

pageTest('page: temperature raises the entropy of every head', {}, async (page) => {
  const box = page.locator('#temperature-number');
  await set(page, { source: 'random' });
  let before = new Array(4).fill(-1);
  for (const temperature of [0.05, 0.2, 0.5, 1, 2, 5, 20]) {
    await box.fill(String(temperature));
    await box.press('Enter');
    await settle(page);
    const { state } = await snapshot(page);
    assert.equal(state.temperature, temperature);
    const entropies = meanEntropies(await tensors(page));
    entropies.forEach((h, head) => assert.ok(h > before[head], `head ${head} at ${temperature}`));
    before = entropies;
    const spoken = await page.getAttribute('#tau', 'aria-valuetext');
    assert.ok(
      spoken.includes(`temperature ${temperature}, mean entropy ${entropies[0].toPrecision(3)}`),
    );
  }
  await box.fill('1000');
  await box.press('Enter');
  await settle(page);
  assert.equal((await snapshot(page)).state.temperature, 20);
  await page.press('#tau', 'ArrowLeft');
  await settle(page);
  assert.ok((await snapshot(page)).state.temperature < 20);
});

pageTest('page: only what depends on a change is computed again', {}, async (page) => {
  const ran = async (patch) => {
    await set(page, patch);
    return (await snapshot(page)).frame.ran;
  };
  await visit(page, 'map');
  assert.deepEqual(await ran({ temperature: 2 }), ['head', 'values', 'paint map', 'query row']);
  assert.deepEqual(await ran({ shift: 9 }), []); // its panel is not on the screen
  assert.deepEqual(await ran({ query: 3 }), ['query row']);
  assert.deepEqual(await ran({ show: 'log' }), ['values', 'paint map']);
  assert.deepEqual(await ran({ order: 'entropy' }), []);
  await set(page, { source: 'random' });
  assert.deepEqual(await ran({ seed: 8 }), [
    'model',
    'x',
    'heads',
    'head',
    'values',
    'paint map',
    'query row',
  ]);
  await visit(page, 'use');
  // The map is not on the screen any more: no head is computed for its picture.
  assert.deepEqual(await ran({ temperature: 3 }), ['query row']);
});

pageTest('page: empty and very long texts are told, never silent', {}, async (page) => {
  await page.fill('#text', ' \n ');
  await settle(page);
  assert.ok(await page.isVisible('.empty'));
  assert.ok(!(await page.isVisible('qkv-picture qkv-matrix')));
  await page.click('.example');
  await settle(page);
  assert.equal((await snapshot(page)).state.text, ENGLISH);
  assert.ok(await page.isVisible('qkv-picture qkv-matrix'));
  await set(page, { text: 'a'.repeat(1200), tokenizer: 'character' });
  assert.equal((await snapshot(page)).tokens.length, 1024);
  assert.match(await page.textContent('#text-note'), /1200 tokens.*first 1024/);
  assert.equal(await page.locator('.chip').count(), 64);
  assert.match(await page.textContent('.more'), /first 64 of 1024/);
  await set(page, { tokenizer: 'word' });
  await page.fill('#text', 'x'.repeat(2500));
  await settle(page);
  assert.match(await page.textContent('#text-note'), /first 2000 characters/);
  await page.fill('#text', 'short again');
  await settle(page);
  assert.ok(!(await page.isVisible('#text-note')));
});
