// What can be taken away from the page, in Chromium: files, links, code to embed; and arcs.
import assert from 'node:assert/strict';
import { exampleSaid } from './support/texts.js';
import { csvOf, take, takeAll } from './support/panel.js';
import * as support from './support/page.js';

const { nextFrame, set, settle, snapshot, tensors, useSite, visit, weightOf } = support;
const { pageTest } = useSite();

pageTest('page: every panel can be taken away in every format', {}, async (page) => {
  // What can be taken away of recurrence comes with a press: recurrence.test.js takes it.
  for (const id of support.panels.filter((name) => !['use', 'recurrence'].includes(name))) {
    await visit(page, id);
    await takeAll(page, id);
  }
});

pageTest('page: the files of the map hold its numbers under its labels', {}, async (page) => {
  await set(page, { text: 'b, "a" <c>', source: 'random', mask: 'none', show: 'weights' });
  const all = await tensors(page);
  const { tokens } = all.request.layer;
  const text = (await take(page, 'map', 'csv')).toString();
  assert.ok(text.includes('"""'), 'quotes are doubled');
  const svg = (await take(page, 'map', 'svg')).toString();
  assert.equal(svg.match(/<rect x=/g).length, tokens.length ** 2, 'a vector for every cell');
  assert.ok(svg.includes('&lt;'));
  await set(page, { text: 'one two three' });
  const plain = csvOf(await take(page, 'map', 'csv'));
  const numbers = await tensors(page);
  assert.deepEqual(plain[0], ['', 'one', 'two', 'three']);
  for (let row = 0; row < 3; row++) {
    for (let col = 0; col < 3; col++) {
      assert.equal(Number(plain[row + 1][col + 1]), weightOf(numbers, 0, row, col));
    }
  }
  const json = JSON.parse((await take(page, 'map', 'json')).toString());
  assert.deepEqual(json.heads[0].weights, numbers.heads[0].weights);
});

pageTest('page: links and code to embed lead to the panel', {}, async (page) => {
  await set(page, { source: 'random', seed: 11 });
  await page.click('#map .menu summary');
  await page.click('#map [data-do=link]');
  await page.waitForFunction(() => document.querySelector('#map .menu [role=status]').textContent);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.endsWith(`#v=1&lang=en&p=map&${exampleSaid()}&src=random&seed=11`), link);
  await page.click('#map [data-do=embed]');
  await page.waitForFunction(
    async (before) => (await navigator.clipboard.readText()) !== before,
    link,
  );
  const code = await page.evaluate(() => navigator.clipboard.readText());
  assert.match(
    code,
    /^<iframe src="[^"]*\?embed=map#v=1&amp;lang=en&amp;x=The\+cat[^&]*&amp;src=random&amp;seed=11" title="Which token attends to which"/,
  );
  assert.match(code, / loading="lazy" allow="clipboard-write"><\/iframe>$/);
});

pageTest(
  'page: arcs carry 70 % of every row, and no key more than that takes',
  {},
  async (page) => {
    await set(page, { source: 'random', look: 'arcs', mask: 'none' });
    const all = await tensors(page);
    const count = all.request.layer.tokens.length;
    let wanted = 0;
    for (let row = 0; row < count; row++) {
      const weights = all.heads[0].weights.slice(row * count, (row + 1) * count);
      let carried = 0;
      for (const weight of weights.sort((x, y) => y - x)) {
        if (carried >= 0.7) break;
        carried += weight;
        wanted++;
      }
    }
    assert.equal(await page.locator('.arc').count(), wanted);
    assert.ok(!(await page.isVisible('qkv-picture qkv-matrix')));
    await page.locator('.arc-query', { hasText: /^mat$/ }).click();
    await settle(page);
    const { query, tokens } = await snapshot(page);
    assert.equal(tokens[query], 'mat');
    assert.match(
      await page.getAttribute('.arcs-stage', 'aria-valuetext'),
      /Query “mat” attends to: /,
    );
    await set(page, { length: 300 });
    assert.match(await page.textContent('.arcs-note'), /more than 64 tokens/);
    assert.ok((await page.locator('.arc').count()) > 0);
    await set(page, { look: 'map' });
    await nextFrame(page);
    assert.ok(await page.isVisible('qkv-picture qkv-matrix'));
  },
);

pageTest('page: heads can be sorted by what they do', {}, async (page) => {
  const order = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.head:not([hidden]) input')].map((i) => +i.value),
    );
  assert.deepEqual(await order(), [0, 1, 2, 3, 4, 5]);
  const { heads } = await tensors(page);
  const count = heads[0].entropy.length;
  const mean = (of) => {
    const rows = Array.from({ length: count }, (_, row) => row);
    return heads.map(({ weights, entropy }) =>
      rows.reduce((s, r) => s + of(weights, entropy, r), 0),
    );
  };
  const keys = Array.from({ length: count }, (_, j) => j);
  const measures = {
    entropy: mean((_w, entropy, row) => entropy[row]),
    distance: mean((w, _e, row) =>
      keys.reduce((s, j) => s + w[row * count + j] * Math.abs(row - j), 0),
    ),
    first: mean((w, _e, row) => w[row * count]),
  };
  for (const [name, values] of Object.entries(measures)) {
    await page.selectOption('#sort', name);
    await settle(page);
    const sorted = (await order()).map((head) => values[head]);
    assert.deepEqual(
      sorted,
      [...sorted].sort((a, b) => a - b),
      name,
    );
  }
});
