// @run full, or after changes in web/src/features/row web/src/ui
// The panel that follows one row, in Chromium: its numbers against the formula, and its hands.
import assert from 'node:assert/strict';
import { addressed, readNumber, settle, snapshot, useSite, visit } from './support/page.js';

const { pageTest } = useSite();

/** Every step of one row in float64. `masked` are the keys left out. */
function exact({ q, k, v }, query, { scale = 1 / Math.sqrt(2), masked = [] } = {}) {
  const pairs = (row) =>
    Array.from({ length: row.length / 2 }, (_, j) => row.slice(2 * j, 2 * j + 2));
  const [a, b] = pairs(q)[query];
  const product = pairs(k).map(([x, y]) => a * x + b * y);
  const scaled = product.map((p) => scale * p);
  const allowed = scaled.map((s, j) => (masked.includes(j) ? -Infinity : s));
  const most = Math.max(...allowed);
  const exp = allowed.map((s) => Math.exp(s - most));
  const sum = exp.reduce((x, y) => x + y);
  const weight = exp.map((e) => e / sum);
  const output = [0, 1].map((d) => weight.reduce((o, w, j) => o + w * pairs(v)[j][d], 0));
  return { product, scaled, exp, weight, output };
}

const example = {
  q: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
  k: [0.7, 0.8, 0.9, 1, 1.1, 1.2],
  v: [1.3, 1.4, 1.5, 1.6, 1.7, 1.8],
};

const cells = async (page, step) => {
  const texts = await page.locator(`[data-cell=${step}] b`).allTextContents();
  return texts.map((text) => (text === 'NaN' ? NaN : readNumber(text)));
};

const outputOf = async (page) =>
  (await page.textContent('.cell.output')).match(/[−\d.]+|NaN/g).map(readNumber);

async function agrees(page, wanted) {
  await settle(page);
  for (const step of ['product', 'scaled', 'exp', 'weight']) {
    const got = await cells(page, step);
    assert.equal(got.length, wanted[step].length);
    got.forEach((value, j) => {
      assert.ok(Math.abs(value - wanted[step][j]) <= 5.1e-5, `${step} ${j}: ${value}`);
    });
  }
  (await outputOf(page)).forEach((o, d) => {
    assert.ok(
      Math.abs(o - wanted.output[d]) <= 5.1e-5,
      `output ${d}: ${o}, not ${wanted.output[d]}`,
    );
  });
}

pageTest('row: begins with the worked example, and the right numbers', {}, async (page) => {
  await visit(page, 'row');
  await agrees(page, exact(example, 0));
  assert.deepEqual(await cells(page, 'product'), [0.23, 0.29, 0.35]);
  assert.deepEqual(await cells(page, 'weight'), [0.3193, 0.3331, 0.3476]);
  assert.deepEqual(await outputOf(page), [1.5057, 1.6057]);
  assert.match(await page.textContent('.row-note'), /worked example/);
  const { row } = (await snapshot(page)).frame;
  assert.ok(row.error > 0 && row.error < 1e-6);
  assert.equal(await page.textContent('.row-formula [data-live=width]'), '2');
  assert.equal(await page.locator('qkv-panel-row .row-formula math:visible msqrt').count(), 1);
  const bar = (step) =>
    page.$$eval(`[data-cell=${step}] i`, (all) => all.map((i) => parseFloat(i.style.width)));
  (await bar('weight')).forEach((width, j) => {
    assert.ok(Math.abs(width - [31.93, 33.31, 34.76][j]) < 0.01, `a full bar is 1: ${width} %`);
  });
  assert.match(await page.textContent('[data-track=weight]'), /0 to 1$/);
  assert.match(await page.textContent('[data-track=product]'), /0 to 0\.35$/);
  for (const query of [1, 2]) {
    await page.locator('.queries label').nth(query).click();
    await agrees(page, exact(example, query));
  }
});

