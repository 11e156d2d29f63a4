// The page in Chromium: its numbers against the formula, then its pixels against its numbers.
import assert from 'node:assert/strict';
import { colourOf, dModel, layer, numHeads, positional } from './page-oracle.js';
import * as support from './page-support.js';

const { pixelsAt, meanEntropies, nextFrame, readNumber } = support;
const { set, settle, snapshot, layerOf, weightOf } = support;
const ENGLISH = support.examples.en;
const CHINESE = support.examples.zh;
const { pageTest } = support.useSite();

/** Largest excess of |got - exact| over its bound; negative when all is within. */
function excess(got, exact, bounds) {
  assert.equal(got.length, exact.length);
  return got.reduce((most, value, i) => {
    return Math.max(most, Math.abs(value - exact[i]) - bounds[i]);
  }, -Infinity);
}

// ---- numbers ----

pageTest('comes alive with the example, its weights and their provenance', {}, async (page) => {
  const { frame, tokens, engine } = await snapshot(page);
  assert.equal(engine.kind, 'ready');
  assert.deepEqual(tokens, [...ENGLISH.match(/\w+|\./g)]);
  assert.match(frame.info.isa, /^wasm/);
  assert.match(await page.textContent('.badge'), /random weights, seed 7/);
  assert.ok(frame.timing.median > 0 && frame.timing.samples >= 3);
  assert.equal(await page.locator('.chip').count(), tokens.length);
  const build = await page.textContent('[data-reading=build]');
  assert.ok(build.includes(frame.info.variant) && build.includes(frame.info.version));
});

pageTest('weights and entropies equal the formula in float64', {}, async (page) => {
  const text = `${ENGLISH} ${CHINESE}`;
  for (const causal of [true, false]) {
    for (const temperature of [0.05, 1, 20]) {
      await set(page, { text, causal, temperature });
      const { frame } = await snapshot(page);
      const exact = layer(layerOf(frame));
      assert.ok(excess(frame.weights, exact.weights, exact.bounds) <= 0);
      // The bound is for the worst case, yet narrow enough to see a temperature off by one percent,
      const wrong = layer({ ...layerOf(frame), temperature: temperature * 1.01 });
      assert.ok(excess(frame.weights, wrong.weights, exact.bounds) > 0);
      // and as roundings mostly cancel, what is measured stays far inside it.
      assert.ok(
        frame.check.weights > 0 && frame.check.weights < 1e-6 * Math.max(1, 1 / temperature),
      );
      const most = frame.entropy.map((h, i) => Math.abs(h - exact.entropy[i]));
      assert.ok(Math.max(...most) < 1e-5 * Math.max(1, 1 / temperature));
      const largest = frame.weights.map((w, i) => Math.abs(w - exact.weights[i]));
      assert.ok(Math.abs(Math.max(...largest) - frame.check.weights) < 1e-12, 'its own check');
      const shown = readNumber(await page.textContent('[data-reading=error] .value'));
      assert.ok(Math.abs(shown / frame.check.weights - 1) < 0.06, 'the number on the page');
    }
  }
});

pageTest('rows sum to 1 and the future weighs exactly 0', {}, async (page) => {
  for (const causal of [true, false]) {
    await set(page, { causal });
    const { frame } = await snapshot(page);
    const count = frame.request.tokens.length;
    let future = 0;
    for (let head = 0; head < numHeads; head++) {
      for (let row = 0; row < count; row++) {
        const weights = Array.from({ length: count }, (_, col) => weightOf(frame, head, row, col));
        const sum = weights.reduce((a, b) => a + b);
        assert.ok(Math.abs(sum - 1) < (count + 8) * 2 ** -23, `row ${row}: ${sum}`);
        future += weights.slice(row + 1).filter((weight) => weight !== 0).length;
      }
    }
    assert.equal(future, causal ? 0 : (numHeads * count * (count - 1)) / 2);
  }
});

