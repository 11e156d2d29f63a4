// The page in Chromium: its numbers against the formula.
import assert from 'node:assert/strict';
import { allowedKeys, dModel, excess, layer, positional } from './support/oracle.js';
import * as support from './support/page.js';

const { allOf, layerOf, meanEntropies, nextFrame, readNumber } = support;
const { set, settle, snapshot, tensors, visit, weightOf } = support;
const ENGLISH = support.examples.en;
const CHINESE = support.examples.zh;
const { pageTest } = support.useSite();

// ---- numbers ----

pageTest('comes alive with the example, its weights and their provenance', {}, async (page) => {
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
  assert.match(await page.textContent('.engine-text'), /(simd|relaxed) · .* per frame/);
});

pageTest('weights and entropies equal the formula in float64', {}, async (page) => {
  const text = `${ENGLISH} ${CHINESE}`;
  await visit(page, 'checks');
  for (const [source, mask, temperature] of [
    ['constructed', 'causal', 1],
    ['constructed', 'none', 0.2],
    ['random', 'window', 1],
    ['random', 'causal', 0.05],
    ['random', 'none', 20],
  ]) {
    await set(page, { text, source, mask, temperature });
    const { report } = await snapshot(page);
    const all = await tensors(page);
    const exact = layer(layerOf(all));
    const weights = allOf(all, 'weights');
    assert.ok(excess(weights, exact.weights, exact.bounds) <= 0, `${source} ${mask}`);
    // The bound is for the worst case, yet narrow enough to see a temperature off by one percent,
    const wrong = layer({ ...layerOf(all), temperature: temperature * 1.01 });
    assert.ok(excess(weights, wrong.weights, exact.bounds) > 0);
    // and as roundings mostly cancel, what is measured stays far inside it.
    const limit = (source === 'constructed' ? 1e-5 : 1e-6) * Math.max(1, 1 / temperature);
    assert.ok(report.check.weights > 0 && report.check.weights < limit, `${report.check.weights}`);
    const entropies = allOf(all, 'entropy');
    const most = entropies.map((h, i) => Math.abs(h - exact.entropy[i]));
    assert.ok(Math.max(...most) < 1e-4 * Math.max(1, 1 / temperature));
    const largest = weights.map((w, i) => Math.abs(w - exact.weights[i]));
    assert.ok(Math.abs(Math.max(...largest) - report.check.weights) < 1e-12, 'its own check');
    assert.equal(report.check.heads, all.heads.length);
    const shown = readNumber(await page.textContent('[data-reading=error] .value'));
    assert.ok(Math.abs(shown / report.check.weights - 1) < 0.06, 'the number on the page');
  }
});

pageTest('rows sum to 1 and what is masked weighs exactly 0', {}, async (page) => {
  for (const mask of ['none', 'causal', 'window']) {
    await set(page, { mask });
    const all = await tensors(page);
    const count = all.request.layer.tokens.length;
    let outside = 0;
    for (let head = 0; head < all.heads.length; head++) {
      for (let row = 0; row < count; row++) {
        const weights = Array.from({ length: count }, (_, col) => weightOf(all, head, row, col));
        const sum = weights.reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < (count + 8) * 2 ** -23, `row ${row}: ${sum}`);
        const [first, end] = allowedKeys(mask, row, count);
        outside += weights.filter((w, j) => w !== 0 && (j < first || j >= end)).length;
      }
    }
    assert.equal(outside, 0);
  }
});

pageTest('the rows on the screen are rows of the tensors', {}, async (page) => {
  for (const patch of [{ head: 1 }, { head: 3, mask: 'window' }, { source: 'random', head: 2 }]) {
    await set(page, patch);
    const all = await tensors(page);
    const { frame, query } = await snapshot(page);
    const count = all.request.layer.tokens.length;
    const head = all.heads[frame.request.view.head];
    assert.equal(frame.query.row, query);
    frame.query.weights.forEach((weight, col) => {
      assert.ok(Math.abs(weight - head.weights[query * count + col]) < 1e-6, `${col}`);
    });
    assert.ok(Math.abs(frame.query.entropy - head.entropy[query]) < 1e-6);
    assert.equal(
      frame.query.largest,
      frame.query.weights.indexOf(Math.max(...frame.query.weights)),
    );
  }
});

pageTest('heads built by hand do what they are called', {}, async (page) => {
  for (const [text, it, cat] of [
    [ENGLISH, 'it', 'cat'],
    [CHINESE, '它', '猫'],
  ]) {
    await set(page, { text });
    const all = await tensors(page);
    const { tokens } = all.request.layer;
    const [query, key] = [tokens.indexOf(it), tokens.indexOf(cat)];
    assert.ok(weightOf(all, 0, query, key) > 0.9, `${it} finds ${cat}`);
    for (let row = 1; row < tokens.length; row++) {
      assert.ok(weightOf(all, 1, row, row - 1) > 0.9, `previous token of ${row}`);
      assert.ok(weightOf(all, 3, row, 0) > 0.9, `first token from ${row}`);
      assert.ok(Math.abs(weightOf(all, 5, row, 0) - 1 / (row + 1)) < 1e-6, 'the mean');
      const near = weightOf(all, 4, row, row) + weightOf(all, 4, row, row - 1);
      assert.ok(near > 0.5 && weightOf(all, 4, row, row) < 0.8, `around ${row}: ${near}`);
    }
  }
  await set(page, { text: ENGLISH });
  const all = await tensors(page);
  // "the" at 4 reads "The" at 0 and itself alike.
  assert.ok(Math.abs(weightOf(all, 2, 4, 0) - 0.5) < 0.05 && weightOf(all, 2, 4, 4) > 0.4);
  await set(page, { positions: 'none' });
  const lost = await tensors(page);
  assert.ok(Math.abs(weightOf(lost, 1, 4, 3) - 0.2) < 1e-5, 'without positions it is the mean');
});