pageTest('row: every number can be typed, dragged and left out', {}, async (page) => {
  await visit(page, 'row');
  const numbers = structuredClone(example);
  const box = (of, at) => page.locator(`input[data-of=${of}][data-at="${at}"]`);
  await box('q', 1).fill('-1.5');
  await box('q', 1).press('Enter');
  numbers.q[1] = -1.5;
  await agrees(page, exact(numbers, 0));
  assert.match(await page.textContent('.row-note'), /your numbers/);
  await box('v', 4).fill('10');
  await box('v', 4).press('Tab');
  numbers.v[4] = 10;
  await agrees(page, exact(numbers, 0));
  const at = await box('k', 0).boundingBox();
  await page.mouse.move(at.x + 10, at.y + 10);
  await page.mouse.down();
  await page.mouse.move(at.x + 10 + 60, at.y + 12, { steps: 4 });
  await page.mouse.up();
  numbers.k[0] = 0.7 + 10 * 0.1;
  await agrees(page, exact(numbers, 0));
  await page.locator('input[data-key="1"]').uncheck();
  await agrees(page, exact(numbers, 0, { masked: [1] }));
  assert.equal((await cells(page, 'weight'))[1], 0);
  await page.click('.more-keys');
  numbers.q.push(0.5, 0.6);
  numbers.k.push(1.1, 1.2);
  numbers.v.push(10, 1.8);
  await agrees(page, exact(numbers, 0, { masked: [1] }));
  await page.locator('#row-scale').fill('3');
  await page.locator('#row-scale').press('Enter');
  await agrees(page, exact(numbers, 0, { masked: [1], scale: 3 }));
  await addressed(page, 'rs=3');
  await page.reload();
  await visit(page, 'row');
  await agrees(page, exact(numbers, 0, { masked: [1], scale: 3 }));
  await page.click('.reset');
  await agrees(page, exact(example, 0));
});

pageTest(
  'row: its formula is set in the font that ships, whose roots and brackets grow',
  {},
  async (page) => {
    await visit(page, 'row');
    const formula = page.locator('qkv-panel-row .row-formula math:visible');
    const found = await formula.evaluate(async (math) => {
      await document.fonts.ready;
      const size = (name) => math.querySelector(name).getBoundingClientRect();
      const { width } = size('msqrt');
      const em = parseFloat(getComputedStyle(math).fontSize);
      return {
        fonts: [...document.fonts].map(
          ({ family, status }) => `${family.replaceAll('"', '')} ${status}`,
        ),
        root: (width - size('msqrt > *').width) / em,
        bracket: size('mo[fence]').height / em,
      };
    });
    assert.deepEqual(found.fonts, ['STIX Two Math loaded']);
    assert.ok(found.root > 0.3 && found.bracket > 2, JSON.stringify(found));
  },
);

pageTest('row: without the maximum it breaks, and the core does not', {}, async (page) => {
  await visit(page, 'row');
  await page.click('.break');
  await settle(page);
  const wanted = exact(example, 0, { scale: 400 });
  const formula = page.locator('qkv-panel-row .row-formula math:visible');
  assert.equal(await formula.count(), 1);
  assert.equal(await formula.locator('msqrt').count(), 0, 'nothing is divided by the root of d');
  assert.equal(await formula.locator('[data-live=scale]').textContent(), '400.0000');
  assert.ok((await cells(page, 'weight')).some(Number.isNaN));
  assert.ok((await outputOf(page)).some(Number.isNaN));
  const magenta = await page.evaluate(() => {
    const bar = document.querySelector('[data-cell=weight].not-a-number i');
    return getComputedStyle(bar).backgroundColor;
  });
  assert.equal(magenta, 'rgb(255, 0, 255)');
  (await cells(page, 'core')).forEach((w, j) => assert.ok(Math.abs(w - wanted.weight[j]) < 6e-5));
  await page.check('#row-max');
  await settle(page);
  await agrees(page, wanted);
});