pageTest('x is a seeded embedding plus the encoding of the paper', {}, async (page) => {
  await set(page, { text: 'one two one' });
  const { frame } = await snapshot(page);
  const withPositions = frame.x;
  for (let p = 0; p < frame.encoding.length; p++) {
    for (let c = 0; c < dModel; c++) {
      const got = frame.encoding.data[p * dModel + c];
      assert.ok(Math.abs(got - positional(p, c)) <= 1.2e-7, `PE(${p}, ${c})`);
    }
  }
  await set(page, { positions: false });
  const { x } = (await snapshot(page)).frame;
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
  assert.notDeepEqual((await snapshot(page)).frame.x, x);
  await set(page, { seed: 7 });
  assert.deepEqual((await snapshot(page)).frame.x, x);
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
  const sizes = [first, english, chinese].map(({ frame }) => frame.weights.length);
  assert.deepEqual(
    sizes,
    [first, english, chinese].map(({ tokens }) => numHeads * tokens.length ** 2),
  );
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

pageTest('temperature raises the entropy of every head', {}, async (page) => {
  const box = page.locator('#temperature-number');
  let before = new Array(numHeads).fill(-1);
  for (const temperature of [0.05, 0.2, 0.5, 1, 2, 5, 20]) {
    await box.fill(String(temperature));
    await box.press('Enter');
    await settle(page);
    const { frame, state } = await snapshot(page);
    assert.equal(state.temperature, temperature);
    const entropies = meanEntropies(frame);
    entropies.forEach((h, head) => assert.ok(h > before[head], `head ${head} at ${temperature}`));
    before = entropies;
    const spoken = await page.getAttribute('#temperature', 'aria-valuetext');
    assert.ok(
      spoken.includes(`temperature ${temperature}, mean entropy ${entropies[0].toPrecision(3)}`),
    );
  }
  await box.fill('1000');
  await box.press('Enter');
  await settle(page);
  assert.equal((await snapshot(page)).state.temperature, 20);
  await page.press('#temperature', 'ArrowLeft');
  await settle(page);
  assert.ok((await snapshot(page)).state.temperature < 20);
});

pageTest('only what depends on a change is computed again', {}, async (page) => {
  const ran = async (patch) => {
    await set(page, patch);
    return (await snapshot(page)).frame.ran;
  };
  assert.deepEqual(await ran({ temperature: 2 }), ['forward', 'check']);
  assert.deepEqual(await ran({ shift: 9 }), ['shift']);
  assert.deepEqual(await ran({ seed: 3 }), [
    'embedding',
    'positions',
    'projections',
    'forward',
    'scores',
    'check',
  ]);
});

pageTest('without positions and mask, shuffled words shuffle the map', {}, async (page) => {
  const order = [2, 0, 3, 1]; // the new sentence's i-th word was word order[i]
  const words = ['red', 'green', 'blue', 'white'];
  const shuffled = order.map((i) => words[i]).join(' ');
  const maps = async (positions) => {
    await set(page, { text: words.join(' '), positions, causal: false });
    const plain = (await snapshot(page)).frame;
    await set(page, { text: shuffled });
    const moved = (await snapshot(page)).frame;
    let most = 0;
    for (let at = 0; at < moved.weights.length; at++) {
      const [head, row, col] = [at >> 4, (at >> 2) & 3, at & 3];
      const before = weightOf(plain, head, order[row], order[col]);
      most = Math.max(most, Math.abs(moved.weights[at] - before));
    }
    let output = 0;
    moved.output.forEach((value, at) => {
      const from = order[Math.floor(at / dModel)] * dModel + (at % dModel);
      output = Math.max(output, Math.abs(value - plain.output[from]));
    });
    return { most, output };
  };
  const without = await maps(false);
  // The same products in the same order: only sums over keys may round differently.
  assert.ok(without.most < 1e-6 && without.output < 1e-5, JSON.stringify(without));
  const withPositions = await maps(true);
  assert.ok(withPositions.most > 1e-2 && withPositions.output > 1e-2);
});

pageTest('PE(p+k) = M_k PE(p), with the residual that is shown', {}, async (page) => {
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
  assert.ok(!(await page.isVisible('qkv-map qkv-matrix')));
  await page.click('.example');
  await settle(page);
  assert.equal((await snapshot(page)).state.text, ENGLISH);
  assert.ok(await page.isVisible('qkv-map qkv-matrix'));
  await page.fill('#text', 'a '.repeat(300));
  await settle(page);
  assert.equal((await snapshot(page)).tokens.length, 256);
  assert.match(await page.textContent('#text-note'), /300 tokens.*first 256/);
  await page.fill('#text', 'x'.repeat(2500));
  await settle(page);
  assert.match(await page.textContent('#text-note'), /first 2000 characters/);
  await page.fill('#text', 'short again');
  await settle(page);
  assert.ok(!(await page.isVisible('#text-note')));
});

// ---- pixels ----

pageTest('every cell has the colour of its weight', {}, async (page) => {
  for (const [head, scale] of [
    [0, 'linear'],
    [2, 'sqrt'],
    [3, 'log'],
  ]) {
    await set(page, { head, scale });
    const { frame } = await snapshot(page);
    const count = frame.request.tokens.length;
    const cells = [];
    for (let row = 0; row < count; row++) {
      for (let col = 0; col <= row; col++) cells.push({ row, col });
    }
    const pixels = (await pixelsAt(page, 'qkv-map', cells)).flat();
    cells.forEach(({ row, col }, i) => {
      const wanted = colourOf(weightOf(frame, head, row, col), scale);
      const off = pixels[i].map((value, c) => Math.abs(value - wanted[c]));
      assert.ok(Math.max(...off) <= 1, `${scale} ${row},${col}: ${pixels[i]} is not ${wanted}`);
    });
    const distinct = new Set(pixels.map(String));
    assert.ok(distinct.size > 10, 'a picture of one colour proves nothing');
  }
});

pageTest('masked cells are hatched, and not with colours of the map', {}, async (page) => {
  const [area] = await pixelsAt(page, 'qkv-map', [{ row: 1, col: 8 }], 20);
  const colours = [...new Set(area.map(String))];
  assert.equal(colours.length, 2, 'the surface and the strokes');
  const ramp = Array.from({ length: 256 }, (_, i) => colourOf(i / 255, 'linear'));
  for (const colour of colours) {
    const rgb = colour.split(',').map(Number);
    const nearest = ramp.map((r) => Math.max(...r.map((value, c) => Math.abs(value - rgb[c]))));
    assert.ok(Math.min(...nearest) > 20);
  }
});