pageTest('x is a seeded embedding plus the encoding of the paper', {}, async (page) => {
  await set(page, { text: 'one two one', source: 'random' });
  const { frame } = await snapshot(page);
  const withPositions = (await tensors(page)).x;
  for (let p = 0; p < frame.encoding.length; p++) {
    for (let c = 0; c < dModel; c++) {
      const got = frame.encoding.data[p * dModel + c];
      assert.ok(Math.abs(got - positional(p, c)) <= 1.2e-7, `PE(${p}, ${c})`);
    }
  }
  await set(page, { positions: 'none' });
  const { x } = await tensors(page);
  const row = (t) => x.slice(t * dModel, (t + 1) * dModel);
  assert.deepEqual(row(0), row(2), 'the same token has the same vector');
  assert.notDeepEqual(row(0), row(1));
  const variance = x.reduce((sum, value) => sum + value * value, 0) / x.length;
  assert.ok(variance > 0.7 && variance < 1.3, `variance ${variance}`);
  withPositions.forEach((value, i) => {
    const sum = Math.fround(x[i] + frame.encoding.data[i]);
    assert.equal(value, sum);
  });
  await set(page, { seed: 8 });
  assert.notDeepEqual((await tensors(page)).x, x);
  await set(page, { seed: 7 });
  assert.deepEqual((await tensors(page)).x, x);
});

pageTest('typing English and Chinese changes tokens and weights', {}, async (page) => {
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

pageTest('a sentence is taken when the input method has finished it', {}, async (page) => {
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

pageTest('characters, bytes and other lengths', {}, async (page) => {
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

pageTest('temperature raises the entropy of every head', {}, async (page) => {
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

pageTest('only what depends on a change is computed again', {}, async (page) => {
  const ran = async (patch) => {
    await set(page, patch);
    return (await snapshot(page)).frame.ran;
  };
  assert.deepEqual(await ran({ temperature: 2 }), ['head', 'values', 'paint map', 'query row']);
  assert.deepEqual(await ran({ shift: 9 }), ['shift']);
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

pageTest('without positions and mask, shuffled words shuffle the map', {}, async (page) => {
  const order = [2, 0, 3, 1]; // the new sentence's i-th word was word order[i]
  const words = ['red', 'green', 'blue', 'white'];
  const shuffled = order.map((i) => words[i]).join(' ');
  const maps = async (positions) => {
    await set(page, { text: words.join(' '), positions, mask: 'none', source: 'random' });
    const plain = await tensors(page);
    await set(page, { text: shuffled });
    const moved = await tensors(page);
    let most = 0;
    for (let at = 0; at < 4 * 16; at++) {
      const [head, row, col] = [at >> 4, (at >> 2) & 3, at & 3];
      const before = weightOf(plain, head, order[row], order[col]);
      most = Math.max(most, Math.abs(weightOf(moved, head, row, col) - before));
    }
    let output = 0;
    moved.output.forEach((value, at) => {
      const from = order[Math.floor(at / dModel)] * dModel + (at % dModel);
      output = Math.max(output, Math.abs(value - plain.output[from]));
    });
    return { most, output };
  };
  const without = await maps('none');
  // The same products in the same order: only sums over keys may round differently.
  assert.ok(without.most < 1e-6 && without.output < 1e-5, JSON.stringify(without));
  const withPositions = await maps('sinusoidal');
  assert.ok(withPositions.most > 1e-2 && withPositions.output > 1e-2);
});

pageTest('PE(p+k) = M_k PE(p), with the residual that is shown', {}, async (page) => {
  await visit(page, 'positions');
  for (const k of [0, 1, 37, 128]) {
    await page.locator('#shift').fill(String(k));
    await settle(page);
    const { frame } = await snapshot(page);
    const { blocks, shifted, residual } = frame.shift;
    let most = 0;
    for (let p = 0; p < frame.encoding.length; p++) {
      for (let pair = 0; pair < dModel / 2; pair++) {
        const at = p * dModel + 2 * pair;
        const [a, b, c, d] = blocks.slice(4 * pair, 4 * pair + 4);
        const [sine, cosine] = frame.encoding.data.slice(at, at + 2);
        assert.ok(Math.abs(shifted[at] - positional(p + k, 2 * pair)) <= 1.2e-7);
        most = Math.max(most, Math.abs(shifted[at] - a * sine - b * cosine));
        most = Math.max(most, Math.abs(shifted[at + 1] - c * sine - d * cosine));
      }
    }
    assert.ok(Math.abs(most - residual) < 1e-15);
    // Every entry is rounded once: three roundings to half of 2^-24, two of them times at most sqrt 2.
    assert.ok(residual <= 4 * 2 ** -24, `residual ${residual}`);
    const shown = readNumber(await page.textContent('qkv-shift .residual strong'));
    assert.ok(Math.abs(shown - residual) <= 0.06 * residual);
  }
});

pageTest('empty and very long texts are told, never silent', {}, async (page) => {
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
